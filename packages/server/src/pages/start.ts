import type { FastifyInstance } from 'fastify';
import { html, type Html } from '../html/html.ts';
import { asksForHtml, languageOf } from '../http/send-error.ts';
import type { Language } from '../languages.ts';
import { hostedPage, setPageHeaders } from './page.ts';
import type { PageSettings } from './page-settings.ts';

/** The texts of the start page, which says what this service is and links to its documentation. */
interface Texts {
  readonly title: string;
  readonly text: string;
  readonly console: string;
  readonly explorer: string;
  readonly docs: string;
  readonly apiDocs: string;
  readonly health: string;
}

const texts: Record<Language, Texts> = {
  en: {
    title: 'Access management',
    text: 'This service manages who can do what in the apps that use it. To sign in, open one of these apps.',
    console: 'Console',
    explorer: 'GraphQL explorer',
    docs: 'Documentation',
    apiDocs: 'API documentation',
    health: 'Service status',
  },
  de: {
    title: 'Zugriffsverwaltung',
    text: 'Dieser Dienst verwaltet, wer in den angeschlossenen Apps was tun darf. Um sich anzumelden, öffnen Sie eine dieser Apps.',
    console: 'Konsole',
    explorer: 'GraphQL-Explorer',
    docs: 'Dokumentation',
    apiDocs: 'API-Dokumentation',
    health: 'Dienststatus',
  },
  es: {
    title: 'Gestión de accesos',
    text: 'Este servicio gestiona quién puede hacer qué en las aplicaciones que lo usan. Para iniciar sesión, abra una de ellas.',
    console: 'Consola',
    explorer: 'Explorador de GraphQL',
    docs: 'Documentación',
    apiDocs: 'Documentación de la API',
    health: 'Estado del servicio',
  },
  fr: {
    title: 'Gestion des accès',
    text: 'Ce service gère qui peut faire quoi dans les applications qui l’utilisent. Pour vous connecter, ouvrez l’une d’elles.',
    console: 'Console',
    explorer: 'Explorateur GraphQL',
    docs: 'Documentation',
    apiDocs: 'Documentation de l’API',
    health: 'État du service',
  },
};

function page(language: Language, { serves }: PageSettings): Html {
  const { title, text, console, explorer, docs, apiDocs, health } = texts[language];
  const link = (address: string, name: string) =>
    html`<li><a class="button plain" href="${address}">${name}</a></li>`;
  const body = html`<h1>${title}</h1>
    <p>${text}</p>
    <ul class="links">
      ${serves.console && link('/console', console)} ${serves.docs && link('/docs/', docs)}
      ${serves.apiDocs && link('/api-docs', apiDocs)} ${serves.explorer && link('/graphql', explorer)}
      ${link('/health', health)}
    </ul>`;
  return hostedPage({ language, title, body });
}

/** Serves `/` to browsers. Any request that does not ask for HTML gets 404. */
export function registerStartPage(app: FastifyInstance, options: PageSettings): void {
  app.get('/', (request, reply) => {
    if (!asksForHtml(request)) return reply.callNotFound();
    const language = languageOf(request);
    return setPageHeaders(reply, language)
      .header('vary', 'Accept, Accept-Language, Origin')
      .send(page(language, options).toString());
  });
}
