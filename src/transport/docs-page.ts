/**
 * The interactive REST documentation at `/api-docs`, and the OpenAPI document that it reads.
 *
 * The page is our own few lines of HTML around Swagger UI's bundle, because the one in the package brings a top bar that
 * loads any address named in `?url=`: a link to our origin must not be able to show, and send tokens to, another API.
 * Nothing is inline and nothing comes from another host, so the policy can say `'self'` and mean it.
 */
import fastifyStatic from '@fastify/static';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { compressFiles, sendText } from './compression.ts';

const require = createRequire(import.meta.url);

/** Finds an installed package without running any of its code; the version goes into the addresses of its files. */
export function packageFiles(name: string): { folder: string; version: string } {
  const manifest = require.resolve(`${name}/package.json`);
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  return { folder: dirname(manifest), version };
}

/** The product's mark as an address that costs no request. */
export const brandIcon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1f3a5f"/>' +
    '<path d="M10 26V9a2 2 0 0 1 2-2h8a2 2 0 0 1 2 2v17" fill="none" stroke="#fff" stroke-width="2.4"/>' +
    '<circle cx="18.4" cy="17" r="1.6" fill="#fff"/></svg>',
)}`;

/** The headers of a page or file: its policy, and how long a browser may keep it. */
export const pageHeaders = (policy: string, cacheControl: string): Record<string, string> => ({
  'cache-control': cacheControl,
  'content-security-policy': policy,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
});

/** A scope whose good answers carry `headers`, even where a hook of the whole application said otherwise before. */
export function withHeaders(
  app: FastifyInstance,
  headers: Record<string, string>,
  routes: (scope: FastifyInstance) => void,
): void {
  app.register(async (scope) => {
    scope.addHook('onSend', async (_request, reply) => {
      if (reply.statusCode < 400) reply.headers(headers);
    });
    routes(scope);
  });
}

/** A file's own policy matters when a browser opens it alone or runs it as a worker. */
const assetPolicy = "default-src 'none'; script-src 'self'; frame-ancestors 'none'";

/** Serves the files of a folder that `allowed` names, cached for good: `prefix` holds the version. */
export function serveFiles(
  app: FastifyInstance,
  options: { root: string; prefix: string; allowed: (path: string) => boolean },
): void {
  withHeaders(app, pageHeaders(assetPolicy, 'public, max-age=31536000, immutable'), (scope) => {
    compressFiles(scope);
    scope.register(fastifyStatic, {
      root: options.root,
      prefix: options.prefix,
      allowedPath: options.allowed,
      decorateReply: false,
      index: false,
      cacheControl: false,
    });
  });
}

const swagger = packageFiles('swagger-ui-dist');
const assets = `/api-docs/assets/${swagger.version}/`;

/** Swagger UI sets a few style attributes (widths, colours of the examples); style elements stay forbidden. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const page = (links: { explorer: boolean }): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Doorward API</title>
    <link rel="icon" href="${brandIcon}">
    <link rel="stylesheet" href="${assets}swagger-ui.css">
    <link rel="stylesheet" href="/api-docs/page.css">
  </head>
  <body>
    <header class="bar">
      <a class="brand" href="/api-docs"><img src="${brandIcon}" alt="" width="26" height="26">Doorward <span>REST API</span></a>
      <nav>${links.explorer ? '<a href="/graphql">GraphQL explorer</a>' : ''}<a href="/api-docs.json">OpenAPI document</a></nav>
    </header>
    <main id="swagger-ui"><noscript>This page needs JavaScript. The description itself is at /api-docs.json.</noscript></main>
    <script src="${assets}swagger-ui-bundle.js"></script>
    <script src="/api-docs/init.js"></script>
  </body>
</html>
`;

const initScript = `const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();

SwaggerUIBundle({
  url: '/api-docs.json',
  dom_id: '#swagger-ui',
  queryConfigEnabled: false, // ?url= and ?configUrl= mean nothing here
  validatorUrl: null, // no badge: it would send the document to another host
  persistAuthorization: true, // until the logout in the authorize dialog
  deepLinking: true,
  filter: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
});
`;

const stylesheet = `:root { --ink: #1c2733; --soft: #5b6b7c; --line: #dfe5ec; --ground: #fff; --brand: #1f3a5f; }
html.dark-mode { --ink: #e6ebf1; --soft: #9fb0c3; --line: #2c3a48; --ground: #1c2022; --brand: #14273f; }
body { margin: 0; background: var(--ground); color: var(--ink); }
body, #swagger-ui :not(code, code *, pre, pre *, textarea, .opblock-summary-path, .opblock-summary-path *) {
  font-family: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
}
.bar { display: flex; align-items: center; justify-content: space-between; gap: .75rem 1rem; flex-wrap: wrap;
  padding: .7rem max(1.25rem, calc((100vw - 1420px) / 2)); background: var(--brand); }
.bar a { color: #fff; text-decoration: none; }
.bar nav { display: flex; gap: 1.25rem; }
.bar nav a { font-size: .9rem; opacity: .85; }
.bar nav a:is(:hover, :focus-visible) { opacity: 1; text-decoration: underline; text-underline-offset: .25em; }
.brand { display: flex; align-items: center; gap: .6rem; font-weight: 650; font-size: 1.05rem; }
.brand span { font-weight: 400; opacity: .7; }
.brand img { border-radius: 7px; outline: 1px solid #ffffff40; }
#swagger-ui .info { margin: 2rem 0 1.5rem; }
#swagger-ui .info .title { font-size: 1.75rem; }
#swagger-ui .info hgroup > a { display: none; }
#swagger-ui .scheme-container { background: none; box-shadow: none; border-block: 1px solid var(--line); padding: .9rem 0;
  margin-bottom: 1rem; }
#swagger-ui .operation-filter-input { box-sizing: border-box; width: 100%; margin: .75rem 0; padding: .6rem .75rem;
  border: 1px solid var(--line); border-radius: 6px; font-size: .95rem; }
#swagger-ui .auth-container input { box-sizing: border-box; width: 100%; max-width: none; }
#swagger-ui .opblock-tag { border-bottom-color: var(--line); font-size: 1.2rem; }
#swagger-ui .opblock { box-shadow: none; border-radius: 6px; }
noscript { display: block; padding: 2rem 1.25rem; color: var(--soft); }
`;

/**
 * Serves `/api-docs` (only if `enabled`, else it is not found) and `/api-docs.json` (always). `explorer` tells whether
 * `/graphql` answers a browser, so that the page never links to nothing.
 */
export function registerDocsPage(
  app: FastifyInstance,
  options: { enabled: boolean; document: () => string; explorer?: boolean },
): void {
  withHeaders(app, pageHeaders(pagePolicy, 'no-cache'), (scope) => {
    const text = (path: string, type: string, body: () => string) =>
      scope.get(path, (request, reply) => sendText(request, reply, type, body()));

    text('/api-docs.json', 'application/json; charset=utf-8', options.document);
    if (!options.enabled) {
      scope.get('/api-docs', (_request, reply) => reply.callNotFound());
      return;
    }
    const html = page({ explorer: options.explorer ?? true });
    text('/api-docs', 'text/html; charset=utf-8', () => html);
    text('/api-docs/init.js', 'text/javascript; charset=utf-8', () => initScript);
    text('/api-docs/page.css', 'text/css; charset=utf-8', () => stylesheet);
  });
  if (options.enabled) {
    const files = new Set(['/swagger-ui-bundle.js', '/swagger-ui.css']);
    serveFiles(app, { root: swagger.folder, prefix: assets, allowed: (path) => files.has(path) });
  }
}
