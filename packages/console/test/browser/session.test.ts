import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { refusals, setUpConsole, signedIn, signIn, stored, type ConsoleSetup } from '../support/console.ts';
import { watched } from '../../../server/test/browser/watched.ts';

/** The session of the console: where the token is, what other tabs notice, and what survives its end. */
let setup: ConsoleSetup;
beforeAll(async () => {
  setup = await setUpConsole();
}, 180_000);
afterAll(() => setup?.close());

test('begins with a sign-in, and leads to the page that was asked for', async () => {
  const { page, context, offences } = await watched(setup.browser, setup.service.base, refusals);
  await page.goto(`${setup.service.base}${setup.project}/roles?q=reader`);
  await signIn(page, setup.demo);
  await page.getByRole('link', { name: 'Invoice reader' }).waitFor();
  expect(new URL(page.url()).search).toBe('?q=reader');
  expect(offences).toEqual([]);
  await context.close();
});

test('keeps no token in storage, in the address or in a cookie that scripts read', async () => {
  const { page, context } = await signedIn(setup, `${setup.project}/users`);
  await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
  const kept = await stored(context);
  expect(kept).not.toMatch(/eyJ|dwr_|[Bb]earer/);
  expect(kept).toContain('doorward.console.scope');
  const [cookie] = (await context.cookies()).filter(({ name }) => name.includes('doorward_refresh'));
  expect(cookie?.httpOnly).toBe(true);
  await context.close();
});

test('goes on in a new tab and after a reload, without another sign-in', async () => {
  const { page, context } = await signedIn(setup, `${setup.project}/roles`);
  await page.getByRole('link', { name: 'Invoice reader' }).waitFor();
  await page.reload();
  await page.getByRole('link', { name: 'Invoice reader' }).waitFor();
  const second = await context.newPage();
  await second.goto(`${setup.service.base}${setup.project}/roles`);
  await second.getByRole('link', { name: 'Invoice reader' }).waitFor();
  await context.close();
});

test('ends in every tab with the sign-out in one', async () => {
  const { page, context } = await signedIn(setup, `${setup.project}/roles`);
  await page.getByRole('link', { name: 'Invoice reader' }).waitFor();
  const second = await context.newPage();
  await second.goto(`${setup.service.base}${setup.project}/roles`);
  await second.getByRole('link', { name: 'Invoice reader' }).waitFor();
  await page.locator('.user-menu summary').click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.locator('form.sign-in').waitFor();
  await second.locator('form.sign-in').waitFor();
  await context.close();
});

/** Clicks a control that calls the service, even if a dialog about an earlier refused call covers it. */
const callTheService = (page: Page): Promise<void> =>
  page.getByText('Show what changes', { exact: true }).dispatchEvent('click');

test('that ends asks for a sign-in over the page, and what was typed is still there', async () => {
  const { page, context } = await signedIn(setup, `${setup.project}/roles`);
  await page.getByRole('button', { name: 'New role' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Half a role');
  const sessions = await setup.api.myUserSessions({});
  for (const { id, isCurrent } of sessions.items) if (!isCurrent) await setup.api.revokeMyUserSession({ id });
  await callTheService(page);
  await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
  await signIn(page, setup.demo);
  await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor({ state: 'detached' });
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Half a role');
  await context.close();
});

test('of another user on the same page leaves nothing of the former one', async () => {
  const { page, context } = await signedIn(setup, `${setup.project}/roles`);
  await page.getByRole('button', { name: 'New role' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Secret plan');
  const sessions = await setup.api.myUserSessions({});
  for (const { id, isCurrent } of sessions.items) if (!isCurrent) await setup.api.revokeMyUserSession({ id });
  await callTheService(page);
  await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
  const other = { email: 'other@example.com', password: 'a long enough password' };
  const response = await fetch(`${setup.service.base}/api/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      provider: 'email',
      providerId: other.email,
      providerData: { password: other.password },
    }),
  });
  expect(response.status).toBe(201);
  await signIn(page, other);
  await page.getByRole('heading', { name: 'Where do you want to go?' }).waitFor();
  expect(await page.content()).not.toMatch(/Secret plan|Invoice reader|Bookshop/);
  await page.goto(`${setup.service.base}${setup.project}/roles`);
  await page.getByRole('heading', { name: 'Not found' }).waitFor();
  await context.close();
});

test('a wrong password is refused in the words of the service', async () => {
  const { page, context } = await watched(setup.browser, setup.service.base, refusals, { locale: 'en-GB' });
  await page.goto(`${setup.service.base}/console/`);
  await signIn(page, { email: setup.demo.email, password: 'wrong' });
  await page.getByRole('alert').waitFor();
  expect(await page.getByRole('alert').textContent()).toMatch(/\S/);
  await context.close();
});

/** A token that is as well formed as one that got too old, and refused for it. */
const oldToken = (authorization: string): string => `${authorization.slice(0, -8)}AAAAAAAA`;

test('a token that got too old in sleep makes no wrong password', async () => {
  const { page, context } = await signedIn(setup, '/console/me/security');
  const password = { currentPassword: setup.demo.password, newPassword: 'lanterns over the harbour' };
  await page.getByLabel('Current password', { exact: true }).fill(password.currentPassword);
  await page.getByLabel('New password', { exact: true }).fill(password.newPassword);
  await page.getByLabel('New password again').fill(password.newPassword);
  // Until a renewal the service sees an old token, whatever the clocks of the browser say.
  let isRenewed = false;
  await page.route('**/api/**', async (route) => {
    const headers = await route.request().allHeaders();
    if (route.request().url().endsWith('/auth/refresh')) isRenewed = true;
    const { authorization } = headers;
    await route.fallback(
      authorization && !isRenewed ? { headers: { ...headers, authorization: oldToken(authorization) } } : {},
    );
  });
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('The password is changed.').waitFor();
  expect(isRenewed).toBe(true);
  await page.unroute('**/api/**');
  // A wrong one is still refused as such.
  await page.getByLabel('Current password', { exact: true }).fill('not the password');
  await page.getByLabel('New password', { exact: true }).fill(password.newPassword);
  await page.getByLabel('New password again').fill(password.newPassword);
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('This is not your password.').waitFor();
  await context.close();
  Object.assign(setup.demo, { password: password.newPassword });
});

test('a sign-in waits for the renewal of another tab, whose cookie it replaces', async () => {
  const { page, context, requests } = await watched(setup.browser, setup.service.base, refusals);
  await page.goto(`${setup.service.base}/console/`);
  await page.locator('form.sign-in').waitFor();
  const other = await context.newPage();
  await other.goto(`${setup.service.base}/console/`);
  await other.locator('form.sign-in').waitFor();
  await other.evaluate(`new Promise((held) => navigator.locks.request('doorward-console-session', () => {
    held();
    return new Promise((release) => { window.release = release; });
  }))`);
  await signIn(page, setup.demo);
  await page.waitForFunction('navigator.locks.query().then(({ pending }) => pending.length > 0)');
  expect(requests.filter((url) => url.endsWith('/auth/login'))).toEqual([]);
  await other.evaluate('window.release()');
  await page.locator('#content').waitFor();
  expect(requests.filter((url) => url.endsWith('/auth/login'))).toHaveLength(1);
  await context.close();
});

test('the page may not be framed, and its policy allows this origin only', async () => {
  const response = await fetch(`${setup.service.base}/console/`);
  const policy = response.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(response.headers.get('cross-origin-opener-policy')).toBe('same-origin');
  expect(response.headers.get('cache-control')).toBe('no-cache');
  const asset = /\/console\/assets\/[\w-]+\.js/.exec(await response.text())?.[0] ?? '';
  const script = await fetch(`${setup.service.base}${asset}`);
  expect(script.headers.get('cache-control')).toContain('immutable');
});

test.each(['/console/nowhere', '/console/organization/not-an-id/roles', '/console/account/x'])(
  '%s is the page for what does not exist',
  async (path) => {
    const { page, context } = await signedIn(setup, path);
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    await context.close();
  },
);

test('the first load is small', async () => {
  const { page, context } = await signedIn(setup, `${setup.project}/roles`);
  await page.getByRole('link', { name: 'Invoice reader' }).waitFor();
  const fresh = await context.newPage();
  await fresh.goto(`${setup.service.base}${setup.project}/roles`);
  await fresh.getByRole('link', { name: 'Invoice reader' }).waitFor();
  const [bytes, calls] = await fresh.evaluate<[number, number]>(`(() => {
    const entries = performance.getEntriesByType('resource');
    const sizes = entries.filter(({ name }) => name.includes('/console/'));
    return [
      sizes.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
      entries.filter(({ name }) => name.includes('/api/')).length,
    ];
  })()`);
  process.stdout.write(`console: first load ${(bytes / 1000).toFixed(0)} kB, ${calls} calls\n`);
  expect(bytes).toBeLessThan(250_000);
  expect(calls).toBeLessThan(12);
  await context.close();
});
