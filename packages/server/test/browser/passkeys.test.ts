/**
 * Passkeys in a real browser, whose authenticator is virtual: added in the console, then used on the pages of an app and in the
 * console. A passkey belongs to a domain, so the service is called localhost here.
 */
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createHash, randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContextOptions, CDPSession, Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { call, freePort, mailedToken, startService, type Service } from '../../../../scripts/service.ts';
import { roleIdOf } from '../../src/schema/rights/built-in-ids.ts';
import { codeShown } from '../support/sign-in/authenticator.ts';
import { unique } from '../support/app/client.ts';
import { preparedDataDir } from '../support/databases/prepared-data.ts';
import { violations } from './accessibility.ts';
import { looksOf } from './looks.ts';
import { photograph, sharedBrowser, watched, type Watched } from './watched.ts';

let directory: string;
let service: Service;
/** The service by its name. */
let base: string;
let browser: Browser;
let view: Watched;
let device: Device;
let person: Person;
/** The site of the app, which shows the answer that it got. */
let site: { readonly origin: string; readonly close: () => void };
let clientId: string;
/** Changes the ways to sign in that the app offers. */
let offer: (enabledProviders: readonly string[]) => Promise<void>;

const everyWay = ['email', 'password', 'passkey'];

interface Person {
  readonly email: string;
  readonly password: string;
  readonly token: string;
  readonly account: string;
}

beforeAll(async () => {
  directory = await preparedDataDir();
  const port = await freePort();
  base = `http://localhost:${port}`;
  const limits = { SECURITY_RATE_LIMIT_AUTH_MAX: '1000', SECURITY_RATE_LIMIT_GENERAL_MAX: '100000' };
  const env = { APP_URL: base, AUTH_REGISTRATION_MODE: 'immediate', ...limits };
  service = await startService({ dataDir: directory, port, env });
  site = await startSite();
  await createApp();
  browser = await sharedBrowser();
}, 180_000);
afterAll(async () => {
  site?.close();
  await service?.stop();
  await rm(directory, { recursive: true, force: true });
});
beforeEach(async () => {
  person = await register();
  view = await open();
  device = await Device.in(view);
});
afterEach(async () => {
  await offer(everyWay);
  await view.context.close();
  expect(view.offences).toEqual([]);
});

/** The first renewal of the console is refused, and an act without a recent sign-in too. */
const mayFail = (url: string) => url.includes('/api/');
const open = (options: BrowserContextOptions = {}) =>
  watched(browser, [base, site.origin], mayFail, { locale: 'en-GB', ...options });

async function api<T>(path: string, body: object, token?: string, method = 'POST'): Promise<T> {
  const reply = await call<T>(`${base}/api${path}`, { body, method, ...(token ? { token } : {}) });
  expect(reply.status, `${path}: ${reply.text}`).toBeLessThan(300);
  return reply.data;
}

/** A user with a verified address, who has just signed in. */
async function register(): Promise<Person> {
  const [email, password] = [`${unique()}@example.test`, `correct horse ${unique()}`];
  const credentials = { provider: 'email', providerId: email, providerData: { password } };
  const made = await api<{ accounts: { id: string }[] }>('/auth/register', {
    ...credentials,
    name: 'Grace Hopper',
  });
  await api('/auth/verify-email', { token: await mailedToken(service.mailDir, email) });
  const { accessToken: token } = await api<{ accessToken: string }>('/auth/login', credentials);
  return { email, password, token, account: made.accounts[0]?.id ?? '' };
}

/** A site on loopback, to which the answers for the app go. */
async function startSite(): Promise<typeof site> {
  const page = '<!doctype html><html lang="en"><title>App</title><link rel="icon" href="data:,"><h1>App</h1>';
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, close: () => server.close() };
}

async function createApp(): Promise<void> {
  const { token, account } = await register();
  const place = { tenant: 'account', id: account };
  const project = await api<{ id: string }>('/projects', { scope: place, name: 'Billing' }, token);
  const scope = { tenant: 'accountProject', id: `${account}:${project.id}` };
  const app = await api<{ id: string; clientId: string }>(
    '/project-apps',
    {
      ...{ scope, name: 'Acme Boards', primaryColor: '#0a7d55', redirectUris: [`${site.origin}/callback`] },
      ...{ enabledProviders: everyWay, allowSignUp: true, signUpRoleId: roleIdOf('Project Viewer') },
    },
    token,
  );
  clientId = app.clientId;
  offer = (enabledProviders) =>
    api(`/project-apps/${app.id}`, { scope, enabledProviders }, token, 'PATCH').then(() => undefined);
}

/** The authenticator of the browser. It verifies its user without asking. */
class Device {
  private readonly cdp: CDPSession;
  private readonly id: string;

  private constructor(cdp: CDPSession, id: string) {
    this.cdp = cdp;
    this.id = id;
  }

  static async in({ context, page }: Watched): Promise<Device> {
    const cdp = await context.newCDPSession(page);
    await cdp.send('WebAuthn.enable');
    const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    return new Device(cdp, authenticatorId);
  }

  /**
   * Whether a person is at the device: they also choose the passkey that a field offers. While they are away, the device never
   * answers a request, not even after they have come back.
   */
  async attend(enabled: boolean): Promise<void> {
    await this.cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: this.id, enabled });
  }

  /** Whether they show that it is they, by a fingerprint for example; else the device refuses. */
  async verify(isUserVerified: boolean): Promise<void> {
    await this.cdp.send('WebAuthn.setUserVerified', { authenticatorId: this.id, isUserVerified });
  }

  async lose(): Promise<void> {
    await this.cdp.send('WebAuthn.clearCredentials', { authenticatorId: this.id });
  }
}

const press = (name: string) => view.page.getByRole('button', { name, exact: true }).click();
const pathNow = () => new URL(view.page.url()).pathname.split('/').at(-1);

let turn = 0;
/** Checks the page's accessibility in its looks, and takes screenshots. */
async function inspect(name: string, wide = 480, lowest?: Locator): Promise<void> {
  for (const { colorScheme, isPhone } of looksOf(turn++)) {
    await view.page.emulateMedia({ colorScheme });
    await view.page.setViewportSize({ width: isPhone ? 360 : wide, height: 760 });
    await lowest?.scrollIntoViewIfNeeded();
    expect(await violations(view.page), `${name}, ${colorScheme}`).toEqual([]);
    await photograph(view.page, `passkey-${name}${isPhone ? '-phone' : ''}-${colorScheme}`);
  }
  await view.page.setViewportSize({ width: 1000, height: 760 });
}

async function givePasswordToConsole(): Promise<void> {
  await view.page.getByLabel('E-mail address').fill(person.email);
  await view.page.getByLabel('Password', { exact: true }).fill(person.password);
  await press('Sign in');
}

async function signOut(): Promise<void> {
  await view.page.locator('.user-menu summary').click();
  await press('Sign out');
  await view.page.locator('form.sign-in').waitFor();
}

/** Signs in to the console with a password and adds a passkey; returns the recovery codes, if there are any. */
async function enrol(name = 'Laptop'): Promise<string[]> {
  const { page } = view;
  await page.goto(`${base}/console/me/security`);
  await givePasswordToConsole();
  await press('Add a passkey');
  await page.getByLabel('Name', { exact: true }).fill(name);
  await press('Continue');
  const codes = page.getByRole('dialog', { name: 'Recovery codes' });
  const text = await codes.locator('pre').innerText();
  await view.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await codes.getByRole('button', { name: 'Copy' }).click();
  await codes.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('button', { name: `Remove ${name}` }).waitFor();
  return text.split('\n');
}

/** Adds an authenticator app for the person, beside the browser. */
async function addApp(): Promise<void> {
  const { factor, secret } = await api<{ factor: { id: string }; secret: string }>(
    '/me/mfa/factors',
    { name: 'App' },
    person.token,
  );
  await api(`/me/mfa/factors/${factor.id}/verify`, { code: codeShown(secret, new Date()) }, person.token);
}

/** The first page of a new sign-in to the app. */
async function startSignIn(changes: Record<string, string> = {}): Promise<void> {
  const verifier = randomBytes(32).toString('base64url');
  const request = {
    ...{ client_id: clientId, redirect_uri: `${site.origin}/callback`, response_type: 'code', state: 's' },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    prompt: 'login',
    ...changes,
  };
  await view.page.goto(`${base}/api/auth/project/authorize?${new URLSearchParams(request).toString()}`);
}

async function isBackWithCode(): Promise<void> {
  await view.page.waitForURL(`${site.origin}/callback**`);
  expect(new URL(view.page.url()).searchParams.get('code')).toMatch(/\S/);
}

async function givePassword(): Promise<void> {
  await view.page.getByLabel('E-mail address').fill(person.email);
  await press('Continue');
  await view.page.getByLabel('Password', { exact: true }).fill(person.password);
  await press('Sign in');
}

test('is added in the console, and signs in to an app without a name', async () => {
  const { page } = view;
  expect(await enrol()).toHaveLength(10);
  await inspect('console', 1000, page.getByRole('button', { name: 'Add a passkey' }));
  await press('Rename Laptop');
  await page.getByLabel('Name', { exact: true }).fill('Work laptop');
  await press('Save');
  await page.getByRole('button', { name: 'Remove Work laptop' }).waitFor();

  await device.attend(false);
  const offered = page.waitForResponse('**/passkey/options');
  await startSignIn();
  await offered;
  await inspect('first-page');
  // Else the button could send its request to a device without a person.
  await device.attend(true);
  await press('Sign in with a passkey');
  await page.waitForURL(/\/consent\?flow=/);
  await press('Allow');
  await isBackWithCode();
});

test('is offered in the field of the address, where the browser fills it in', async () => {
  await enrol();
  await startSignIn();
  await view.page.waitForURL(/\/consent\?flow=/);
  await press('Allow');
  await isBackWithCode();
});

test('signs in to the console', async () => {
  const { page } = view;
  await enrol();
  await signOut();
  await inspect('console-sign-in', 1000);
  await press('Sign in with a passkey');
  await page.locator('.user-menu').waitFor();
  await page.goto(`${base}/console/me/security`);
  await press('Remove Laptop');
  await page.getByRole('dialog').getByRole('button', { name: 'Remove Laptop' }).click();
  await page.getByRole('table', { name: 'Passkeys' }).waitFor({ state: 'detached' });
  await signOut();
  await press('Sign in with a passkey');
  // The device still has it.
  await page.getByRole('alert').waitFor();
  expect(await page.locator('.user-menu').count()).toBe(0);
});

test('says before its removal whether the recovery codes end with it, and an app says so too', async () => {
  const { page } = view;
  await enrol();
  const dialog = page.getByRole('dialog');
  const codesEnd = dialog.getByText('your recovery codes stop working too.');
  const cancel = () => dialog.getByRole('button', { name: 'Cancel' }).click();
  await press('Remove Laptop');
  await codesEnd.waitFor();
  await cancel();

  await addApp();
  await page.reload();
  await press('Confirm with a passkey');
  await press('Remove App');
  await dialog.getByText('Your password alone lets you in then.').waitFor();
  await codesEnd.waitFor({ state: 'detached' });
  await cancel();
  await press('Remove Laptop');
  await dialog.getByText('You can no longer sign in with it.').waitFor();
  await codesEnd.waitFor({ state: 'detached' });

  await dialog.getByRole('button', { name: 'Remove Laptop' }).click();
  await page.getByRole('table', { name: 'Passkeys' }).waitFor({ state: 'detached' });
  await page.getByText('10 recovery codes are left.').waitFor();
  await press('Remove App');
  await codesEnd.waitFor();
  await dialog.getByRole('button', { name: 'Remove App' }).click();
  await page.getByText('recovery codes are left.').waitFor({ state: 'detached' });
});

test('that its device does not verify says so, and the other ways are still there', async () => {
  await enrol();
  await device.attend(false);
  await startSignIn();
  await device.verify(false);
  await device.lose();
  await device.attend(true);
  await press('Sign in with a passkey');
  await view.page.getByText('No passkey was used').waitFor();
  await inspect('unused');
  await givePassword();
  await view.page.waitForURL(/\/consent\?flow=/);
});

test('is the second factor after a password; and when it is lost, a recovery code is', async () => {
  const { page } = view;
  await offer(['password']);
  const codes = await enrol();
  await signOut();
  await addApp();
  await givePasswordToConsole();
  await page.getByRole('heading', { name: 'Second factor' }).waitFor();
  await inspect('console-second-factor', 1000);
  await press('Confirm with a passkey');
  await page.locator('.user-menu').waitFor();

  await startSignIn();
  await givePassword();
  expect(pathNow()).toBe('second-factor');
  await inspect('second-factor');
  await press('Confirm with a passkey');
  await page.waitForURL(/\/consent\?flow=/);
  await press('Allow');
  await isBackWithCode();

  await device.lose();
  await startSignIn();
  await givePassword();
  await press('Confirm with a passkey');
  await page.getByText('No passkey was used').waitFor();
  await page.getByText('Use a recovery code instead').click();
  await page.getByLabel('Recovery code').fill(codes[0] ?? '');
  await press('Confirm with a recovery code');
  await page.waitForURL('**/callback**');
  await isBackWithCode();
});

test('needs a script: without one the other ways work, and an app without others says why', async () => {
  await view.context.close();
  view = await open({ javaScriptEnabled: false });
  await startSignIn();
  expect(await view.page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0);
  await givePassword();
  expect(pathNow()).toBe('consent');
  await offer(['passkey']);
  await startSignIn();
  await view.page.getByText('your browser does not support passkeys here, or runs no scripts').waitFor();
  await view.context.close();
  view = await open();
  await startSignIn();
  await view.page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
  expect(await view.page.getByText('does not support passkeys').count()).toBe(0);
  await inspect('only');
});
