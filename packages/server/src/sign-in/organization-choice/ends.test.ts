import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';
import {
  customerOf,
  grantTo,
  memberOf,
  vendorOf,
  type Customer,
  type Vendor,
} from '../../../test/support/tenants/grants.ts';
import { firstOperator, installation, operatorEnvironment } from '../../../test/support/tenants/operators.ts';
import { redirectParameters, signInBrowser } from '../../../test/support/sign-in/project-app.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** What ends a sign-in for an organization (openid §12), and what of a user stays when they leave a project. */
let app: TestApp;
let vendor: Vendor;
let acme: Customer & { scopeOfGrant: ScopeRef };
let operator: Person;
let client: { clientId: string; redirectUri: string };

beforeAll(async () => {
  app = await startOwnApp(operatorEnvironment);
  operator = await firstOperator(app);
  vendor = await vendorOf(app);
  acme = await customer();
  const redirectUri = 'https://bills.example/callback';
  const fields = { name: 'Bills', redirectUris: [redirectUri], firstParty: true };
  const sign = { allowSignUp: true, signUpRoleId: vendor.reader };
  const made = { scope: vendor.scope, ...fields, ...sign };
  const { clientId } = await app.must('createProjectApp', made, { token: vendor.token });
  client = { clientId, redirectUri };
});
afterAll(() => app.close());

/** A customer whose members get a role by signing in. */
async function customer() {
  const made = await customerOf(app);
  const grant = await grantTo(app, vendor, made, { defaultRoleId: vendor.reader });
  return { ...made, scopeOfGrant: grant.scope };
}

/** The browser and the tokens of a sign-in; `organization` empty: the user chooses none on the page. */
async function signIn(person: Person, organization: string, browser = signInBrowser(app, client)) {
  await browser.authorize({
    scope: 'openid offline_access',
    ...(organization !== '' && { organization }),
  });
  let next = await browser.open(await browser.mail(person.email));
  if (String(next.headers.location).endsWith('/organization'))
    next = await browser.post('/api/auth/project/organization', { form_token: await browser.formToken() });
  if (String(next.headers.location).endsWith('/consent')) next = await browser.answer('approve');
  const { code } = redirectParameters(next);
  expect(code, JSON.stringify(redirectParameters(next))).toBeDefined();
  const { accessToken, refreshToken } = await app.must('projectToken', {
    grant_type: 'authorization_code',
    code: code ?? '',
    redirect_uri: client.redirectUri,
    client_id: client.clientId,
    code_verifier: browser.verifier,
  });
  return { browser, accessToken, refreshToken: refreshToken as string };
}

/** The answer of the authorization endpoint to a browser with a sign-in. */
const silently = async (browser: Awaited<ReturnType<typeof signIn>>['browser'], organization?: string) =>
  redirectParameters(
    await signInBrowser(app, client, browser).authorize({ scope: 'openid', prompt: 'none', organization }),
  );

const userInfo = async (token: string): Promise<number> =>
  (
    await app.server.inject({
      url: '/api/auth/project/user-info',
      headers: { authorization: `Bearer ${token}` },
    })
  ).statusCode;

const refresh = (refresh_token: string) =>
  app.raw('projectToken', { grant_type: 'refresh_token', refresh_token, client_id: client.clientId });

async function join(to: Customer, person: Person): Promise<void> {
  const invited = { scope: to.scope, email: person.email, roleId: roleIdOf('Organization Viewer') };
  await app.must('inviteMember', invited, { token: to.token });
  await app.must('acceptInvitation', { token: await app.mailedToken(person.email) }, { token: person.token });
}

const act = (name: 'suspendOrganization' | 'reactivateOrganization', id: string) =>
  app.must(name, { scope: installation, id, reason: 'They owe for a year' }, operator);

describe('a suspended customer', () => {
  it('is refused by token, refresh, code and name, and offered to nobody; others are not concerned', async () => {
    const bolt = await customer();
    const person = await memberOf(app, acme, 'Organization Viewer');
    await join(bolt, person);
    const signedIn = await signIn(person, bolt.id);
    const other = await signIn(person, acme.id);
    const { code = '' } = await silently(signedIn.browser, bolt.id);
    expect(code).not.toBe('');

    await act('suspendOrganization', bolt.id);
    expect(await userInfo(signedIn.accessToken)).toBe(401);
    expect((await refresh(signedIn.refreshToken)).code).toBe('INVALID_TOKEN');
    expect(await silently(other.browser, bolt.id)).toMatchObject({ error: 'access_denied' });
    expect(await userInfo(other.accessToken)).toBe(200);
    expect((await refresh(other.refreshToken)).ok).toBe(true);
    // The only one that is left needs no page.
    expect(await silently(other.browser)).toHaveProperty('code');

    await act('reactivateOrganization', bolt.id);
    expect(await silently(other.browser, bolt.id)).toHaveProperty('code');
    expect(await silently(other.browser)).toMatchObject({ error: 'interaction_required' });
  });
});

describe('who leaves a project', () => {
  const leave = (person: Person) =>
    app.must('deleteUser', { scope: vendor.scope, id: person.userId }, { token: vendor.token });

  it('loses the session of the app and of the browser', async () => {
    const person = await app.person();
    const { accessToken, refreshToken, browser } = await signIn(person, '');
    expect(await userInfo(accessToken)).toBe(200);
    expect(await silently(browser)).toHaveProperty('code');
    await leave(person);
    expect(await userInfo(accessToken)).toBe(401);
    expect((await refresh(refreshToken)).code).toBe('INVALID_TOKEN');
    expect(await silently(browser)).toMatchObject({ error: 'login_required' });
  });

  it('keeps those for a customer in which they are a member', async () => {
    const person = await app.person();
    const own = await signIn(person, '');
    await join(acme, person);
    const forAcme = await signIn(person, acme.id);
    await leave(person);
    expect(await userInfo(own.accessToken)).toBe(401);
    expect(await userInfo(forAcme.accessToken)).toBe(200);
    expect((await refresh(forAcme.refreshToken)).ok).toBe(true);
    expect(await silently(forAcme.browser, acme.id)).toHaveProperty('code');
  });

  it('keeps them as a member of the organization that owns it', async () => {
    const owner = await customerOf(app);
    const as = { token: owner.token };
    const { scope } = await app.must('createProject', { scope: owner.scope, name: 'Own' }, as);
    const person = await memberOf(app, owner, 'Organization Viewer');
    await app.must(
      'createUser',
      { scope, userId: person.userId, roleIds: [roleIdOf('Project Viewer')], metadata: {} },
      as,
    );
    const fields = { scope, name: 'Own', redirectUris: [client.redirectUri], firstParty: true };
    const { clientId } = await app.must('createProjectApp', fields, as);
    const browser = signInBrowser(app, { ...client, clientId });
    await browser.authorize({ scope: 'openid' });
    const { code = '' } = redirectParameters(await browser.open(await browser.mail(person.email)));
    const { accessToken } = await app.must('projectToken', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: client.redirectUri,
      client_id: clientId,
      code_verifier: browser.verifier,
    });
    await app.must('deleteUser', { scope, id: person.userId }, as);
    expect(await userInfo(accessToken)).toBe(200);
    await app.must('removeOrganizationMember', { scope: owner.scope, userId: person.userId }, as);
    expect(await userInfo(accessToken)).toBe(401);
  });
});
