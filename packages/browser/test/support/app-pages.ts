import { build } from 'esbuild';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** A server of an app on loopback: its pages with one script, and an API that records how it was called. */
export interface AppPages {
  readonly origin: string;
  /** Requests below `/api/`, newest last. */
  readonly calls: Call[];
  /** Statuses of the next answers of the API; then 200. */
  readonly answers: number[];
  /** What the page reads as `config`. */
  config: object;
  /** Whether pages have their script. */
  hasScript: boolean;
  close(): Promise<void>;
}

export interface Call {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

const root = join(import.meta.dirname, '../../../..');

/** A script that the browser can run, from TypeScript that imports packages of this repository. */
export async function bundle(source: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: source, loader: 'tsx', resolveDir: root },
    bundle: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

/**
 * Starts the server. Every path is a page; `/api/redirect?to=` redirects.
 * @param script of `bundle`
 */
export async function startAppPages(script: string): Promise<AppPages> {
  const calls: Call[] = [];
  const answers: number[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (pathname === '/bundle.js') {
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
    } else if (pathname.startsWith('/api/')) {
      const allowed = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'authorization' };
      if (request.method === 'OPTIONS') return response.writeHead(204, allowed).end();
      const target = searchParams.get('to');
      void bodyOf(request).then((body) => {
        calls.push({ path: pathname, authorization: request.headers.authorization, body });
        if (target === null) response.writeHead(answers.shift() ?? 200, allowed).end('{}');
        else response.writeHead(307, { ...allowed, location: target }).end();
      });
    } else {
      const scripts = `<script>globalThis.config = ${JSON.stringify(pages.config)}</script>
        <script type="module" src="/bundle.js"></script>`;
      response.writeHead(200, { 'content-type': 'text/html' }).end(
        `<!doctype html><title>app</title><link rel="icon" href="data:,"><main id="root"></main>
         ${pages.hasScript ? scripts : ''}`,
      );
    }
    return undefined;
  });
  const pages: AppPages = {
    origin: await listen(server),
    calls,
    answers,
    config: {},
    hasScript: true,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return pages;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
