/** Signing in from a page alone, in a real browser and through the hosted pages. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Person } from '../../../server/test/support/app/client.ts';
import { bundle, type AppPages } from '../support/app-pages.ts';
import type { BoardApp } from '../support/board-app.ts';
import {
  clientScript,
  expectStatus,
  inPage,
  sessionIn,
  startedIn,
  statesIn,
} from '../support/page-client.ts';
import { leave, startAppInBrowser, type AppInBrowser } from '../support/signed-in-browser.ts';

let all: AppInBrowser;
let browser: Browser;
let pages: AppPages;
let boards: BoardApp;
let user: Person;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  all = await startAppInBrowser(await bundle(clientScript));
  ({ browser, pages, boards } = all);
  user = await boards.user();
});
afterAll(() => all?.close());
beforeEach(async () => {
  context = await browser.newContext({ locale: 'en-GB' });
  page = await context.newPage();
});
afterEach(() => context.close());

async function toHostedPages(on = page): Promise<void> {
  await on.goto(`${pages.origin}/boards?view=all#top`);
  await startedIn(on);
  await leave(on, boards.origin, 'doorward.signIn()');
}

/** The address with which the hosted pages return, to a page that does not use it. */
async function callbackAddress(on = page): Promise<URL> {
  pages.hasScript = false;
  await boards.passHostedPages(on, user);
  await on.waitForURL((url) => url.pathname === '/callback');
  pages.hasScript = true;
  return new URL(on.url());
}

const storedIn = (on: Page) =>
  inPage<string>(on, 'JSON.stringify([{ ...sessionStorage }, { ...localStorage }])');

test('the user signs in, and continues where the sign-in began', async () => {
  await toHostedPages();
  await boards.passHostedPages(page, user);
  await page.waitForURL(`${pages.origin}/boards?view=all#top`);
  expect(await startedIn(page)).toEqual({ returnTo: '/boards?view=all#top' });
  const session = await sessionIn(page);
  expect(session).toMatchObject({ status: 'signedIn', user: { id: user.userId, email: user.email } });
  expect((session.expiresAt ?? 0) - Date.now()).toBeGreaterThan(14 * 60_000);

  expect(await statesIn(page, ['board:read', 'board:edit', 'board:share'])).toEqual([
    'yes',
    'conditional',
    'no',
  ]);
  expect(await inPage(page, `['board:read', 'board:edit'].map(doorward.can)`)).toEqual([true, false]);
  const own = `doorward.ask('board:edit', { resource: { ownerId: doorward.session.user.id } })`;
  const foreign = `doorward.ask('board:edit', { resource: { ownerId: 'x' } })`;
  expect(await inPage(page, `Promise.all([${own}, ${foreign}])`)).toMatchObject([
    { authorized: true, reason: 'ALLOWED_BY_CONDITION' },
    { authorized: false, reason: 'CONDITION_NOT_MET' },
  ]);
});

test('a later sign-in needs no form, and after a sign-out the pages ask who signs in', async () => {
  await toHostedPages();
  await boards.passHostedPages(page, user);
  await page.waitForURL(`${pages.origin}/boards?view=all#top`);
  await page.reload();
  await startedIn(page);
  await inPage(page, 'void doorward.signIn()');
  // An app at a loopback address is asked for consent again, since another program could receive the answer.
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.waitForURL(`${pages.origin}/boards?view=all#top`);
  await startedIn(page);
  expect(await sessionIn(page)).toMatchObject({ status: 'signedIn', user: { id: user.userId } });

  await inPage(page, 'doorward.signOut()');
  await leave(page, boards.origin, 'doorward.signIn()');
  await page.getByLabel('E-mail address').waitFor();
});

test('signing out everywhere ends the sign-in at the service, which asks first', async () => {
  await toHostedPages();
  await boards.passHostedPages(page, user);
  await page.waitForURL(`${pages.origin}/boards?view=all#top`);
  await startedIn(page);
  await leave(page, boards.origin, 'doorward.signOut({ everywhere: true })');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
  // Those of flows that are over only lead a tab that is still open back to its app.
  const names = (await context.cookies()).map(({ name }) => name);
  expect(names.filter((name) => !name.startsWith('doorward_flow_'))).toEqual([]);
});

test('nothing of the sign-in stays in the browser, and a reload of the only tab is signed out', async () => {
  await toHostedPages();
  expect(await inPage(page, 'document.referrer')).toBe('');
  await boards.passHostedPages(page, user);
  await page.waitForURL(`${pages.origin}/boards*`);
  await startedIn(page);
  expect(await storedIn(page)).toBe('[{},{}]');
  expect(
    (await context.cookies(pages.origin)).filter(({ name }) => name.includes('doorward_refresh')),
  ).toEqual([]);
  // What scripts can see of the client has no token.
  const visible = await inPage<string>(page, 'JSON.stringify([doorward, doorward.session, location.href])');
  expect(visible).not.toMatch(/eyJ|dwr_|code=/);

  await page.reload();
  expect(await startedIn(page)).toEqual({ returnTo: null });
  expect(await sessionIn(page)).toEqual({ status: 'signedOut' });
});

test('a user who cancels is signed out, with the reason', async () => {
  await toHostedPages();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.waitForURL(`${pages.origin}/callback`);
  expect(await startedIn(page)).toMatchObject({ code: 'access_denied' });
  expect(await sessionIn(page)).toMatchObject({ status: 'signedOut', error: { code: 'access_denied' } });
});

describe('an answer is refused', () => {
  test.each([
    ['with another state', 'STATE', (url: URL) => url.searchParams.set('state', 'x'.repeat(43))],
    ['without a state', 'STATE', (url: URL) => url.searchParams.delete('state')],
    ['with another issuer', 'ISSUER', (url: URL) => url.searchParams.set('iss', 'https://evil.example')],
    ['without an issuer', 'ISSUER', (url: URL) => url.searchParams.delete('iss')],
  ])('%s, before the code is used', async (_, code, change) => {
    await toHostedPages();
    const url = await callbackAddress();
    change(url);
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(url.href);
    expect(await startedIn(page)).toMatchObject({ code });
    expect(await sessionIn(page)).toMatchObject({ status: 'signedOut', error: { code } });
    expect(requests.filter((url) => url.includes('/token'))).toEqual([]);
    expect(page.url()).toBe(`${pages.origin}/callback`);
  });

  test('in a tab that did not start it; the sign-in that waits can still end', async () => {
    await toHostedPages();
    const url = await callbackAddress();
    const other = await context.newPage();
    await other.goto(url.href);
    expect(await startedIn(other)).toMatchObject({ code: 'STATE' });
    await page.goto(`${pages.origin}/callback?code=x&state=y&iss=z`);
    expect(await startedIn(page)).toMatchObject({ code: 'STATE' });
    await page.goto(url.href);
    expect(await startedIn(page)).toEqual({ returnTo: '/boards?view=all#top' });
  });

  test('with the code of another sign-in', async () => {
    const attacker = await browser.newContext({ locale: 'en-GB' });
    const theirs = await attacker.newPage();
    await toHostedPages(theirs);
    const stolen = (await callbackAddress(theirs)).searchParams.get('code') ?? '';
    await attacker.close();
    await toHostedPages();
    const url = await callbackAddress();
    url.searchParams.set('code', stolen);
    await page.goto(url.href);
    expect(await startedIn(page)).toMatchObject({ code: 'invalid_grant' });
    expect((await sessionIn(page)).status).toBe('signedOut');
  });
});

test.each([
  'https://evil.example/',
  '//evil.example/',
  '/\\evil.example',
  'javascript:alert(1)',
  '/.//evil.example',
  'data:text/html,x',
])('no sign-in returns to %s', async (address) => {
  await page.goto(`${pages.origin}/`);
  await startedIn(page);
  const answer = await inPage(page, `doorward.signIn({ returnTo: ${JSON.stringify(address)} })`);
  expect(answer).toMatchObject({ code: 'CONFIG', message: expect.stringContaining('returnTo') as string });
  expect(page.url()).toBe(`${pages.origin}/`);
  expect(await storedIn(page)).toBe('[{},{}]');
});

test('a service that does not answer fails the sign-in, and the page says so', async () => {
  await page.goto(`${pages.origin}/`);
  await startedIn(page);
  await context.route(`${boards.origin}/**`, (route) => route.abort());
  expect(await inPage(page, 'doorward.signIn()')).toMatchObject({ code: 'UNREACHABLE' });
  await context.unroute(`${boards.origin}/**`);
  await toHostedPages();
  const url = await callbackAddress();
  await context.route('**/api/auth/project/token', (route) => route.abort());
  await page.goto(url.href);
  expect(await startedIn(page)).toMatchObject({ code: 'UNREACHABLE' });
  await expectStatus(page, 'signedOut');
});

test('metadata of another issuer, or with an endpoint elsewhere, is not used', async () => {
  const address = `${boards.issuer}/.well-known/oauth-authorization-server`;
  const body = (await (await fetch(address)).json()) as Record<string, unknown>;
  const headers = { 'access-control-allow-origin': '*' };
  for (const change of [
    { issuer: 'https://evil.example' },
    { token_endpoint: 'https://evil.example/token' },
  ]) {
    await page.route(address, (route) => route.fulfill({ headers, json: { ...body, ...change } }));
    await page.goto(`${pages.origin}/`);
    await startedIn(page);
    expect(await inPage(page, 'doorward.signIn()')).toMatchObject({ code: 'BAD_ANSWER' });
    await page.unroute(address);
  }
});
