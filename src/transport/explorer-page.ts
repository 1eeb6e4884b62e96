/**
 * The GraphQL explorer that a browser gets at `/graphql`: Altair, from files on this machine.
 *
 * Altair can reach for plugins, accounts, a script sandbox and WebSockets elsewhere. Its options turn off what they can;
 * the policy forbids the rest, so no page of ours can send a token to another host. It writes style elements while it
 * runs, not all of them with a nonce: styles may be inline here, scripts may not, and the initializer is a file.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AltairConfigOptions } from 'altair-static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { sendText } from './compression.ts';
import { brandIcon, packageFiles, pageHeaders, serveFiles, withHeaders } from './docs-page.ts';

// Only the types are imported: the package's code is half a megabyte that would run at every start for one file name.
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
  // Not a header "Authorization: Bearer ": until a token is typed, that would send an invalid one. This sends nothing.
  initialAuthorization: { type: 'bearer', data: { token: '' } },
  instanceStorageNamespace: 'doorward_',
  disableAccount: true,
  persistedSettings: {
    'alert.disableUpdateNotification': true,
    'banners.disable': true,
    'beta.disable.newScript': true, // the new one waits for a frame of Altair's own host, for ever
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

/** Altair's own HTML with our base address, title, icon and initializer. */
function render(): string {
  return readFileSync(join(folder, 'index.html'), 'utf8')
    .replace(/<base[^>]*>/, `<base href="${assets}">`)
    .replace(/<title>[^<]*<\/title>/, '<title>Doorward GraphQL</title>')
    .replace(/<link rel="icon"[^>]*>/, `<link rel="icon" href="${brandIcon}">`)
    .replace('</body>', `<script type="module" src="${initializer}"></script></body>`);
}

/** The explorer's page and the headers that it must be sent with. */
export function explorerPage(): { html: string; headers: Record<string, string> } {
  html ??= render();
  return {
    html,
    headers: { ...pageHeaders(policy, 'no-store'), 'content-type': 'text/html; charset=utf-8' },
  };
}

/** Answers with the explorer: for a GET of `/graphql` that accepts `text/html`. */
export function sendExplorer(reply: FastifyReply): FastifyReply {
  const { html, headers } = explorerPage();
  return reply.code(200).headers(headers).send(html);
}

/** Serves the explorer's files under `/graphql/assets/`; nothing at all unless `enabled`. */
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
