/**
 * Signing in to an app in a real browser: the built service, the app of examples/sign-in, mails as files, and a server on
 * loopback that replaces GitHub. No page of the service runs a script.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startService, type Service } from '../../../../scripts/service.ts';
import { codeShown } from '../support/sign-in/authenticator.ts';
import { unique } from '../support/app/client.ts';
import { startGithub, type GithubDouble } from '../support/sign-in/github.ts';
import { preparedDataDir } from '../support/databases/prepared-data.ts';
import { violations } from './accessibility.ts';
import { colorSchemesOf } from './looks.ts';
import { photograph, sharedBrowser, watched, type Watched } from './watched.ts';

let directory: string;
let github: GithubDouble;
let service: Service;
let client: Record<string, string>;
let example: { readonly process: ChildProcess; readonly origin: string };
let browser: Browser;
let view: Watched;
/** The e-mail address of this test; each test has its own. */
let address: string;

beforeAll(async () => {
  directory = await preparedDataDir();
  github = await startGithub();
  service = await startService({
    dataDir: directory,
    env: { ...github.env, MAIL_PROVIDER: 'file', MAIL_FILE_DIR: join(directory, 'mail') },
  });
  client = await createApp();
  example = await startExample(client);
  browser = await sharedBrowser();
}, 180_000);
afterAll(async () => {
  example?.process.kill();
  await service?.stop();
  await github?.close();
  await rm(directory, { recursive: true, force: true });
});
beforeEach(async () => {
  address = `${unique()}@example.test`;
  github.account = github.newAccount({ name: 'Grace Hopper' });
  view = await open();
});
afterEach(async () => {
  await view.context.close();
  expect(view.offences).toEqual([]);
});

const open = (options: BrowserContextOptions = {}, mayFail = (_url: string) => false) =>
  watched(browser, [service.base, github.url, example.origin], mayFail, {
    locale: 'en-GB',
    viewport: { width: 480, height: 760 },
    ...options,
  });

async function post<T>(path: string, body: object, token = ''): Promise<T> {
  const response = await fetch(`${service.base}/api${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
    body: JSON.stringify(body),
  });
  const { data } = (await response.json()) as { data: T };
  expect(response.ok, `${path}: ${JSON.stringify(data)}`).toBe(true);
  return data;
}

interface Id {
  readonly id: string;
}
interface SignedIn {
  readonly accessToken: string;
  readonly accounts: readonly Id[];
}
const register = (email: string, name: string): Promise<SignedIn> =>
  post('/auth/register', {
    provider: 'email',
    providerId: email,
    providerData: { password: `correct horse ${unique()}` },
    name,
  });

/** Changes the ways to sign in that the app offers. */
let offer: (enabledProviders: readonly string[]) => Promise<void>;

/** Creates the app as the README of the example does, and returns the environment of the example. */
async function createApp(): Promise<Record<string, string>> {
  const owner = await register('owner@example.test', 'Olga');
  const [account] = owner.accounts as [Id];
  const at = owner.accessToken;
  const project = await post<Id>(
    '/projects',
    { scope: { tenant: 'account', id: account.id }, name: 'Billing' },
    at,
  );
  const scope = { tenant: 'accountProject', id: `${account.id}:${project.id}` };
  const actions = ['read', 'approve'];
  const invoice = { scope, name: 'Invoice', slug: 'invoice', actions, createPermissions: true };
  const { permissions } = await post<{ permissions: (Id & { action: string })[] }>('/resources', invoice, at);
  const permissionIds = permissions.filter(({ action }) => action === 'read').map(({ id }) => id);
  const group = await post<Id>('/groups', { scope, name: 'Readers', permissionIds }, at);
  const role = await post<Id>('/roles', { scope, name: 'Reader', groupIds: [group.id] }, at);
  const app = await post<Id & { clientId: string }>(
    '/project-apps',
    {
      scope,
      name: 'Acme Boards',
      primaryColor: '#0a7d55',
      redirectUris: ['http://127.0.0.1:3000/callback'],
      scopes: ['invoice:read'],
      enabledProviders: ['email', 'github'],
      allowSignUp: true,
      signUpRoleId: role.id,
    },
    at,
  );
  offer = async (enabledProviders) => {
    await fetch(`${service.base}/api/project-apps/${app.id}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${at}` },
      body: JSON.stringify({ scope, enabledProviders }),
    });
  };
  return { ISSUER: `${service.base}/acc/${account.id}/prj/${project.id}`, CLIENT_ID: app.clientId };
}

async function startExample(env: Record<string, string>): Promise<typeof example> {
  const child = spawn(process.execPath, ['examples/sign-in/server.mjs'], {
    env: { PATH: process.env['PATH'], ...env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const origin = /http:\/\/\S+/.exec(line.toString())?.[0];
  if (!origin) throw new Error(`the example printed: ${line.toString()}`);
  return { process: child, origin };
}

/** Another site on loopback. */
async function listen(answer: RequestListener) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

const usedLinks = new Set<string>();
/** The link in the newest mail file to the address of this test, each of them once. */
async function mailedLink(path: string): Promise<string> {
  let link: string | undefined;
  await expect
    .poll(async () => {
      const files = await readdir(join(directory, 'mail')).catch(() => []);
      const visible = files.filter((file) => file.endsWith('.eml')).sort();
      const texts = await Promise.all(visible.map((file) => readFile(join(directory, 'mail', file), 'utf8')));
      const text = texts.findLast((text) => text.includes(`To: ${address}\n`) && text.includes(path));
      link = /http\S+token=[\w-]+/.exec(text ?? '')?.[0];
      return link !== undefined && !usedLinks.has(link);
    })
    .toBe(true);
  usedLinks.add(link as string);
  return link as string;
}

const heading = () => view.page.getByRole('heading').innerText();
const press = (name: string) => view.page.getByRole('button', { name, exact: true }).click();
const pathNow = () => new URL(view.page.url()).pathname.replace('/api/auth/project/', '');
const cookies = async () => (await view.context.cookies(service.base)).map(({ name }) => name).sort();

async function startSignIn(): Promise<void> {
  await view.page.goto(example.origin);
  await press('Sign in with Doorward');
  expect(await heading()).toBe('Sign in to Acme Boards');
}

async function requestMail(): Promise<string> {
  await view.page.getByLabel('E-mail address').fill(address);
  await press('Send code');
  expect(await heading()).toBe('Check your e-mail');
  return mailedLink('/api/auth/project/email');
}

let turn = 0;
/** Checks the page's accessibility in its color schemes, and takes screenshots. */
async function inspect(name: string): Promise<void> {
  for (const colorScheme of colorSchemesOf(turn++)) {
    await view.page.emulateMedia({ colorScheme });
    expect(await violations(view.page), `${name}, ${colorScheme}`).toEqual([]);
    await photograph(view.page, `project-${name}-${colorScheme}`);
  }
}

test('by mail: from the app through every page, and back with what was consented to', async () => {
  await startSignIn();
  await inspect('sign-in');
  const link = await requestMail();
  expect(await view.page.getByRole('status').innerText()).toContain(address);
  await inspect('mailed');

  await view.page.goto(link);
  await inspect('email');
  await press('Continue');
  expect(await heading()).toBe('Acme Boards would like to access your account');
  expect(pathNow()).toBe('consent');
  await expect.poll(() => view.page.getByRole('listitem').count()).toBe(1);
  await inspect('consent');
  await press('Allow');

  await view.page.waitForURL(`${example.origin}/`);
  expect(await view.page.getByRole('main').innerText()).toContain(`(${address})`);
  expect(await view.page.locator('#answer').innerText()).toBe('invoice:read: allowed');
  // Neither a flow nor a session of the service is left in the browser, only the sign-in for the apps of the project.
  expect(
    (await cookies()).filter((name) => name.startsWith('doorward') && !name.startsWith('doorward_flow_')),
  ).toEqual(['doorward_sso']);

  await view.page.goto(link);
  expect(await heading()).toBe('This link is no longer valid');
  await inspect('email-invalid');

  await view.page.goto(example.origin);
  await press('Sign out');
  expect(await view.page.getByRole('button').innerText()).toBe('Sign in with Doorward');
});

test('by GitHub, with pages that run no script', async () => {
  await view.context.close();
  view = await open({ javaScriptEnabled: false });
  await startSignIn();
  await view.page.getByRole('link', { name: 'Continue with GitHub' }).click();
  expect(pathNow()).toBe('consent');
  expect(await view.page.locator('.person').innerText()).toContain('Grace Hopper');
  await press('Allow');
  await view.page.waitForURL(`${example.origin}/`);
  expect(await view.page.getByRole('main').innerText()).toContain('Grace Hopper');
});

test('a sign-in cancelled at GitHub is reported, and another provider still works', async () => {
  github.account = null;
  await startSignIn();
  await view.page.getByRole('link', { name: 'Continue with GitHub' }).click();
  expect(await view.page.getByRole('alert').innerText()).toContain('You cancelled the sign-in');
  await inspect('refused-by-github');
  await requestMail();
});

test('a wrong address stays on the page and is reported beside its field', async () => {
  await startSignIn();
  // The browser accepts this address, but no mail can be sent to it.
  await view.page.getByLabel('E-mail address').fill('ada@nowhere');
  await press('Send code');
  expect(await view.page.getByRole('alert').innerText()).toContain('not a valid e-mail address');
  expect(await view.page.getByLabel('E-mail address').getAttribute('aria-invalid')).toBe('true');
  await requestMail();
});

test.each([
  ['at the consent', true],
  ['at once', false],
])('a user who cancels %s returns to the app without a code', async (_, isKnown) => {
  const addresses: string[] = [];
  view.page.on('request', (request) => addresses.push(request.url()));
  await startSignIn();
  if (isKnown) {
    await view.page.goto(await requestMail());
    await press('Continue');
    await press('Do not allow');
  } else await press('Cancel');
  await view.page.waitForURL(`${example.origin}/`);
  expect(await view.page.getByRole('status').innerText()).toBe('You did not sign in.');
  const [back] = addresses.filter((url) => url.startsWith(`${example.origin}/callback`));
  expect(new URL(back ?? '').searchParams.get('error')).toBe('access_denied');
  expect(new URL(back ?? '').searchParams.has('code')).toBe(false);
});

test('the link signs in only in the browser of the sign-in, and shows the code to type there', async () => {
  await startSignIn();
  const link = await requestMail();
  const first = view;
  view = await open();
  await view.page.goto(link);
  expect(await heading()).toBe('Enter this code where you started');
  expect(await view.page.getByRole('button').count()).toBe(0);
  await inspect('email-other-browser');
  const code = await view.page.locator('.code').innerText();
  await view.context.close();
  view = first;
  await view.page.getByLabel('Six-digit code').fill('12345');
  await press('Continue');
  expect(await view.page.getByRole('alert').innerText()).toContain('This code is wrong');
  await view.page.getByLabel('Six-digit code').fill(code);
  await press('Continue');
  expect(pathNow()).toBe('consent');
});

test('by password: signing up, forgetting it, and choosing a new one', async () => {
  await offer(['email', 'password']);
  try {
    await startSignIn();
    await view.page.getByRole('link', { name: 'Create an account' }).click();
    await inspect('sign-up');
    await view.page.getByLabel('Your name').fill('Ada Lovelace');
    await view.page.getByLabel('E-mail address').fill(address);
    const password = view.page.getByLabel('Password', { exact: true });
    await password.fill('ada lovelace');
    await press('Show password');
    expect(await password.getAttribute('type')).toBe('text');
    await press('Continue');
    expect(await view.page.getByRole('alert').innerText()).toContain('contain');
    await password.fill('four green kettles sing');
    await press('Continue');
    expect(await heading()).toBe('Check your e-mail');
    await view.page.goto(await mailedLink('/api/auth/project/email'));
    await press('Continue');
    await press('Allow');
    await view.page.waitForURL(`${example.origin}/`);
    expect(await view.page.getByRole('main').innerText()).toContain('Ada Lovelace');

    await view.context.close();
    view = await open();
    await startSignIn();
    await view.page.getByLabel('E-mail address').fill(address);
    await press('Continue');
    await inspect('methods');
    await view.page.getByLabel('Password', { exact: true }).fill('what was it');
    await press('Sign in');
    expect(await view.page.getByRole('alert').innerText()).toContain('Address or password is wrong');
    await view.page.getByRole('link', { name: 'Forgot your password?' }).click();
    expect(await view.page.getByLabel('E-mail address').inputValue()).toBe(address);
    await press('Send code');
    await inspect('reset-mailed');
    await view.page.goto(await mailedLink('/api/auth/project/email'));
    await view.page.getByLabel('New password', { exact: true }).fill('seven blue teapots hum');
    await press('Save password');
    expect(await view.page.getByRole('status').innerText()).toContain('Your password has been changed');
    await view.page.getByLabel('Password', { exact: true }).fill('seven blue teapots hum');
    await press('Sign in');
    await view.page.waitForURL(`${example.origin}/`);
    expect(await view.page.getByRole('main').innerText()).toContain('Ada Lovelace');
  } finally {
    await offer(['email', 'github']);
  }
});

test('a second factor is required: a wrong code, then the right one', async () => {
  const { accessToken } = await register(address, 'Ada');
  const token = new URL(await mailedLink('/hosted/verify-email')).searchParams.get('token');
  await post('/auth/verify-email', { token });
  const enrolled = await post<{ secret: string; factor: Id }>('/me/mfa/factors', {}, accessToken);
  const code = codeShown(enrolled.secret, new Date());
  await post(`/me/mfa/factors/${enrolled.factor.id}/verify`, { code }, accessToken);

  await startSignIn();
  await view.page.goto(await requestMail());
  await press('Continue');
  expect(await heading()).toBe('Enter your code');
  await inspect('second-factor');
  // A browser that skips the step is redirected back.
  await view.page.goto(`${service.base}/api/auth/project/consent`);
  expect(pathNow()).toBe('second-factor');

  await view.page.getByLabel('Six-digit code').fill(code);
  await press('Confirm');
  expect(await view.page.getByRole('alert').innerText()).toContain('already been used');
  await inspect('second-factor-wrong');
  await view.page.getByLabel('Six-digit code').fill(codeShown(enrolled.secret, new Date(), 1));
  await press('Confirm');
  expect(pathNow()).toBe('consent');
  await press('Allow');
  await view.page.waitForURL(`${example.origin}/`);
  expect(await view.page.locator('#answer').innerText()).toBe('invoice:read: allowed');
});

test('with the keyboard alone', async () => {
  const { page } = view;
  /** Presses Tab until the named element has the focus, then Enter. */
  const activate = async (name: string) => {
    const shown = `document.activeElement.id === ${JSON.stringify(name)} ||
      document.activeElement.textContent.trim() === ${JSON.stringify(name)}`;
    for (let tabs = 0; tabs < 12 && !(await page.evaluate(shown)); tabs++) await page.keyboard.press('Tab');
    expect(await page.evaluate(shown), name).toBe(true);
    await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
  };
  await page.goto(example.origin);
  await activate('Sign in with Doorward');
  // The browser sets the focus when it first paints the page.
  await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('email');
  await page.keyboard.type(address);
  await activate('email');
  await page.goto(await mailedLink('/api/auth/project/email'));
  await activate('Continue');
  await activate('Allow');
  await page.waitForURL(`${example.origin}/`);
  expect(await page.locator('#answer').innerText()).toBe('invoice:read: allowed');
});

test('an app may redirect from its address to another host', async () => {
  const { address: callback, close } = await listen((_request, response) =>
    response.writeHead(303, { location: example.origin }).end(),
  );
  const urlSearchParams = new URLSearchParams({
    response_type: 'code',
    client_id: client['CLIENT_ID'] ?? '',
    redirect_uri: `${callback}/callback`,
    code_challenge: 'c'.repeat(43),
    code_challenge_method: 'S256',
    state: 's',
  });
  await view.page.goto(`${service.base}/api/auth/project/authorize?${urlSearchParams.toString()}`);
  await press('Cancel');
  await view.page.waitForURL(`${example.origin}/`);
  await close();
});

test('a browser without a sign-in gets an error page', async () => {
  await view.context.close();
  view = await open({}, (url) => url.startsWith(`${service.base}/api/auth/project/`));
  for (const path of [
    'sign-in',
    'second-factor',
    'consent',
    'authorize?client_id=x&redirect_uri=https://evil.example',
  ]) {
    const answer = await view.page.goto(`${service.base}/api/auth/project/${path}`);
    expect([path, (answer?.status() ?? 0) >= 400]).toEqual([path, true]);
    expect(await heading()).toBe('Something went wrong');
  }
  expect(view.requests.filter((url) => url.includes('evil.example/'))).toEqual([]);
  await inspect('error');
});

test('no other page can frame one of ours', async () => {
  const { address: evil, close } = await listen((_request, response) => {
    const frame = `<iframe src="${service.base}/api/auth/project/sign-in"></iframe>`;
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<link rel="icon" href="data:,">${frame}`);
  });
  await startSignIn();
  const other = await watched(browser, [service.base, evil], () => false);
  await other.context.addCookies(await view.context.cookies());
  await other.page.goto(evil);
  await expect.poll(() => other.offences.join('\n')).toMatch(/frame-ancestors 'none'/);
  const texts = await Promise.all(
    other.page.frames().map((frame) => frame.evaluate<string>('document.body.innerText')),
  );
  expect(texts.join('\n')).not.toContain('Acme Boards');
  await other.context.close();
  await close();
});
