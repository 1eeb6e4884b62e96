import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const get = (url: string, headers = {}) => app.server.inject({ method: 'GET', url, headers });

test('opening the page changes nothing, however often', async () => {
  const { email } = await app.person({ verified: false });
  const token = await app.mailedToken(email);
  for (let i = 0; i < 3; i++) {
    const page = await get(`/hosted/verify-email?token=${token}`);
    expect(page.statusCode).toBe(200);
    expect(page.body).not.toContain(token);
  }
  expect((await app.call('verifyEmail', { token })).data).toEqual({ verified: true });
});

test('nothing is inline, cached, framed or sent elsewhere, and nothing of the address is shown', async () => {
  const page = await get('/hosted/verify-email?token="><script>alert(1)</script>&x=1');
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

test('script and style are files of our own', { tags: 'independent' }, async () => {
  const page = await get('/hosted/verify-email');
  const links = [...page.body.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, link]) => link as string);
  expect(links).toEqual(['/hosted/page.css', '/account', '/hosted/verify-email.js']);
  const [style, , script] = await Promise.all(links.map((link) => get(link)));
  expect(style?.headers['content-type']).toContain('text/css');
  expect(script?.headers['content-type']).toContain('text/javascript');
  expect(script?.body).toContain('/api/auth/verify-email');
});

test.each([
  ['de-AT', 'E-Mail-Adresse bestätigen'],
  ['es', 'Verifique su dirección'],
  ['fr', 'Vérifiez votre adresse'],
  ['ja', 'Verify your e-mail address'],
])('speaks %s', async (language, title) => {
  expect((await get('/hosted/verify-email', { 'accept-language': language })).body).toContain(title);
});

test('the address takes no other method', async () => {
  const answer = await app.server.inject({ method: 'POST', url: '/hosted/verify-email' });
  expect(answer.statusCode).toBe(405);
  expect(answer.headers['allow']).toBe('GET, HEAD, OPTIONS');
});

test.each([
  ['en', 'would be added to the account of {account}'],
  ['de', 'würde zum Konto von {account} hinzugefügt'],
  ['es', 'se añadiría a la cuenta de {account}'],
  ['fr', 'serait ajoutée au compte de {account}'],
])('asks before an address joins an account, in %s', async (language, text) => {
  const page = await get('/hosted/verify-email', { 'accept-language': language });
  expect(page.body.match(/data-joining="[^"]+"/g)).toHaveLength(3);
  expect(page.body).toContain(text);
});
