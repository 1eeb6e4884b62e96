/**
 * The GraphQL explorer at `/graphql` for browsers: Altair, served from the installed package.
 *
 * Altair can load plugins, accounts, a script sandbox and WebSockets from other hosts. Its options disable some of
 * this and the policy forbids the rest, so the page cannot send a token to another host. Altair creates style
 * elements at run time, some without a nonce, so inline styles are allowed. Inline scripts are not, so the
 * initializer is a file.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AltairConfigOptions } from 'altair-static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { brandIcon } from '../html/brand-icon.ts';
import { pageHeaders, withHeaders } from '../html/page-headers.ts';
import { sendText } from '../http/body/compression.ts';
import { packageFiles, serveFiles } from './docs-page.ts';

// Only the types are imported, because the code of the package is half a megabyte and would run on every start.
const altair = packageFiles('altair-static');
const folder = join(altair.folder, 'build', 'dist');
const assets = `/graphql/assets/${altair.version}/`;
const initializer = '/graphql/assets/init.js';

const example = `# Paste an access token under "Auth" to send it with every request.
query {
  me {
    user {
      id
      name
    }
  }
}
`;

const options: AltairConfigOptions = {
  endpointURL: '/graphql',
  initialQuery: example,
  // With a preset header, Altair would send an empty bearer token. This setting sends none until the user enters one.
  initialAuthorization: { type: 'bearer', data: { token: '' } },
  instanceStorageNamespace: 'doorward_',
  disableAccount: true,
  persistedSettings: {
    'alert.disableUpdateNotification': true,
    'banners.disable': true,
    'beta.disable.newScript': true, // the new one waits forever for a frame of Altair's host
    'plugin.list': [],
  },
};

const initScript = `AltairGraphQL.init(${JSON.stringify(options, null, 2)});\n`;

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "worker-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

let html: string | undefined;

/** The HTML of Altair with the base URL, title, icon and initializer of this service. */
function renderPage(): string {
  return readFileSync(join(folder, 'index.html'), 'utf8')
    .replace(/<base[^>]*>/, `<base href="${assets}">`)
    .replace(/<title>[^<]*<\/title>/, '<title>Doorward GraphQL</title>')
    .replace(/<link rel="icon"[^>]*>/, `<link rel="icon" href="${brandIcon}">`)
    .replace('</body>', `<script type="module" src="${initializer}"></script></body>`);
}

/** Returns the page of the explorer with its headers. */
function explorerPage(): { html: string; headers: Record<string, string> } {
  html ??= renderPage();
  return {
    html,
    headers: { ...pageHeaders(policy, 'no-store'), 'content-type': 'text/html; charset=utf-8' },
  };
}

/** Sends the explorer, for a GET of `/graphql` that accepts `text/html`. */
export function sendExplorer(reply: FastifyReply): FastifyReply {
  const { html, headers } = explorerPage();
  return reply.code(200).headers(headers).send(html);
}

/** Serves the files of the explorer under `/graphql/assets/`, if it is enabled. */
export function registerExplorer(app: FastifyInstance, { enabled }: { enabled: boolean }): void {
  if (!enabled) return;
  withHeaders(app, pageHeaders("default-src 'none'; frame-ancestors 'none'", 'no-cache'), (scope) => {
    scope.get(initializer, (request, reply) =>
      sendText(request, reply, 'text/javascript; charset=utf-8', initScript),
    );
  });
  const hidden = /^\/(index\.html$|iframe-sandbox\/)/;
  serveFiles(app, { root: folder, prefix: assets, allowed: (path) => !hidden.test(path) });
}
