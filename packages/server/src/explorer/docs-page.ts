/**
 * The interactive REST documentation at `/api-docs`, and the OpenAPI document that it reads.
 *
 * The page is a small HTML document around the bundle of Swagger UI. The package has a page too, but its top bar loads
 * any URL in `?url=`, so a link to this origin could show another API and send tokens to it. The page here has no
 * inline scripts and loads nothing from other hosts, so its policy can be `'self'`.
 */
import fastifyStatic from '@fastify/static';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { brandIcon } from '../html/brand-icon.ts';
import { pageHeaders, withHeaders } from '../html/page-headers.ts';
import { compressFiles, sendText } from '../http/body/compression.ts';

const require = createRequire(import.meta.url);

/** Locates an installed package without running its code. The version becomes part of the URLs of its files. */
export function packageFiles(name: string): { folder: string; version: string } {
  const manifest = require.resolve(`${name}/package.json`);
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  return { folder: dirname(manifest), version };
}

/** The policy of a file. It applies if a browser opens the file directly or runs it as a worker. */
const assetPolicy = "default-src 'none'; script-src 'self'; frame-ancestors 'none'";

/**
 * Serves those files of a folder that `allowed` accepts. Browsers cache them as immutable, so each URL must contain a
 * version (in `prefix`) or a hash of the content (in the file name).
 */
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

/** Allows style attributes, because Swagger UI sets a few. Style elements stay forbidden. */
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

const renderPage = (links: { explorer: boolean }): string => `<!doctype html>
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
    <main id="swagger-ui"><noscript>This page needs JavaScript. The OpenAPI document is at /api-docs.json.</noscript></main>
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
  queryConfigEnabled: false, // ignores ?url= and ?configUrl=
  validatorUrl: null, // no badge, because it would send the document to another host
  persistAuthorization: true, // until the user logs out in the authorize dialog
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
 * Serves `/api-docs` if `enabled`, and always `/api-docs.json`. The page links to `/graphql`, unless `explorer` is
 * false.
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
    const html = renderPage({ explorer: options.explorer ?? true });
    text('/api-docs', 'text/html; charset=utf-8', () => html);
    text('/api-docs/init.js', 'text/javascript; charset=utf-8', () => initScript);
    text('/api-docs/page.css', 'text/css; charset=utf-8', () => stylesheet);
  });
  if (options.enabled) {
    const files = new Set(['/swagger-ui-bundle.js', '/swagger-ui.css']);
    serveFiles(app, { root: swagger.folder, prefix: assets, allowed: (path) => files.has(path) });
  }
}
