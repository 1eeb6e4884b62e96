import type { Steps } from './repository-copy.ts';

/* Recipes of CONTRIBUTING.md for pages and mails, as edits. */

const server = 'packages/server';
const operations = `${server}/src/rights/roles/operations.ts`;
const pages = `${server}/src/pages`;
const consolePages = 'packages/console/src/pages';

/** A page of the console: its file, the list of pages, and the navigation. */
export function consolePage({ edit, create }: Steps): void {
  create(
    `${consolePages}/badges/badges.tsx`,
    `import { useTexts, type Texts } from '../../i18n/language.ts';

const texts: Texts<{ readonly title: string }> = {
  en: { title: 'Badges' },
  de: { title: 'Abzeichen' },
  es: { title: 'Insignias' },
  fr: { title: 'Badges' },
};

export default function Badges() {
  const t = useTexts(texts);
  return <h1>{t.title}</h1>;
}
`,
  );
  edit(
    `${consolePages}/pages.ts`,
    `const pages: readonly Page[] = [\n`,
    `  page(
    'badges',
    projects,
    'Role:Query',
    { en: 'Badges', de: 'Abzeichen', es: 'Insignias', fr: 'Badges' },
    () => import('./badges/badges.tsx'),
  ),
`,
  );
  edit(`${consolePages}/sections.ts`, `names: ['roles', 'groups', 'permissions', 'resources'`, `, 'badges'`);
}

/** A hosted page: its file, and its registration. */
export function hostedPage({ edit, create }: Steps): void {
  create(
    `${pages}/mailed-links/farewell.ts`,
    `import type { FastifyInstance } from 'fastify';
import { html, type Html } from '../../html/html.ts';
import type { Language } from '../../languages.ts';
import { hostedPage, servePage } from '../page.ts';

const titles: Record<Language, string> = {
  en: 'Goodbye',
  de: 'Auf Wiedersehen',
  es: 'Hasta pronto',
  fr: 'Au revoir',
};

function page(language: Language): Html {
  const title = titles[language];
  return hostedPage({ language, title, body: html\`<h1>\${title}</h1>\` });
}

/** Serves \`/hosted/farewell\`. */
export const registerFarewellPage = (app: FastifyInstance): void =>
  servePage(app, { path: '/hosted/farewell', page });
`,
  );
  const hosted = `${pages}/hosted.ts`;
  edit(
    hosted,
    `import { errorPage, notFoundPage } from './error.ts';\n`,
    `import { registerFarewellPage } from './mailed-links/farewell.ts';\n`,
  );
  edit(hosted, `  registerProjectGrantPage(app);\n`, `  registerFarewellPage(app);\n`);
}

/** A mail: its texts, and the operation that sends it. */
export function mail({ edit, create }: Steps): void {
  create(
    `${server}/src/rights/roles/archived-mail.ts`,
    `import { composeMail, withoutLinks } from '../../events/mail/mail-layout.ts';
import type { Mail } from '../../kernel/ports.ts';
import type { Language } from '../../languages.ts';

const texts: Record<Language, { readonly subject: string; readonly body: string }> = {
  en: { subject: 'A role was archived', body: 'The role {role} was archived.' },
  de: { subject: 'Eine Rolle wurde archiviert', body: 'Die Rolle {role} wurde archiviert.' },
  es: { subject: 'Se ha archivado un rol', body: 'Se ha archivado el rol {role}.' },
  fr: { subject: 'Un rôle a été archivé', body: 'Le rôle {role} a été archivé.' },
};

/** Tells who looks after a role that it was archived. */
export function roleArchivedMail(to: string, language: Language, role: string): Mail {
  const { subject, body } = texts[language];
  return composeMail({ to, language, subject, paragraphs: [body.replace('{role}', () => withoutLinks(role))] });
}
`,
  );
  edit(
    operations,
    `import { assertUnassigned } from './assigned-roles.ts';\n`,
    `import { flushMails } from '../../people/flush-mails.ts';\nimport { roleArchivedMail } from './archived-mail.ts';\n`,
  );
  edit(
    operations,
    `    const { row } = await ctx.db.update(Role, ctx.input.id, { color: 'gray' });\n`,
    `    const mail = roleArchivedMail('ada@example.com', ctx.call.language, row.name);
    await ctx.services.mail.queue(ctx.tx, mail);
    flushMails(ctx);
`,
  );
}
