/**
 * Company sign-in in a real browser: from the address to the page of the company, its provider, and back in the app; then
 * an organization that insists on it, and an address that is not of its domain. The provider and the app are on loopback.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { freePort } from '../../../../scripts/service.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { unique, type Person } from '../support/app/client.ts';
import { connected, type Connected } from '../support/databases/connections.ts';
import { grantTo, vendorOf, type Vendor } from '../support/tenants/grants.ts';
import { closed } from '../support/app/loopback.ts';
import { startOpenidProvider, type OpenidDouble } from '../support/sign-in/openid-provider.ts';
import { violations } from './accessibility.ts';
import { colorSchemesOf } from './looks.ts';
import { photograph, sharedBrowser, watched, type Watched } from './watched.ts';

let provider: OpenidDouble;
let site: { readonly origin: string; readonly server: Server };
let app: TestApp;
let origin: string;
let vendor: Vendor;
let shop: { readonly clientId: string; readonly redirectUri: string };
let acme: Connected;
let browser: Browser;
let view: Watched;
let asked: Set<string>;

beforeAll(async () => {
  provider = await startOpenidProvider();
  site = await startSite();
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  app = await startApp({ APP_URL: origin, CONNECTIONS_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8' });
  await app.server.listen({ host: '127.0.0.1', port });
  vendor = await vendorOf(app);
  const redirectUri = `${site.origin}/callback`;
  const { clientId } = await app.must(
    'createProjectApp',
    {
      ...{ scope: vendor.scope, name: 'Billing', redirectUris: [redirectUri], primaryColor: '#0a7d55' },
      enabledProviders: ['email', 'password'],
    },
    { token: vendor.token },
  );
  shop = { clientId, redirectUri };
  acme = await connected(app, provider);
  await grantTo(app, vendor, acme, { defaultRoleId: vendor.reader });
  browser = await sharedBrowser();
});
afterAll(async () => {
  await app?.close();
  await provider?.close();
  await closed(site.server);
});
beforeEach(async () => {
  view = await watched(browser, [origin, provider.issuer, site.origin], () => false, {
    locale: 'en-GB',
    ...desk,
  });
  asked = new Set();
  view.context.on('request', (request) => asked.add(new URL(request.url()).origin));
});
afterEach(async () => {
  await view.context.close();
  expect(sites().filter((each) => ![origin, provider.issuer, site.origin].includes(each))).toEqual([]);
  expect(view.offences).toEqual([]);
});

const desk = { viewport: { width: 480, height: 760 } };
const phone = { width: 320, height: 640 };

/** The app: it shows which answer it got. */
async function startSite(): Promise<typeof site> {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://app');
    const what = searchParams.has('code') ? 'Signed in' : `Refused: ${searchParams.get('error')}`;
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(
        `<!doctype html><html lang="en"><title>Billing</title><link rel="icon" href="data:,"><h1>${what}</h1>`,
      );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

const verifier = randomBytes(32).toString('base64url');

/** The app sends the browser to the sign-in. */
async function begin({ page }: Watched = view): Promise<void> {
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: shop.clientId, redirect_uri: shop.redirectUri, state: 'x' },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  await page.goto(`${origin}/api/auth/project/authorize?${query.toString()}`);
}

const press = (name: string) => view.page.getByRole('button', { name, exact: true }).click();
const addressAt = ({ domain }: Connected) => `${unique()}@${domain}`;
const toProvider = () => view.page.getByRole('link', { name: 'Continue with Acme ID' }).click();

async function giveAddress(address: string): Promise<void> {
  await view.page.getByLabel('E-mail address').fill(address);
  await press('Continue');
}

let turn = 0;
/** Checks the page's accessibility in its color schemes, every second page at phone width, and takes screenshots. */
async function keep(name: string, { page }: { readonly page: Page } = view): Promise<void> {
  const isPhoneFirst = turn % 4 > 1;
  for (const colorScheme of colorSchemesOf(turn++)) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(isPhoneFirst ? phone : desk.viewport);
    expect(await violations(page), `${name}, ${colorScheme}`).toEqual([]);
    await photograph(page, `company-journey-${name}-${colorScheme}`);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(phone);
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), name).toBe(false);
  await photograph(page, `company-journey-${name}-phone`);
  await page.setViewportSize(desk.viewport);
}

/** Which sites the browser asked, in the order of their first request; also by a redirect, where nothing can stop it. */
const sites = () => [...asked];

const memberAt = async (email: string) =>
  (
    await app.must('organizationMembers', { scope: acme.scope, limit: 100 }, { token: acme.token })
  ).items.find(({ user }) => user?.email === email);

const enforce = (enforced: boolean) =>
  app.must(
    'updateOrganizationConnection',
    { scope: acme.scope, id: acme.connectionId, enforced },
    { token: acme.token },
  );

/** A member who has a password, and an address in the domain of the organization. */
async function memberWithPassword(): Promise<Person> {
  const person = await app.person({ email: addressAt(acme), name: 'Grace Hopper' });
  const { defaultRoleId: roleId } = await app.must(
    'organizationConnection',
    { scope: acme.scope, id: acme.connectionId },
    { token: acme.token },
  );
  await app.must('inviteMember', { scope: acme.scope, email: person.email, roleId }, { token: acme.token });
  await app.must('acceptInvitation', { token: await app.mailedToken(person.email) }, { token: person.token });
  return person;
}

test('an address leads to the company, its provider and back to the app', async () => {
  const address = addressAt(acme);
  provider.person = provider.newPerson({ email: address, name: 'Ada Lovelace' });
  await begin();
  await keep('address');
  await giveAddress(address);
  await keep('company');
  await toProvider();
  await view.page.getByRole('heading', { name: 'Billing would like to access your account' }).waitFor();
  await keep('consent');
  await press('Allow');
  await view.page.getByRole('heading', { name: 'Signed in' }).waitFor();
  await photograph(view.page, 'company-journey-app');
  expect(await memberAt(address)).toBeDefined();
  expect(sites()).toEqual([origin, provider.issuer, site.origin]);
});

test('by keyboard alone', async () => {
  const address = addressAt(acme);
  provider.person = provider.newPerson({ email: address });
  await begin();
  await expect.poll(() => view.page.evaluate('document.activeElement.id')).toBe('email');
  await view.page.keyboard.type(address);
  await view.page.keyboard.press('Enter');
  await view.page.getByRole('link', { name: 'Continue with Acme ID' }).waitFor();
  const focused = () => view.page.locator(':focus').innerText();
  // After the link to another address.
  for (let step = 0; step < 2; step++) await view.page.keyboard.press('Tab');
  expect(await focused()).toBe('Continue with Acme ID');
  await view.page.keyboard.press('Enter');
  const allow = view.page.getByRole('button', { name: 'Allow', exact: true });
  await allow.waitFor();
  await view.page.keyboard.press('Tab');
  expect(await focused()).toBe('Allow');
  await view.page.keyboard.press('Enter');
  await view.page.getByRole('heading', { name: 'Signed in' }).waitFor();
});

test('an organization that insists leads a member with a password to its provider', async () => {
  const person = await memberWithPassword();
  await enforce(true);
  await begin();
  await giveAddress(person.email);
  await keep('enforced');
  await view.page.locator('summary').click();
  await view.page.getByLabel('Password', { exact: true }).fill(person.password);
  await press('Sign in');
  await view.page.getByRole('alert').filter({ hasText: 'To reach this organization' }).waitFor();
  await keep('required');
  expect(sites()).toEqual([origin]);

  provider.person = provider.newPerson({ email: person.email, name: 'Grace Hopper' });
  await toProvider();
  // They had the address before, so they prove it once.
  const code = view.page.getByLabel('Code', { exact: false }).first();
  await code.waitFor();
  await keep('connects');
  await code.fill(await app.mailedCode(person.email));
  await view.page.keyboard.press('Enter');
  await press('Allow');
  await view.page.getByRole('heading', { name: 'Signed in' }).waitFor();
  expect(sites()).toEqual([origin, provider.issuer, site.origin]);
  await enforce(false);
});

test('the provider cannot vouch for an address of another domain', async () => {
  const address = addressAt(acme);
  const foreign = `${unique()}@elsewhere.example`;
  provider.person = provider.newPerson({ email: foreign });
  await begin();
  await giveAddress(address);
  await toProvider();
  await view.page
    .getByRole('alert')
    .filter({ hasText: 'did not name an address that belongs to your organization' })
    .waitFor();
  await keep('foreign');
  expect([await memberAt(foreign), await memberAt(address)]).toEqual([undefined, undefined]);
  await press('Cancel');
  await view.page.getByRole('heading', { name: 'Refused: access_denied' }).waitFor();
  expect(sites()).toEqual([origin, provider.issuer, site.origin]);
});
