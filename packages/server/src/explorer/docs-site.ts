import fastifyStatic from '@fastify/static';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { compressFiles } from '../http/body/compression.ts';
import { filesPolicy, pageHeaders, withHeaders } from '../html/page-headers.ts';
import { serveFiles } from './docs-page.ts';

/** Allows no inline script or style: the build moves them into files (docs/.vitepress/strict-pages.ts). */
const policy = filesPolicy("form-action 'none'");

/**
 * Whether browsers must check a file for changes: a page, or the style sheet of the code colours, which has the same
 * name in every build.
 */
const isPage = (path: string): boolean => /^\/(?:code\.css|(?:[\w-]+\/)*(?:[\w-]+(?:\.html)?)?)$/.test(path);
const isAsset = (path: string): boolean => /^\/(?:chunks\/)?[\w@.-]+\.(?:js|css|svg|png)$/.test(path);

/**
 * Serves the documentation at `/docs`: the files that `npm run docs` builds. Its search reads an index from this
 * origin, and no page loads anything from another one.
 */
export function registerDocsSite(app: FastifyInstance, folder: string): void {
  withHeaders(app, pageHeaders(policy, 'no-cache'), (scope) => {
    compressFiles(scope);
    scope.get('/docs', (_request, reply) => reply.redirect('/docs/'));
    scope.register(fastifyStatic, {
      root: folder,
      prefix: '/docs/',
      allowedPath: isPage,
      decorateReply: false,
      index: 'index.html',
      // Serves paths without `.html`, such as `/docs/getting-started`, because people type and share them in that form.
      extensions: ['html'],
      cacheControl: false,
    });
  });
  serveFiles(app, { root: join(folder, 'assets'), prefix: '/docs/assets/', allowed: isAsset });
}
