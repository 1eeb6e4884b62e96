import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const get = (url: string, headers = {}) => app.server.inject({ method: 'GET', url, headers });

test('nothing is inline, cached, framed or sent elsewhere, and nothing of the address is shown', async () => {
  const page = await get('/hosted/reset-password?token="><script>alert(1)</script>&x=1');
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
  expect(page.body).not.toMatch(/alert\(|<script>|\son\w+=|style="/);
});

test('script and style are files of our own, and the script writes text only', async () => {
  const page = await get('/hosted/reset-password');
  const links = [...page.body.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, link]) => link as string);
  expect(links).toEqual(['/hosted/page.css', '/account', '/hosted/reset-password.js']);
  const script = await get('/hosted/reset-password.js');
  expect(script.headers['content-type']).toContain('text/javascript');
  expect(script.body).toContain('/api/auth/reset-password');
  expect(script.body).not.toMatch(/innerHTML|outerHTML|insertAdjacent|document\.write|eval\(/);
});

test.each([
  ['de-AT', 'Neues Passwort wählen', 'Passwort ändern'],
  ['es', 'Elija una contraseña nueva', 'Cambiar la contraseña'],
  ['fr', 'Choisissez un nouveau mot de passe', 'Modifier le mot de passe'],
  ['ja', 'Choose a new password', 'Change password'],
])('speaks %s', async (language, ...texts) => {
  const { body } = await get('/hosted/reset-password', { 'accept-language': language });
  for (const text of texts) expect(body).toContain(text);
});

test('the field has a label, and the rule stands below it', async () => {
  const { body } = await get('/hosted/reset-password');
  const fields = [...body.matchAll(/<input\s+id="([^"]+)"/g)].map(([, id]) => id);
  const labels = [...body.matchAll(/<label for="([^"]+)"/g)].map(([, id]) => id);
  expect(fields).toEqual(['password']);
  expect(labels).toEqual(fields);
  expect(body).toContain('At least 12 characters.');
});

test('the address takes no other method', async () => {
  const answer = await app.server.inject({ method: 'POST', url: '/hosted/reset-password' });
  expect(answer.statusCode).toBe(405);
  expect(answer.headers['allow']).toBe('GET, HEAD, OPTIONS');
});
