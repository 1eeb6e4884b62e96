import fastify, { type FastifyInstance } from 'fastify';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { registerConsole } from './console-page.ts';

let folder: string;
let app: FastifyInstance;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'doorward-console-'));
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>Doorward</title>');
  await writeFile(join(folder, 'assets', 'index-AbC_1-2.js'), 'export {};\n'.repeat(200));
  await writeFile(join(folder, 'assets', 'notes.txt'), 'not for browsers');
  await writeFile(join(folder, 'secret.js'), 'outside of the assets');
  app = fastify();
  registerConsole(app, folder);
  await app.ready();
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true, force: true });
});

test.each(['/console', '/console/', '/console/organization/1/roles', '/console/account/1/x.y?q=1'])(
  '%s is the page, which a browser checks each time',
  async (url) => {
    const answer = await app.inject({ url });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toContain('text/html');
    expect(answer.headers['cache-control']).toBe('no-cache');
    const policy = String(answer.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const etag = String(answer.headers['etag']);
    const again = await app.inject({ url, headers: { 'if-none-match': etag } });
    expect(again.statusCode).toBe(304);
  },
);

test('a file with a hash in its name is compressed, and kept for a year', async () => {
  const url = '/console/assets/index-AbC_1-2.js';
  const answer = await app.inject({ url, headers: { 'accept-encoding': 'br' } });
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect(answer.headers['content-encoding']).toBe('br');
});

test.each([
  '/console/assets/missing.js',
  '/console/assets/notes.txt',
  '/console/assets/../secret.js',
  '/console/assets/..%2Fsecret.js',
  '/console/assets/%2e%2e/secret.js',
  '/console/assets/',
])('%s shows no file', async (url) => {
  const answer = await app.inject({ url });
  expect(answer.body).not.toMatch(/outside|not for browsers|export/);
  expect(answer.statusCode === 404 || answer.body.startsWith('<!doctype html>')).toBe(true);
});
