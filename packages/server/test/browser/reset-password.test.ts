/** The page of a password reset in a real browser: opening it changes nothing, and the form replaces the password. */
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startApp, type TestApp } from '../support/app/app.ts';
import { unique, type Person } from '../support/app/client.ts';
import { photograph, sharedBrowser, watched, type Watched } from './watched.ts';

let app: TestApp;
let origin: string;
let browser: Browser;
let view: Watched;

/** Errors of the API that the page has to report. */
const mayFail = (url: string) => url.startsWith(`${origin}/api/`);

beforeAll(async () => {
  app = await startApp();
  origin = await app.server.listen({ host: '127.0.0.1', port: 0 });
  browser = await sharedBrowser();
});
afterAll(async () => {
  await app?.close();
});
beforeEach(async () => {
  view = await watched(browser, origin, mayFail, { locale: 'en-GB', viewport: { width: 480, height: 760 } });
});
afterEach(async () => {
  await view.context.close();
  expect(view.offences).toEqual([]);
});

const open = (query: string) => view.page.goto(`${origin}/hosted/reset-password${query}`);
const expectText = (text: string | RegExp) =>
  expect.poll(() => view.page.getByRole('status').innerText()).toMatch(text);
const login = ({ email }: Person, password: string) =>
  app.call('login', { provider: 'email', providerId: email, providerData: { password } });

async function type(password: string): Promise<void> {
  await view.page.getByLabel('New password', { exact: true }).fill(password);
  await view.page.getByRole('button', { name: 'Change password' }).click();
}

test('a forgotten password is replaced; opening the page changes nothing', async () => {
  const person = await app.person();
  await app.must('requestPasswordReset', { email: person.email });
  const token = await app.mailedToken(person.email);
  await open(`?token=${token}`);
  await open(`?token=${token}`);
  expect((await login(person, person.password)).ok).toBe(true);
  await photograph(view.page, 'reset-password-form');

  const chosen = `another horse ${unique()}`;
  await type('q7#Zp');
  const field = view.page.getByLabel('New password', { exact: true });
  await expect.poll(() => view.page.getByRole('alert').innerText()).toBe('Use at least 12 characters.');
  expect(await field.getAttribute('aria-describedby')).toBe('password-problem password-hint');
  await view.page.getByRole('button', { name: 'Show password' }).click();
  expect(await field.getAttribute('type')).toBe('text');
  await photograph(view.page, 'reset-password-refused');
  await type(chosen);
  await expectText(/^Your password has been changed\./);
  // This installation has no frontend and no console to go on to.
  expect(await view.page.getByRole('link').getAttribute('href')).toBe('/account');
  await photograph(view.page, 'reset-password-done');
  expect(new URL(view.page.url()).search).toBe('');
  expect(await view.page.locator('form:visible').count()).toBe(0);
  expect(await view.context.cookies()).toEqual([]);
  expect((await login(person, person.password)).code).toBe('UNAUTHENTICATED');
  expect((await login(person, chosen)).ok).toBe(true);

  await open(`?token=${token}`);
  await type(`another horse ${unique()}`);
  await expectText(/^This link is not valid or has expired\./);
});

test('a link without a token asks for nothing', async () => {
  await open('');
  await expectText(/^This link is not valid or has expired\./);
  expect(await view.page.locator('form:visible').count()).toBe(0);
});
