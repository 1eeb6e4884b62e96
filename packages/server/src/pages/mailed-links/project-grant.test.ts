import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const get = (url: string, headers = {}) => app.server.inject({ method: 'GET', url, headers });

test('shows nothing of the address, and its script writes text only', async () => {
  const page = await get('/hosted/project-grant?token="><script>alert(1)</script>&x=1');
  expect(page.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  expect(page.headers['content-security-policy']).not.toContain('unsafe');
  expect(page.body).not.toMatch(/alert|<script>|\son\w+=|style="/);
  const script = await get('/hosted/project-grant.js');
  expect(script.body).toContain('/project-grants/offer/');
  expect(script.body).not.toMatch(/innerHTML|outerHTML|insertAdjacent|document\.write|eval\(/);
});

test.each([
  ['de-AT', 'Ein Projekt für Ihre Organisation'],
  ['es', 'Un proyecto para su organización'],
  ['fr', 'Un projet pour votre organisation'],
  ['ja', 'A project for your organization'],
])('speaks the language of the browser: %s', async (language, title) => {
  const page = await get('/hosted/project-grant', { 'accept-language': language });
  expect(page.body).toContain(`<h1>${title}</h1>`);
});
