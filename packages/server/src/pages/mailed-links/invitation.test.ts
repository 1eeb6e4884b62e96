import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const get = (url: string, headers = {}) => app.server.inject({ method: 'GET', url, headers });

test('nothing is inline, cached, framed or sent elsewhere, and nothing of the address is shown', async () => {
  const page = await get('/hosted/invitation?token="><script>alert(1)</script>&x=1');
  expect(page.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'content-language': 'en',
    vary: 'Accept-Language',
  });
  expect(page.headers['content-security-policy']).toMatch(
    /default-src 'none'.*script-src 'self'.*frame-ancestors 'none'/,
  );
  expect(page.headers['content-security-policy']).not.toContain('unsafe');
  expect(page.body).not.toMatch(/alert|<script>|\son\w+=|style="/);
});

test('script and style are files of our own, and the script writes text only', async () => {
  const page = await get('/hosted/invitation');
  const links = [...page.body.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, link]) => link as string);
  expect(links).toEqual(['/hosted/page.css', '/account/invitation', '/account', '/hosted/invitation.js']);
  const script = await get('/hosted/invitation.js');
  expect(script.headers['content-type']).toContain('text/javascript');
  expect(script.body).toContain('/organization-invitations/accept');
  expect(script.body).not.toMatch(/innerHTML|outerHTML|insertAdjacent|document\.write|eval\(/);
});

test.each([
  ['de-AT', 'Ihre Einladung', 'Anmelden und annehmen'],
  ['es', 'Su invitación', 'Iniciar sesión y aceptar'],
  ['fr', 'Votre invitation', 'Se connecter et accepter'],
  ['ja', 'Your invitation', 'Sign in and accept'],
])('speaks %s', async (language, ...texts) => {
  const { body } = await get('/hosted/invitation', { 'accept-language': language });
  for (const text of texts) expect(body).toContain(text);
});

test('every field has a label of its own', async () => {
  const { body } = await get('/hosted/invitation');
  const fields = [...body.matchAll(/<input\s+id="([^"]+)"/g)].map(([, id]) => id);
  const labels = [...body.matchAll(/<label for="([^"]+)"/g)].map(([, id]) => id);
  expect(fields).toHaveLength(5);
  expect(labels).toEqual(fields);
});

test('the address takes no other method', async () => {
  const answer = await app.server.inject({ method: 'POST', url: '/hosted/invitation' });
  expect(answer.statusCode).toBe(405);
  expect(answer.headers['allow']).toBe('GET, HEAD, OPTIONS');
});
