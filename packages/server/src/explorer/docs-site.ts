import fastifyStatic from '@fastify/static';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { compressFiles } from '../http/body/compression.ts';
import { filesPolicy, pageHeaders, withHeaders } from '../html/page-headers.ts';
import { serveFiles } from './docs-page.ts';

/** No inline script or style: the build makes files of them (docs/.vitepress/strict-pages.ts). */
const policy = filesPolicy("form-action 'none'");

/** The colors of code have one name in every build, so a browser checks them as it checks a page. */
const isPage = (path: string): boolean => /^\/(?:code\.css|(?:[\w-]+\/)*(?:[\w-]+(?:\.html)?)?)$/.test(path);
const isAsset = (path: string): boolean => /^\/(?:chunks\/)?[\w@.-]+\.(?:js|css|svg|png)$/.test(path);

/**
 * Serves the documentation at `/docs`: the files that `npm run docs` builds. Its search reads an index of this origin,
 * and no page loads anything from elsewhere.
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
      // `/docs/getting-started`, as people type and share it.
      extensions: ['html'],
      cacheControl: false,
    });
  });
  serveFiles(app, { root: join(folder, 'assets'), prefix: '/docs/assets/', allowed: isAsset });
}
