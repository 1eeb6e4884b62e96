/** Signing in with GitHub and to a command line in a real browser, with its cookies and policies. */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { freePort } from '../../../../scripts/service.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { startGithub, type GithubDouble } from '../support/sign-in/github.ts';
import { violations } from './accessibility.ts';
import { photograph, sharedBrowser, watched, type Watched } from './watched.ts';

let app: TestApp;
let github: GithubDouble;
let origin: string;
let browser: Browser;
let view: Watched;
/** The server of the command line, and the requests that it received. */
let listener: Server;
let loopback: string;
const arrived: URL[] = [];

beforeAll(async () => {
  github = await startGithub();
  // The configuration of the service contains its address, so the port is chosen first.
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  app = await startApp({ ...github.env, APP_URL: origin });
  await app.server.listen({ host: '127.0.0.1', port });
  listener = createServer((request, response) => {
    if (request.url !== '/favicon.ico') arrived.push(new URL(request.url ?? '/', loopback));
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>cli</title>Back to the terminal.');
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  loopback = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  browser = await sharedBrowser();
});
afterAll(async () => {
  await app?.close();
  await github?.close();
  listener?.closeAllConnections();
  listener?.close();
});
beforeEach(async () => {
  arrived.length = 0;
  github.account = github.newAccount({ name: 'Ada Lovelace' });
  view = await open();
});
afterEach(async () => {
  await view.context.close();
  expect(view.offences).toEqual([]);
});

const open = (options = {}) =>
  watched(browser, [origin, github.url, loopback], () => false, {
    locale: 'en-GB',
    viewport: { width: 480, height: 760 },
    ...options,
  });

const heading = () => view.page.getByRole('heading').innerText();
/** Without the cookies of flows, which outlive the flows. */
const cookies = async () =>
  (await view.context.cookies())
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('doorward_flow_'))
    .sort();

test('the browser comes back signed in, with nothing in its address', async () => {
  await view.page.goto(`${origin}/api/auth/github`);
  expect(view.page.url()).toBe(`${origin}/hosted/signed-in`);
  expect(await heading()).toBe('The sign-in is complete');
  expect(await cookies()).toEqual(['doorward_refresh']);
  await photograph(view.page, 'github-signed-in');
  // The policy of that page allows no requests; the policy of a page with a script does.
  await view.page.goto(`${origin}/hosted/verify-email`);
  const answer = await view.page.evaluate(async () => {
    const response = await fetch('/api/auth/refresh', { method: 'POST' });
    return response.status;
  });
  expect(answer).toBe(200);
});

test('the page reports a failure', async () => {
  github.account = null;
  await view.page.goto(`${origin}/api/auth/github`);
  expect(await heading()).toBe('That did not work');
  expect(await view.page.getByRole('status').innerText()).toContain('You cancelled');
  expect(await cookies()).toEqual([]);
  await photograph(view.page, 'github-refused');
});

function cli() {
  const codeVerifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    redirect: `${loopback}/done`,
    state: randomBytes(8).toString('hex'),
    code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  return { codeVerifier, query, address: `${origin}/api/auth/github?${query.toString()}` };
}

test('the user signs in the command line, without a script', async () => {
  await view.context.close();
  view = await open({ javaScriptEnabled: false });
  const { address, codeVerifier, query } = cli();
  await view.page.goto(address);
  expect(await heading()).toBe('Sign in to the command line on this computer?');
  await photograph(view.page, 'cli-question');
  await view.page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await view.page.waitForURL(`${loopback}/done?*`);
  expect(arrived).toHaveLength(1);
  const [{ searchParams }] = arrived as [URL];
  expect(searchParams.get('state')).toBe(query.get('state'));
  const code = searchParams.get('code') ?? '';
  const { user } = await app.must('exchangeCliCode', { code, codeVerifier });
  expect(user.name).toBe('Ada Lovelace');
  expect(await cookies()).toEqual([]);
});

test('the user denies, and going back shows no question', async () => {
  const { address } = cli();
  await view.page.goto(address);
  await view.page.getByRole('button', { name: 'Do not sign in' }).click();
  await view.page.waitForURL(`${loopback}/done?*`);
  expect(arrived.map(({ searchParams }) => searchParams.get('error'))).toEqual(['accessDenied']);
  await view.page.goto(`${origin}/hosted/cli-sign-in`);
  expect(await view.page.getByRole('button').count()).toBe(0);
});

/** Signs the browser in and opens the page that asks whether to connect GitHub. */
async function openConnection() {
  const person = await app.person({ name: 'Grace Hopper' });
  github.account = github.newAccount({ name: 'Grace at GitHub' });
  await view.context.addCookies([{ name: 'doorward_refresh', value: person.refreshToken, url: origin }]);
  await view.page.goto(`${origin}/api/auth/github?action=connect`);
  return person;
}

test('an account is connected if the user approves, without a script', async () => {
  await view.context.close();
  view = await open({ javaScriptEnabled: false });
  const { token, email } = await openConnection();
  expect(new URL(view.page.url()).pathname).toBe('/hosted/connect-provider');
  expect(await heading()).toBe('Connect this account?');
  const text = await view.page.getByRole('main').innerText();
  for (const shown of [github.account?.login ?? '', email, 'Grace Hopper']) expect(text).toContain(shown);
  await photograph(view.page, 'connect-question');
  const methods = async () =>
    (await app.must('myAuthenticationMethods', {}, { token })).items.map(({ provider }) => provider);
  expect(await methods()).toEqual(['email']);
  await view.page.getByRole('button', { name: 'Connect', exact: true }).click();
  await view.page.waitForURL(`${origin}/hosted/signed-in`);
  expect(await methods()).toEqual(['email', 'github']);
});

test('an account is not connected if the user denies', async () => {
  const { token } = await openConnection();
  await view.page.getByRole('button', { name: 'Do not connect' }).click();
  expect(await heading()).toBe('That did not work');
  expect((await app.must('myAuthenticationMethods', {}, { token })).totalCount).toBe(1);
});

test('the pages fit a phone and the dark colour scheme', async () => {
  for (const [name, options] of Object.entries({
    dark: { colorScheme: 'dark', locale: 'de-DE' },
    phone: { viewport: { width: 320, height: 640 }, locale: 'fr-FR' },
  })) {
    await view.context.close();
    view = await open(options);
    await view.page.goto(cli().address);
    const wide = await view.page.evaluate('document.documentElement.scrollWidth > innerWidth');
    expect(wide, name).toBe(false);
    await photograph(view.page, `cli-question-${name}`);
    await openConnection();
    expect(new URL(view.page.url()).pathname, name).toBe('/hosted/connect-provider');
    expect(await violations(view.page), name).toEqual([]);
    expect(await view.page.evaluate('document.documentElement.scrollWidth > innerWidth'), name).toBe(false);
    await photograph(view.page, `connect-question-${name}`);
    await view.page.goto(`${origin}/hosted/signed-in?error=alreadyLinked`);
    await photograph(view.page, `github-failed-${name}`);
  }
});
