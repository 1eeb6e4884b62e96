import type { FastifyInstance, FastifyRequest } from 'fastify';
import { escapeHtml } from '../events/mail-layout.ts';
import type { Language } from '../i18n/translate.ts';
import { brandIcon, pageHeaders, sendText, withHeaders } from '../transport/docs-page.ts';
import { languageOf } from '../transport/send-error.ts';

/** What the hosted pages have in common: their frame, their look and their policy. Nothing is inline. */
export const pagePolicy = (formAction = "'none'"): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
  ].join('; ');

/** `body` is HTML; `title` is text. Script and style are files of our own. */
export const hostedPage = (options: {
  readonly language: Language;
  readonly title: string;
  readonly body: string;
  readonly script?: string;
}): string => `<!doctype html>
<html lang="${options.language}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <title>${escapeHtml(options.title)} · Doorward</title>
    <link rel="icon" href="${brandIcon}">
    <link rel="stylesheet" href="/hosted/page.css">
  </head>
  <body>
    <main class="card">
      <p class="brand"><img src="${brandIcon}" alt="" width="26" height="26">Doorward</p>
${options.body}
    </main>
    ${options.script === undefined ? '' : `<script src="${options.script}"></script>`}
  </body>
</html>
`;

/** A page, or one with a form: `formAction` says where its policy lets the form lead, redirects included. */
export type Page = string | { readonly html: string; readonly formAction: string };

/** Serves a page at `path` in the language of the browser, and its script, if it has one, at `path` with `.js`. */
export function servePage(
  app: FastifyInstance,
  options: {
    readonly path: string;
    readonly page: (language: Language, request: FastifyRequest) => Page | Promise<Page>;
    readonly script?: string;
  },
): void {
  app.get(options.path, async (request, reply) => {
    const language = languageOf(request);
    const page = await options.page(language, request);
    const { html, formAction } = typeof page === 'string' ? { html: page, formAction: undefined } : page;
    return (
      reply
        .headers({ ...pageHeaders(pagePolicy(formAction), 'no-store'), vary: 'Accept-Language' })
        // Without a referrer a browser would call the origin of a posted form "null".
        .headers(formAction === undefined ? {} : { 'referrer-policy': 'same-origin' })
        .header('content-language', language)
        .type('text/html; charset=utf-8')
        .send(html)
    );
  });
  if (options.script !== undefined) serveFile(app, `${options.path}.js`, 'text/javascript', options.script);
}

/** Serves the style of the hosted pages. */
export const serveStylesheet = (app: FastifyInstance): void =>
  serveFile(app, '/hosted/page.css', 'text/css', stylesheet);

function serveFile(app: FastifyInstance, path: string, type: string, text: string): void {
  withHeaders(app, pageHeaders(pagePolicy(), 'no-cache'), (scope) => {
    scope.get(path, (request, reply) => sendText(request, reply, `${type}; charset=utf-8`, text));
  });
}

const stylesheet = `:root { --ink: #1c2733; --soft: #5b6b7c; --line: #dfe5ec; --ground: #f4f6f9; --card: #fff; --brand: #1f3a5f;
  --good: #1d6b43; --bad: #a32a2a; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6ebf1; --soft: #9fb0c3; --line: #2c3a48; --ground: #14181b; --card: #1c2022; --brand: #2f5f9c;
    --good: #6fd0a0; --bad: #f09a9a; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--ground);
  color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif; }
.card { width: 100%; max-width: 26rem; padding: 2rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 12px; }
.brand { display: flex; align-items: center; gap: .6rem; margin: 0 0 1.5rem; font-weight: 650; }
.brand img { border-radius: 7px; }
h1 { margin: 0 0 .5rem; font-size: 1.35rem; line-height: 1.3; }
p { margin: 0 0 1.25rem; color: var(--soft); overflow-wrap: anywhere; }
.brand, .brand + * { color: var(--ink); }
label { display: block; margin: 0 0 .35rem; font-size: .9rem; font-weight: 600; }
input { width: 100%; margin: 0 0 1.1rem; padding: .65rem .75rem; border: 1px solid var(--soft); border-radius: 6px;
  background: var(--card); color: var(--ink); font: inherit; }
input:read-only { border-color: var(--line); color: var(--soft); }
fieldset { min-width: 0; margin: 0; padding: 0; border: 0; }
button { width: 100%; padding: .75rem 1rem; border: 0; border-radius: 6px; background: var(--brand); color: #fff;
  font: inherit; font-weight: 600; cursor: pointer; }
button:hover { filter: brightness(1.1); }
button.quiet { margin: .75rem 0 0; background: none; color: var(--ink); text-decoration: underline;
  text-underline-offset: .25em; }
:is(button, input):focus-visible { outline: 3px solid #7fb2f0; outline-offset: 2px; }
button:disabled { opacity: .6; cursor: default; }
[role='status'] { margin: 1.25rem 0 0; }
[role='status']:empty { margin: 0; }
.good { color: var(--good); }
.bad { color: var(--bad); }
[hidden] { display: none !important; }
`;
