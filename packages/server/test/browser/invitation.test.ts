/** The page of an invitation in a real browser: what it shows, and that registering and signing in both accept it. */
import { and, eq, isNull } from 'drizzle-orm';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { roleIdOf } from '../../src/schema/rights/built-in-ids.ts';
import { sessions } from '../../src/schema/sign-in/session.ts';
import { users } from '../../src/schema/people/user.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { unique, type Person } from '../support/app/client.ts';
import { photograph, sharedBrowser, watched, type Watched } from './watched.ts';

const organization = 'Acme <img src=x onerror=alert(1)> {role}';

let app: TestApp;
let origin: string;
let owner: Person;
let scope: ScopeRef;
let browser: Browser;
let view: Watched;

/** Errors of the API that the page has to report. */
const mayFail = (url: string) => url.startsWith(`${origin}/api/`);

beforeAll(async () => {
  app = await startApp();
  origin = await app.server.listen({ host: '127.0.0.1', port: 0 });
  owner = await app.person({ type: 'organization', name: 'Olga' });
  const made = await app.must(
    'createOrganization',
    { scope: owner.account, name: organization, slug: 'acme' },
    { token: owner.token },
  );
  scope = { tenant: 'organization', id: made.id };
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

async function invited(email: string): Promise<{ id: string; token: string }> {
  const input = { scope, email, roleId: roleIdOf('Organization Viewer') };
  const { id } = await app.must('inviteMember', input, { token: owner.token });
  return { id, token: await app.mailedToken(email) };
}

/** Opens the address of the link in the mail. */
async function open(token: string): Promise<void> {
  await view.page.goto(`${origin}/hosted/invitation?token=${token}`);
  await view.page.locator('form:visible, #outcome:not(:empty)').first().waitFor();
}

const outcome = () => view.page.getByRole('status');
const press = (name: string) => view.page.getByRole('button', { name }).click();
const statusOf = async (id: string) =>
  (await app.must('organizationInvitations', { scope, ids: [id] }, { token: owner.token })).items[0]?.status;
/** The number of open sessions of a user. */
const sessionsOf = async (email: string): Promise<number> =>
  (
    await app.database.pool
      .select({ id: sessions.id })
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.userId))
      .where(and(eq(users.email, email), isNull(sessions.endedAt)))
  ).length;

test('a new user registers and becomes a member; opening the page changes nothing', async () => {
  const email = `${unique()}@example.test`;
  const { id, token } = await invited(email);
  await open(token);
  await open(token);
  expect(await statusOf(id)).toBe('pending');
  // A name is text even if it looks like markup, and cannot bring a placeholder.
  expect(await view.page.locator('#offer').innerText()).toBe(
    `Olga invited you to join the organization “${organization}” with the role “Organization Viewer”. If you do not know who this is, close this page; nothing happens then.`,
  );
  expect(await view.page.locator('img').count()).toBe(1);
  expect(await view.page.locator('#register').getByLabel('E-mail address').inputValue()).toBe(email);
  await photograph(view.page, 'invitation-register');

  await view.page.getByLabel('Your name').fill('Nils');
  await view.page.getByLabel('Choose a password').fill('q7#Zp');
  await press('Create account and accept');
  await expectText('This is too short.');
  await view.page.getByLabel('Choose a password').fill(`correct horse ${unique()}`);
  await press('Create account and accept');
  await expectText(`Welcome! You are now a member of “${organization}”.`);
  expect(await view.page.getByRole('link', { name: 'Continue' }).getAttribute('href')).toBe('/account');
  await photograph(view.page, 'invitation-done');
  expect(new URL(view.page.url()).search).toBe('');
  expect(await statusOf(id)).toBe('accepted');
  await expect.poll(() => sessionsOf(email)).toBe(0);
  expect(await view.context.cookies()).toEqual([]);

  await open(token);
  await expectText('This invitation has already been accepted or is no longer valid.');
});

test('a user signs in and is a member', async () => {
  const person = await app.person();
  const { id, token } = await invited(person.email);
  await open(token);
  const before = await sessionsOf(person.email);
  await view.page.getByLabel('Password', { exact: true }).fill('not the password');
  await press('Sign in and accept');
  await expectText('The password is wrong.');
  expect(await view.page.locator('#password:focus').count()).toBe(1);
  await photograph(view.page, 'invitation-sign-in');
  const otherWay = view.page.getByRole('link', { name: 'Sign in without a password' });
  const { pathname, search } = new URL((await otherWay.getAttribute('href')) ?? '', origin);
  expect(pathname + search).toBe(
    `/account/invitation?${new URLSearchParams({ token, login_hint: person.email }).toString()}`,
  );
  await view.page.getByLabel('Password', { exact: true }).fill(person.password);
  await view.page.keyboard.press('Enter');
  await expectText(`Welcome! You are now a member of “${organization}”.`);
  expect(await statusOf(id)).toBe('accepted');
  await expect.poll(() => sessionsOf(person.email)).toBe(before);
});

test('a user with an unverified address verifies it and needs no second account', async () => {
  const person = await app.person({ verified: false });
  const verification = await app.mailedToken(person.email);
  const { token } = await invited(person.email);
  await open(token);
  await press('I already have an account');
  await view.page.getByLabel('Password', { exact: true }).fill(person.password);
  await press('Sign in and accept');
  await expectText(/^Verify your e-mail address first/);
  await app.must('verifyEmail', { token: verification });
  await view.page.getByLabel('Password', { exact: true }).fill(person.password);
  await press('Sign in and accept');
  await expectText(/^Welcome!/);
});

test('an invalid link is reported', async () => {
  await open('x'.repeat(43));
  await expectText('This link is not valid. Ask the person who invited you for a new one.');
  await open('');
  await expectText('This link is not valid. Ask the person who invited you for a new one.');
  const person = await app.person();
  const { id, token } = await invited(person.email);
  await open(token);
  await app.must('revokeInvitation', { scope, id }, { token: owner.token });
  await view.page.getByLabel('Password', { exact: true }).fill(person.password);
  await press('Sign in and accept');
  await expectText('This link is not valid. Ask the person who invited you for a new one.');
  expect(await view.page.locator('form:visible').count()).toBe(0);
});

async function expectText(text: string | RegExp): Promise<void> {
  const whole = typeof text === 'string' ? text : (expect.stringMatching(text) as unknown);
  await expect.poll(() => outcome().innerText()).toEqual(whole);
}
