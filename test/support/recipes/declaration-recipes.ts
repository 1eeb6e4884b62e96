import type { Steps } from './repository-copy.ts';

/* Recipes of CONTRIBUTING.md for declarations of the service, as edits. */

const server = 'packages/server';
const noun = `${server}/src/schema/rights/role.ts`;
const operations = `${server}/src/rights/roles/operations.ts`;
const appNoun = `${server}/src/schema/apps/project-app.ts`;
const contract = `${server}/test/contract`;
const eventTypes = `${server}/src/webhooks/event-types`;
const i18n = `${server}/src/i18n`;
const consolePages = 'packages/console/src/pages';
const table = `${server}/test/decisions/built-in-table.ts`;

/** A field: its noun file, and a migration with a name. */
export function field({ edit, migrate }: Steps): void {
  edit(noun, `description: textColumn('description'),\n`, `    color: textColumn('color'),\n`);
  edit(
    noun,
    `  fields: {\n`,
    `    color: optional(text(1, 50).nullable().meta({ description: 'Its color in lists.', examples: ['teal'] }), null),\n`,
  );
  migrate('role_color', 'ALTER TABLE "roles" ADD COLUMN "color" text;');
}

/** A field that the console shows: also the form and its texts. */
export function shownField({ edit, migrate }: Steps): void {
  const homepage = `    homepageUrl: optional(httpsUrl.nullable().describe('Web site of the app.'), null),\n`;
  const helpUrl = `    helpUrl: optional(httpsUrl.nullable().describe('Where people get help with the app.'), null),\n`;
  edit(appNoun, `    homepageUrl: textColumn('homepage_url'),\n`, `    helpUrl: textColumn('help_url'),\n`);
  edit(appNoun, homepage, helpUrl);
  edit(
    `${consolePages}/keys/apps/app-fields.ts`,
    `  profileField(t, app?.accessTokenProfile),\n`,
    `  { kind: 'url', name: 'helpUrl', label: t.help, isNullable: true, initial: app?.helpUrl ?? null },\n`,
  );
  const texts = `${consolePages}/keys/apps/app-texts.ts`;
  edit(texts, `  readonly homepage: string;\n`, `  readonly help: string;\n`);
  edit(texts, `    homepage: 'Web site',\n`, `    help: 'Help page',\n`);
  edit(texts, `    homepage: 'Website',\n`, `    help: 'Hilfeseite',\n`);
  edit(texts, `    homepage: 'Sitio web',\n`, `    help: 'Página de ayuda',\n`);
  edit(texts, `    homepage: 'Site web',\n`, `    help: 'Page d’aide',\n`);
  migrate('app_help_url', 'ALTER TABLE "project_apps" ADD COLUMN "help_url" text;');
}

/** An operation: its file, the call that compares it with the OpenAPI document, and why the console does not offer it. */
export function operation({ edit }: Steps): void {
  edit(
    operations,
    `    await assertUnassigned(tx, input.id, services.clock.now());\n    return removed;\n  },\n});\n`,
    `
export const archiveRole = mutation({
  rest: 'POST /roles/:id/archive',
  whileImpersonating: 'allowed',
  access: 'Role:Archive',
  summary: 'Archive a role',
  tenants: writable,
  input: { scope: Scope, id: uuid },
  output: Role.schema,
  target: Role,
  codes: ['SYSTEM_ENTITY', 'ROLE_ARCHIVED'],
  emits: 'role.archived',
  run: async (ctx) => {
    const { row } = await ctx.db.update(Role, ctx.input.id, { color: 'gray' });
    return row;
  },
});
`,
  );
  edit(
    `${contract}/openapi.test.ts`,
    `    await call('rotateSigningKey', { scope: owner.places.accountProject.scope }, token);\n`,
    `    const { scope: place } = owner.places.accountProject;
    const made = (await call('createRole', { scope: place, name: 'Old' }, token)).data as { id: string };
    expect((await call('archiveRole', { scope: place, id: made.id }, token)).ok).toBe(true);
`,
  );
  edit(
    'packages/console/test/source.test.ts',
    `  exchangeApiKey: 'for machines',\n`,
    `  archiveRole: 'for programs',\n`,
  );
}

/** An event: its type with an example, the operation that emits it, and a story. */
export function event({ edit, append, countFile }: Steps): void {
  const created = `  ...createUpdateDelete('role', 'A role', publicFields(Role), example.role),\n`;
  const archived = `  eventType('role.archived', 'A role was archived.', publicFields(Role), example.archivedRole),\n`;
  edit(`${eventTypes}/catalogue.ts`, created, archived);
  append(`${eventTypes}/examples.ts`, `\nexport const archivedRole = { ...role, color: 'gray' };\n`);
  // `emits` is in the operation.
  countFile(operations);
  edit(
    `${contract}/event-stories.test.ts`,
    `  const short = { scope: organization, name: 'Short' };\n`,
    `  const archived = await expectEvents('createRole', { scope, name: 'A' }, ['role.created']);
  await expectEvents('archiveRole', { scope, id: archived.id }, ['role.archived']);
`,
  );
}

/** A permission: the operation that needs it, and the table that tests compare with. */
export function permission({ edit, countFile }: Steps): void {
  countFile(operations);
  edit(table, `Role: 'Query, Create, Update, Delete`, `, Archive`);
}

/** An error code: the catalogue and its translations. */
export function errorCode({ edit }: Steps): void {
  const english = `  SYSTEM_ENTITY: { status: 403, message: 'Built-in entries cannot be changed.' },\n`;
  edit(
    `${server}/src/errors.ts`,
    english,
    `  ROLE_ARCHIVED: { status: 409, message: 'The role is archived.' },\n`,
  );
  const translated = {
    de: [
      `SYSTEM_ENTITY: 'Vordefinierte Einträge können nicht geändert werden.'`,
      'Die Rolle ist archiviert.',
    ],
    es: [`SYSTEM_ENTITY: 'Los elementos predefinidos no se pueden modificar.'`, 'El rol está archivado.'],
    fr: [`SYSTEM_ENTITY: 'Les éléments prédéfinis ne peuvent pas être modifiés.'`, 'Le rôle est archivé.'],
  } as const;
  for (const [language, [behind, message]] of Object.entries(translated))
    edit(`${i18n}/${language}.ts`, `    ${behind},\n`, `    ROLE_ARCHIVED: '${message}',\n`);
}

/** A variable: its declaration, and its place in the configuration. */
export function variable({ edit }: Steps): void {
  const variable = `  EXAMPLE_SECONDS: variable('10', integer(1, 60), 'Example of a time, 1..60'),\n`;
  edit(`${server}/src/config/variables.ts`, `  // Core\n`, variable);
  edit(
    `${server}/src/config/config.ts`,
    `    devSeed: v.DEV_SEED,\n`,
    `    exampleSeconds: v.EXAMPLE_SECONDS,\n`,
  );
}
