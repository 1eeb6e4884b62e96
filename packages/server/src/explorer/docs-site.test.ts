import fastify, { type FastifyInstance } from 'fastify';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { registerDocsSite } from './docs-site.ts';

let folder: string;
let app: FastifyInstance;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'doorward-docs-'));
  await mkdir(join(folder, 'assets', 'chunks'), { recursive: true });
  await mkdir(join(folder, 'concepts'));
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>Documentation</title>');
  await writeFile(join(folder, 'concepts', 'tenants.html'), '<!doctype html><title>Tenants</title>');
  await writeFile(join(folder, 'hashmap.json'), '{"private": true}');
  await writeFile(
    join(folder, 'assets', 'chunks', '@localSearchIndexroot.A-b_1.js'),
    'export {};\n'.repeat(200),
  );
  app = fastify();
  registerDocsSite(app, folder);
  await app.ready();
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true, force: true });
});

test.each([
  ['/docs/', 'Documentation'],
  ['/docs/concepts/tenants.html', 'Tenants'],
  ['/docs/concepts/tenants', 'Tenants'],
])('%s is a page, which a browser checks each time', async (url, title) => {
  const answer = await app.inject({ url });
  expect(answer.statusCode).toBe(200);
  expect(answer.body).toContain(title);
  expect(answer.headers['content-type']).toContain('text/html');
  expect(answer.headers['cache-control']).toBe('no-cache');
  const policy = String(answer.headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  const again = await app.inject({ url, headers: { 'if-none-match': String(answer.headers['etag']) } });
  expect(again.statusCode).toBe(304);
});

test('/docs leads to the first page', async () => {
  const answer = await app.inject({ url: '/docs' });
  expect([answer.statusCode, answer.headers['location']]).toEqual([302, '/docs/']);
});

test('a file with a hash in its name is compressed, and kept for a year', async () => {
  const url = '/docs/assets/chunks/@localSearchIndexroot.A-b_1.js';
  const answer = await app.inject({ url, headers: { 'accept-encoding': 'br' } });
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect(answer.headers['content-encoding']).toBe('br');
});

test.each([
  '/docs/hashmap.json',
  '/docs/missing.html',
  '/docs/..%2Fetc%2Fpasswd',
  '/docs/%2e%2e/secret.html',
  '/docs/assets/..%2Fhashmap.json',
  '/docs/concepts',
])('%s shows no file', async (url) => {
  const answer = await app.inject({ url });
  expect(answer.statusCode).toBeGreaterThanOrEqual(300);
  expect(answer.body).not.toMatch(/private|doctype/);
});
