/** Every step of every flow, reached in a real browser: what its page asks for, and what the person sees after it. */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { freePort } from '../../../../../scripts/service.ts';
import { roleIdOf } from '../../../src/schema/rights/built-in-ids.ts';
import { startApp, type TestApp } from '../../support/app/app.ts';
import { codeShown } from '../../support/sign-in/authenticator.ts';
import { unique, type Person } from '../../support/app/client.ts';
import { startGithub, type GithubDouble } from '../../support/sign-in/github.ts';
import { customerOf, grantTo, memberOf, vendorOf, type Customer } from '../../support/tenants/grants.ts';
import {
  appInProject,
  authorizePath,
  projectViewer,
  signInBrowser,
} from '../../support/sign-in/project-app.ts';
import { PasskeyDevice } from '../../support/sign-in/passkey-device.ts';
import { plugIn } from './virtual-passkey.ts';

/** The page of a step, open in a browser. */
export interface Step {
  /** Fills in the form, as often as the page comes back empty. */
  readonly fill?: (page: Page) => Promise<void>;
  /** The name of the button that sends it. */
  readonly button: string;
  /** Matches the address and the text of the page after it. */
  readonly after: RegExp;
}

type Client = Parameters<typeof signInBrowser>[1];

/** The service, two apps of a project, and the app of a vendor with two customers. */
export interface World {
  readonly app: TestApp;
  readonly origin: string;
  readonly github: GithubDouble;
  /** The site to which the answers for the apps go. */
  readonly home: string;
  readonly boards: Client;
  /** Asks for consent. */
  readonly charts: Client;
  /** Its users choose an organization. */
  readonly bills: Client;
  readonly customer: Customer;
  /** A member of both customers. */
  readonly member: Person;
  close(): Promise<void>;
}

const password = 'seven blue teapots hum';
const ways = ['password', 'email', 'passkey', 'github'] as const;

export async function startWorld(): Promise<World> {
  const github = await startGithub();
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const app = await startApp({ ...github.env, APP_URL: origin, AUTH_REGISTRATION_MODE: 'immediate' });
  await app.server.listen({ host: '127.0.0.1', port });
  const site: Server = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<title>App</title>Welcome'),
  );
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const home = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const fields = (name: string) => ({
    name,
    homepageUrl: 'https://boards.example/',
    redirectUris: [`${home}/${name}`],
    enabledProviders: [...ways],
  });
  const signUp = { allowSignUp: true, signUpRoleId: projectViewer };
  const boards = await appInProject(app, { ...fields('boards'), ...signUp, firstParty: true });
  const charts = await appInProject(app, { ...fields('charts'), ...signUp });
  const vendor = await vendorOf(app);
  const [customer, second] = [await customerOf(app), await customerOf(app)];
  for (const each of [customer, second]) await grantTo(app, vendor, each, { defaultRoleId: vendor.reader });
  const input = { scope: vendor.scope, ...fields('bills'), firstParty: true };
  const { clientId } = await app.must('createProjectApp', input, { token: vendor.token });
  const member = await memberOf(app, customer, 'Organization Viewer');
  const token = await invite(app, second, member.email);
  await app.must('acceptInvitation', { token }, { token: member.token });
  return {
    ...{ app, origin, github, home, boards, charts, customer, member },
    bills: { clientId, redirectUri: `${home}/bills` },
    async close() {
      site.closeAllConnections();
      site.close();
      await app.close();
      await github.close();
    },
  };
}

/** Returns the token of the mail. */
async function invite(app: TestApp, customer: Customer, email: string): Promise<string> {
  const input = { scope: customer.scope, email, roleId: roleIdOf('Organization Viewer') };
  await app.must('inviteMember', input, { token: customer.token });
  return app.mailedToken(email);
}

export const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** The address at which a sign-in to an app begins. */
export function startOf({ app, origin }: World, to: Client, changes: Record<string, string> = {}): string {
  const { request } = signInBrowser(app, to);
  const query = new URLSearchParams({ ...request, prompt: 'login', ...changes });
  return `${origin}${authorizePath}?${query.toString()}`;
}

async function giveAddress(page: Page, email: string): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await press(page, 'Continue').click();
}

const givePassword = (secret: string) => (page: Page) =>
  page.getByLabel('Password', { exact: true }).fill(secret);

/** To the page after the password. */
async function pastPassword(page: Page, { email, password }: Person, start: string): Promise<void> {
  await page.goto(start);
  await giveAddress(page, email);
  await givePassword(password)(page);
  await press(page, 'Sign in').click();
}

const inBoards = /\/boards\?.*code=/;
const type = (label: string, text: string | (() => string)) => (page: Page) =>
  page.getByLabel(label, { exact: true }).fill(typeof text === 'string' ? text : text());

export const steps: Record<string, (world: World, page: Page) => Promise<Step>> = {
  async password(world, page) {
    const person = await world.app.person();
    await page.goto(startOf(world, world.boards));
    await giveAddress(page, person.email);
    return { fill: givePassword(person.password), button: 'Sign in', after: inBoards };
  },

  async 'mailed code'(world, page) {
    const { email } = await world.app.person();
    await page.goto(startOf(world, world.boards));
    await giveAddress(page, email);
    await press(page, 'E-mail me a code instead').click();
    const code = await world.app.mailedCode(email);
    return { fill: type('Six-digit code', code), button: 'Continue', after: inBoards };
  },

  async 'mailed link'(world, page) {
    const { email } = await world.app.person();
    await page.goto(startOf(world, world.boards));
    await giveAddress(page, email);
    await press(page, 'E-mail me a code instead').click();
    await page.goto(`${world.origin}/api/auth/project/email?token=${await world.app.mailedToken(email)}`);
    return { button: 'Continue', after: inBoards };
  },

  async 'sign-up'(world, page) {
    await page.goto(startOf(world, world.boards));
    await page.getByRole('link', { name: 'Create an account' }).click();
    const email = `${unique()}@example.test`;
    const fill = async (at: Page) => {
      await type('Your name', 'Ada')(at);
      await type('E-mail address', email)(at);
      await type('Password', password)(at);
    };
    return { fill, button: 'Continue', after: /Check your e-mail/ };
  },

  async reset(world, page) {
    const { email } = await world.app.person();
    await page.goto(startOf(world, world.boards));
    await giveAddress(page, email);
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await press(page, 'Send code').click();
    await page.goto(`${world.origin}/api/auth/project/email?token=${await world.app.mailedToken(email)}`);
    return { fill: type('New password', password), button: 'Save password', after: /has been changed/ };
  },

  async 'second factor'(world, page) {
    const { app } = world;
    const person = await app.person();
    const { factor, secret } = await app.must('createMfaFactor', {}, { token: person.token });
    const code = () => codeShown(secret, app.clock.now());
    await app.must('verifyMfaFactor', { id: factor.id, code: code() }, { token: person.token });
    app.clock.advance(30_000);
    await pastPassword(page, person, startOf(world, world.boards));
    return { fill: type('Six-digit code', code()), button: 'Confirm', after: inBoards };
  },

  async passkey(world, page) {
    const { app, origin } = world;
    const { token } = await app.person();
    const device = new PasskeyDevice({ origin });
    const { challengeId, publicKey } = await app.must('createPasskeyOptions', {}, { token });
    await app.must('createPasskey', { challengeId, credential: device.create(publicKey) }, { token });
    const fill = await plugIn(page, device);
    await page.goto(startOf(world, world.boards));
    return { fill, button: 'Sign in with a passkey', after: inBoards };
  },

  async enrolment(world, page) {
    const start = startOf(world, world.boards, { acr_values: 'aal2', scope: 'openid' });
    await pastPassword(page, await world.app.person(), start);
    return { fill: await shownCode(world, page), button: 'Add the app', after: /Keep your recovery codes/ };
  },

  async 'recovery codes'(world, page) {
    const start = startOf(world, world.boards, { acr_values: 'aal2', scope: 'openid' });
    await pastPassword(page, await world.app.person(), start);
    await (
      await shownCode(world, page)
    )(page);
    await press(page, 'Add the app').click();
    const fill = (at: Page) => at.getByRole('checkbox').check();
    return { fill, button: 'Continue', after: inBoards };
  },

  async organization(world, page) {
    await pastPassword(page, world.member, startOf(world, world.bills));
    const button = (await page.locator('form button').first().innerText()).trim();
    return { button, after: /\/bills\?.*code=/ };
  },

  async consent(world, page) {
    await pastPassword(page, await world.app.person(), startOf(world, world.charts));
    return { button: 'Allow', after: /\/charts\?.*code=/ };
  },

  async 'provider, first sign-in'(world, page) {
    world.github.account = world.github.newAccount();
    await page.goto(startOf(world, world.charts));
    await page.getByRole('link', { name: 'Continue with GitHub' }).click();
    return { button: 'Allow', after: /\/charts\?.*code=/ };
  },

  async 'code of a device'(world, page) {
    await page.goto(`${world.origin}/device`);
    const code = await deviceCode(world);
    return { fill: type('Code', code), button: 'Continue', after: /Sign in to Acme|E-mail address/ };
  },

  async device(world, page) {
    await page.goto(`${world.origin}/device`);
    await type('Code', await deviceCode(world))(page);
    await press(page, 'Continue').click();
    const person = await world.app.person();
    await giveAddress(page, person.email);
    await givePassword(person.password)(page);
    await press(page, 'Sign in').click();
    return { button: 'Allow', after: /Your device is connected/ };
  },

  async invitation(world, page) {
    const person = await world.app.person();
    const token = await invite(world.app, world.customer, person.email);
    await page.goto(`${world.origin}/hosted/invitation?token=${token}`);
    return {
      fill: givePassword(person.password),
      button: 'Sign in and accept',
      after: /Welcome! You are now/,
    };
  },

  async 'invitation, signed in'(world, page) {
    const person = await world.app.person();
    const token = await invite(world.app, world.customer, person.email);
    await pastPassword(page, person, `${world.origin}/account/invitation?token=${token}`);
    return { button: 'Accept', after: /Welcome! You are now/ };
  },

  async 'verification of an address'(world, page) {
    const { email } = await world.app.person({ verified: false });
    await page.goto(`${world.origin}/hosted/verify-email?token=${await world.app.mailedToken(email)}`);
    return { button: 'Verify e-mail address', after: /Your e-mail address is verified/ };
  },

  async 'reset by mail'(world, page) {
    const { email } = await world.app.person();
    await world.app.must('requestPasswordReset', { email });
    await page.goto(`${world.origin}/hosted/reset-password?token=${await world.app.mailedToken(email)}`);
    return { fill: type('New password', password), button: 'Change password', after: /has been changed/ };
  },

  async connect(world, page) {
    const { app, github, origin } = world;
    github.account = github.newAccount();
    const { refreshToken: value } = await app.person();
    await page.context().addCookies([{ name: 'doorward_refresh', value, url: origin }]);
    await page.goto(`${origin}/api/auth/github?action=connect`);
    return { button: 'Connect', after: /The sign-in is complete/ };
  },

  async 'command line'(world, page) {
    const query = new URLSearchParams({
      redirect: `${world.home}/done`,
      state: 'state-of-the-cli',
      code_challenge: createHash('sha256').update(randomBytes(32)).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const start = `${world.origin}/api/auth/cli?${query.toString()}`;
    await pastPassword(page, await world.app.person(), start);
    return { button: 'Sign in', after: /\/done\?.*code=/ };
  },

  async 'end session'(world, page) {
    await pastPassword(page, await world.app.person(), startOf(world, world.boards));
    await page.waitForURL(inBoards);
    await page.goto(`${world.origin}/api/auth/project/end-session`);
    return { button: 'Sign out', after: /You are signed out/ };
  },
};

/** Fills in what an authenticator app with the secret of this page shows. */
async function shownCode({ app }: World, page: Page) {
  await page.getByText('Six-digit code').waitFor();
  const secret = ((await page.locator('code.secret').textContent()) ?? '').replaceAll(' ', '');
  return type('Six-digit code', () => codeShown(secret, app.clock.now()));
}

async function deviceCode({ app, charts }: World): Promise<string> {
  return (await app.must('authorizeProjectDevice', { client_id: charts.clientId })).user_code;
}
