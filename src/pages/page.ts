import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { escapeHtml } from '../events/mail-layout.ts';
import type { Language } from '../i18n/translate.ts';
import { sendText } from '../transport/compression.ts';
import { brandIcon, pageHeaders, withHeaders } from '../transport/docs-page.ts';
import { languageOf } from '../transport/send-error.ts';
import { stylesheet } from './stylesheet.ts';

/** What the hosted pages have in common: their frame, their look and their policy. Nothing is inline. */
export const pagePolicy = ({
  script = false,
  formAction = "'none'",
  images = [],
}: {
  readonly script?: boolean;
  readonly formAction?: string;
  readonly images?: readonly string[];
} = {}): string =>
  [
    "default-src 'none'",
    ...(script ? ["script-src 'self'", "connect-src 'self'"] : []),
    "style-src 'self'",
    ['img-src data:', ...images].join(' '),
    "base-uri 'none'",
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
  ].join('; ');

const ownBrand = `<p class="brand"><img src="${brandIcon}" alt="" width="26" height="26">Doorward</p>`;

/** `body` and `brand` are HTML; `title` is text. Script and styles are files of our own. */
export const hostedPage = (options: {
  readonly language: Language;
  readonly title: string;
  readonly body: string;
  readonly script?: string;
  /** In whose name the page speaks; ours by default. */
  readonly brand?: string;
  /** A style beside the one that all share. */
  readonly style?: string | undefined;
}): string => `<!doctype html>
<html lang="${options.language}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <title>${escapeHtml(options.title)} · Doorward</title>
    <link rel="icon" href="${brandIcon}">
    <link rel="stylesheet" href="/hosted/page.css">${
      options.style === undefined ? '' : `\n    <link rel="stylesheet" href="${options.style}">`
    }
  </head>
  <body>
    <main class="card">
      ${options.brand ?? ownBrand}
${options.body}
    </main>
    ${options.script === undefined ? '' : `<script src="${options.script}"></script>`}
  </body>
</html>
`;

/** A page with a form: `formAction` says where its policy lets the form lead, redirects included. */
export interface PageWithForm {
  readonly html: string;
  readonly formAction: string;
  /** From where else its policy lets it show pictures. */
  readonly images?: readonly string[];
}

/** A page, or the address of the one that is to be seen instead. */
export type Page = string | PageWithForm | { readonly instead: string };

/** Serves a page at `path` in the language of the browser, and its script, if it has one, at `path` with `.js`. */
export function servePage(
  app: FastifyInstance,
  options: {
    readonly path: string;
    readonly page: (language: Language, request: FastifyRequest) => Page | Promise<Page>;
    readonly script?: string;
  },
): void {
  app.get(options.path, { config: { forBrowsers: true } }, async (request, reply) => {
    const language = languageOf(request);
    const page = await options.page(language, request);
    if (typeof page === 'object' && 'instead' in page) return reply.redirect(page.instead, 303);
    const { html, ...allowed } = typeof page === 'string' ? { html: page } : page;
    const policy = pagePolicy({ script: options.script !== undefined, ...allowed });
    return (
      asPage(reply, language, policy)
        // Without a referrer a browser would call the origin of a posted form "null".
        .headers(typeof page === 'string' ? {} : { 'referrer-policy': 'same-origin' })
        .send(html)
    );
  });
  if (options.script !== undefined) serveFile(app, `${options.path}.js`, 'text/javascript', options.script);
}

/** The headers of every page. */
export const asPage = (reply: FastifyReply, language: Language, policy = pagePolicy()): FastifyReply =>
  reply
    .headers({ ...pageHeaders(policy, 'no-store'), vary: 'Accept-Language' })
    // Whoever opened it, or is opened by it, gets no hold of its window.
    .header('cross-origin-opener-policy', 'same-origin')
    .header('content-language', language)
    .type('text/html; charset=utf-8');

/** Serves the style of the hosted pages. */
export const serveStylesheet = (app: FastifyInstance): void =>
  serveFile(app, '/hosted/page.css', 'text/css', stylesheet);

function serveFile(app: FastifyInstance, path: string, type: string, text: string): void {
  withHeaders(app, pageHeaders(pagePolicy(), 'no-cache'), (scope) => {
    scope.get(path, (request, reply) => sendText(request, reply, `${type}; charset=utf-8`, text));
  });
}
