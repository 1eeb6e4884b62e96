import type { FastifyInstance } from 'fastify';
import { escapeHtml } from '../events/mail-layout.ts';
import type { Language } from '../i18n/translate.ts';
import { languageOf, asksForHtml } from '../transport/send-error.ts';
import { asPage, hostedPage } from './page.ts';

/** What a person sees who opens the address of the service: what it is, and where to go on. */
interface Texts {
  readonly title: string;
  readonly text: string;
  readonly explorer: string;
  readonly documentation: string;
  readonly health: string;
}

const texts: Record<Language, Texts> = {
  en: {
    title: 'Access management',
    text: 'This service decides who may do what. People sign in from the apps that use it.',
    explorer: 'GraphQL explorer',
    documentation: 'API documentation',
    health: 'Health',
  },
  de: {
    title: 'Zugriffsverwaltung',
    text: 'Dieser Dienst entscheidet, wer was tun darf. Die Anmeldung beginnt in den Apps, die ihn nutzen.',
    explorer: 'GraphQL-Explorer',
    documentation: 'API-Dokumentation',
    health: 'Zustand',
  },
  es: {
    title: 'Gestión de accesos',
    text: 'Este servicio decide quién puede hacer qué. El inicio de sesión comienza en las aplicaciones que lo usan.',
    explorer: 'Explorador de GraphQL',
    documentation: 'Documentación de la API',
    health: 'Estado',
  },
  fr: {
    title: 'Gestion des accès',
    text: "Ce service décide qui peut faire quoi. La connexion commence dans les applications qui l'utilisent.",
    explorer: 'Explorateur GraphQL',
    documentation: "Documentation de l'API",
    health: 'État',
  },
};

export interface StartPageOptions {
  /** Whether these are served, so that nothing leads nowhere. */
  readonly serves: { readonly explorer: boolean; readonly documentation: boolean };
}

function page(language: Language, { serves }: StartPageOptions): string {
  const { title, text, ...names } = texts[language];
  const links = [
    ...(serves.documentation ? [['/api-docs', names.documentation]] : []),
    ...(serves.explorer ? [['/graphql', names.explorer]] : []),
    ['/health', names.health],
  ].map(
    ([href = '', name = '']) =>
      `        <li><a class="button plain" href="${href}">${escapeHtml(name)}</a></li>`,
  );
  const body = `      <h1>${escapeHtml(title)}</h1>
      <p>${escapeHtml(text)}</p>
      <ul class="links">
${links.join('\n')}
      </ul>`;
  return hostedPage({ language, title, body });
}

/** Serves `/` to browsers; for a program there is nothing. */
export function registerStartPage(app: FastifyInstance, options: StartPageOptions): void {
  app.get('/', (request, reply) => {
    if (!asksForHtml(request)) return reply.callNotFound();
    const language = languageOf(request);
    return asPage(reply, language)
      .header('vary', 'Accept, Accept-Language, Origin')
      .send(page(language, options));
  });
}
