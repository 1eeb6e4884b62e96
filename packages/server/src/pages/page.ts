import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { brandIcon } from '../html/brand-icon.ts';
import { html, Html } from '../html/html.ts';
import { pageHeaders, withHeaders } from '../html/page-headers.ts';
import { sendText } from '../http/body/compression.ts';
import { languageOf } from '../http/send-error.ts';
import type { Language } from '../languages.ts';
import { stylesheet } from './stylesheet.ts';

/**
 * Returns the content security policy of a hosted page. By default it allows nothing inline and nothing from other
 * sites.
 */
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

const ownBrand = html`<p class="brand"><img src="${brandIcon}" alt="" width="26" height="26" />Doorward</p>`;

/** Makes the document of a hosted page around `body`. Scripts and style sheets are files of this service. */
export const hostedPage = (options: {
  readonly language: Language;
  readonly title: string;
  /** Null: the title does not end with the name of the service. */
  readonly site?: null;
  readonly body: Html;
  readonly script?: string;
  /** The name and picture at the top; by default those of Doorward. */
  readonly brand?: Html;
  /** Whether the page is wide enough for lists. */
  readonly isWide?: boolean;
  /** The address of an additional style sheet. */
  readonly style?: string | undefined;
}): Html =>
  html`<!doctype html>
    <html lang="${options.language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${options.title}${options.site !== null && ' · Doorward'}</title>
        <link rel="icon" href="${brandIcon}" />
        <link rel="stylesheet" href="/hosted/page.css" />
        ${options.style !== undefined && html`<link rel="stylesheet" href="${options.style}" />`}
      </head>
      <body>
        <main class="card${options.isWide && ' wide'}">${options.brand ?? ownBrand} ${options.body}</main>
        ${options.script !== undefined && html`<script src="${options.script}"></script>`}
      </body>
    </html> `;

/** A page with a form, and the sources that its policy allows in addition. */
export interface PageWithForm {
  readonly html: Html;
  /** The sources that `form-action` allows: the targets of the form and of the redirects that follow. */
  readonly formAction: string;
  /** The language of the page, if it is not that of the browser. */
  readonly language?: Language;
  /** The sources from which the page may load pictures. */
  readonly images?: readonly string[];
  /** Whether the page has a script. Default: whether `servePage` serves a script for its path. */
  readonly script?: boolean;
}

/** The response of `servePage`: a page, or a redirect to the address of another page. */
export type Page = Html | PageWithForm | { readonly redirectTo: string };

/** Serves a page at `path` in the language of the browser, and its script, if any, at `path` with `.js` appended. */
export function servePage(
  app: FastifyInstance,
  options: {
    readonly path: string;
    readonly page: (language: Language, request: FastifyRequest, reply: FastifyReply) => Page | Promise<Page>;
    readonly script?: string;
  },
): void {
  app.get(options.path, { config: { forBrowsers: true } }, async (request, reply) => {
    const language = languageOf(request);
    const page = await options.page(language, request, reply);
    if ('redirectTo' in page) return reply.redirect(page.redirectTo, 303);
    const hasForm = !(page instanceof Html);
    const { html: document, language: _, ...allowed } = hasForm ? page : { html: page, language };
    const policy = pagePolicy({ script: options.script !== undefined, ...allowed });
    return (
      setPageHeaders(reply, (hasForm && page.language) || language, policy)
        // Without a referrer, browsers would send "null" as the origin of a posted form.
        .headers(hasForm ? { 'referrer-policy': 'same-origin' } : {})
        .send(document.toString())
    );
  });
  if (options.script !== undefined) serveFile(app, `${options.path}.js`, 'text/javascript', options.script);
}

/** Sets the headers that every page has. */
export const setPageHeaders = (
  reply: FastifyReply,
  language: Language,
  policy = pagePolicy(),
): FastifyReply =>
  reply
    .headers({ ...pageHeaders(policy, 'no-store'), vary: 'Accept-Language' })
    // A site that opens this page, or that this page opens, gets no reference to its window.
    .header('cross-origin-opener-policy', 'same-origin')
    .header('content-language', language)
    .type('text/html; charset=utf-8');

/** Serves the style sheet that all hosted pages share. */
export const serveStylesheet = (app: FastifyInstance): void =>
  serveFile(app, '/hosted/page.css', 'text/css', stylesheet);

function serveFile(app: FastifyInstance, path: string, type: string, text: string): void {
  withHeaders(app, pageHeaders(pagePolicy(), 'no-cache'), (scope) => {
    scope.get(path, (request, reply) => sendText(request, reply, `${type}; charset=utf-8`, text));
  });
}

/** Serves the script of a page. */
export const serveScript = (app: FastifyInstance, path: string, script: string): void =>
  serveFile(app, path, 'text/javascript', script);
