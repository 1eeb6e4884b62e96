import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { filesPolicy, pageHeaders, withHeaders } from '../html/page-headers.ts';
import { sendText } from '../http/body/compression.ts';
import { serveFiles } from './docs-page.ts';

/** Allows only files of this origin: no inline script or style, and no HTML that a script assembles (Trusted Types). */
const policy = filesPolicy("form-action 'self'", "require-trusted-types-for 'script'");

/**
 * Serves the admin console at `/console`: the files that packages/console builds. The console has no rights or
 * endpoints of its own; its pages call the public API.
 */
export function registerConsole(app: FastifyInstance, folder: string): void {
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  const headers = { ...pageHeaders(policy, 'no-cache'), 'cross-origin-opener-policy': 'same-origin' };
  withHeaders(app, headers, (scope) => {
    // Every path serves the same document; its router shows the view for the address.
    for (const path of ['/console', '/console/*'])
      scope.get(path, (request, reply) => sendText(request, reply, 'text/html; charset=utf-8', page));
  });
  serveFiles(app, {
    root: join(folder, 'assets'),
    prefix: '/console/assets/',
    allowed: (path) => /^\/[\w-]+\.(?:js|css|svg)$/.test(path),
  });
}
