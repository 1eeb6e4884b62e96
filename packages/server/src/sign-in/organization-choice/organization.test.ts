import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import {
  customerOf,
  grantTo,
  memberOf,
  vendorOf,
  type Customer,
  type Vendor,
} from '../../../test/support/tenants/grants.ts';
import {
  redirectParameters,
  signInBrowser,
  type SignInBrowser,
} from '../../../test/support/sign-in/project-app.ts';
import { visitor } from '../../../test/support/app/visitor.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** Sign-in to an app for an organization of the user (openid §12), and what its tokens reach. */
let app: TestApp;
let vendor: Vendor;
/** A customer whose members get a role by signing in, and one whose members need one. */
let acme: Customer & { grant: { id: string; scope: ScopeRef } };
let bolt: Customer & { grant: { id: string; scope: ScopeRef } };
let client: { id: string; clientId: string; redirectUri: string };

beforeAll(async () => {
  app = await startApp();
  vendor = await vendorOf(app);
  const [first, second] = [await customerOf(app), await customerOf(app)];
  acme = { ...first, grant: await grantTo(app, vendor, first, { defaultRoleId: vendor.reader }) };
  bolt = { ...second, grant: await grantTo(app, vendor, second) };
  client = await createApp();
});
afterAll(() => app.close());

async function createApp(fields: object = {}) {
  const redirectUri = 'https://bills.example/callback';
  const input = {
    scope: vendor.scope,
    name: 'Bills',
    redirectUris: [redirectUri],
    firstParty: true,
    ...fields,
  };
  const { id, clientId } = await app.must('createProjectApp', input, { token: vendor.token });
  return { id, clientId, redirectUri };
}

const member = (of: Customer) => memberOf(app, of, 'Organization Viewer');

/** A member of both customers, with a role in each. */
async function memberOfBoth(): Promise<Person> {
  const person = await member(acme);
  await join(bolt, person);
  await app.must(
    'createUser',
    { scope: bolt.grant.scope, userId: person.userId, roleIds: [vendor.writer], metadata: {} },
    { token: bolt.token },
  );
  return person;
}

async function join(customer: Customer, person: Person): Promise<void> {
  const roleId = roleIdOf('Organization Viewer');
  const invited = { scope: customer.scope, email: person.email, roleId };
  await app.must('inviteMember', invited, { token: customer.token });
  await app.must('acceptInvitation', { token: await app.mailedToken(person.email) }, { token: person.token });
}

type Changes = Record<string, string>;

/** Signs in with a mail, to the answer of the app or the page of the choice. */
async function signIn(person: Person, changes: Changes = {}, to = client) {
  const browser = signInBrowser(app, to);
  await browser.authorize({ scope: 'openid offline_access', ...changes });
  const next = await browser.open(await browser.mail(person.email));
  return { browser, next, place: String(next.headers.location) };
}

async function tokensOf({
  browser,
  next,
}: {
  browser: SignInBrowser;
  next: Awaited<ReturnType<SignInBrowser['open']>>;
}) {
  const { code = '' } = redirectParameters(next);
  const { accessToken, refreshToken, idToken } = await app.must('projectToken', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: client.redirectUri,
    client_id: client.clientId,
    code_verifier: browser.verifier,
  });
  return {
    token: accessToken,
    refreshToken: refreshToken as string,
    claims: decodeJwt(accessToken),
    idToken: decodeJwt(idToken as string),
  };
}

const choose = async (browser: SignInBrowser, organization: string) =>
  browser.post('/api/auth/project/organization', { organization, form_token: await browser.formToken() });

const refresh = (refresh_token: string) =>
  app.raw('projectToken', { grant_type: 'refresh_token', refresh_token, client_id: client.clientId });

const status = async (token: string, scope: ScopeRef) =>
  (await app.call('users', { scope }, { token })).status;
const mayRead = (token: string, scope: ScopeRef, via: 'rest' | 'graphql' = 'rest') =>
  app.raw('isAuthorized', { scope, permission: { resource: 'invoice', action: 'read' } }, { token, via });

describe('a member of one customer', () => {
  it('signs in for it, and gets its default role, scope and claims', async () => {
    const person = await member(acme);
    const { token, claims, idToken } = await tokensOf(await signIn(person));
    const { name } = await app.must(
      'organization',
      { scope: acme.scope, id: acme.id },
      { token: acme.token },
    );
    for (const said of [claims, idToken]) expect(said).toMatchObject({ org_id: acme.id, org_name: name });
    expect(claims['scope']).toEqual(acme.grant.scope);
    expect((await mayRead(token, acme.grant.scope)).data).toMatchObject({ authorized: true });
    const info = await app.server.inject({
      url: '/api/auth/project/user-info',
      headers: { authorization: `Bearer ${token}` },
    });
    expect(info.json()).toMatchObject({ org_id: acme.id, org_name: name });
    const users = await app.must(
      'projectGrantUsers',
      { scope: vendor.scope, id: acme.grant.id },
      { token: vendor.token },
    );
    const user = users.items.find(({ userId }) => userId === person.userId);
    const signedInAt = new Date(Number(idToken['auth_time']) * 1000);
    expect(user).toMatchObject({ roleIds: [vendor.reader], lastSignInAt: expect.any(String) as string });
    expect(new Date(user?.lastSignInAt ?? '').getTime() - signedInAt.getTime()).toBeLessThan(1000);
  });

  it('needs a role where the grant has no default role', async () => {
    const { next } = await signIn(await member(bolt));
    expect(redirectParameters(next)).toMatchObject({ error: 'access_denied' });
  });

  it('does not exceed the number of users', async () => {
    const small = await customerOf(app);
    await grantTo(app, vendor, small, { defaultRoleId: vendor.reader, maxUsers: 1 });
    const [first, second] = [await member(small), await member(small)];
    expect(redirectParameters((await signIn(first)).next)).toHaveProperty('code');
    expect(redirectParameters((await signIn(second)).next)).toMatchObject({ error: 'access_denied' });
    expect(redirectParameters((await signIn(first)).next)).toHaveProperty('code');
  });

  it('reads in introspection which organization it is', async () => {
    const confidential = await app.must(
      'createProjectApp',
      { scope: vendor.scope, name: 'Server', redirectUris: [client.redirectUri], confidential: true },
      { token: vendor.token },
    );
    const { token } = await tokensOf(await signIn(await member(acme)));
    const asked = await app.must('introspectProjectToken', {
      token,
      client_id: confidential.clientId,
      client_secret: confidential.clientSecret as string,
    });
    expect(asked).toMatchObject({ active: true, org_id: acme.id });
  });
});

describe('a member of several', () => {
  it.each(['acme', 'bolt'] as const)('chooses %s on a page', async (which) => {
    const chosen = { acme, bolt }[which];
    const signedIn = await signIn(await memberOfBoth());
    expect(signedIn.place).toMatch(/\/api\/auth\/project\/organization$/);
    expect((await signedIn.browser.page()).body).toContain(`value="${acme.id}"`);
    const next = await choose(signedIn.browser, chosen.id);
    const { claims } = await tokensOf({ browser: signedIn.browser, next });
    expect(claims).toMatchObject({ org_id: chosen.id, scope: chosen.grant.scope });
  });

  it('changes it later without a page, by id or slug, and prompt=none needs a name', async () => {
    const person = await memberOfBoth();
    const { browser } = await signIn(person, { organization: acme.id });
    const { slug } = await app.must(
      'organization',
      { scope: bolt.scope, id: bolt.id },
      { token: bolt.token },
    );
    const again = (changes: Changes) => {
      const tab = signInBrowser(app, client, browser);
      return tab.authorize({ scope: 'openid', ...changes }).then((next) => ({ browser: tab, next }));
    };
    expect((await tokensOf(await again({ organization: slug }))).claims).toMatchObject({ org_id: bolt.id });
    expect((await tokensOf(await again({ organization: acme.id, prompt: 'none' }))).claims).toMatchObject({
      org_id: acme.id,
    });
    expect(redirectParameters((await again({ prompt: 'none' })).next)).toMatchObject({
      error: 'interaction_required',
    });
    const { next } = await again({});
    expect(String(next.headers.location)).toMatch(/\/organization$/);
  });

  it('also chooses no organization as a user of the project itself', async () => {
    const person = await app.person();
    const open = await createApp({ allowSignUp: true, signUpRoleId: vendor.writer });
    const joining = await signIn(person, {}, open);
    expect(redirectParameters(joining.next)).toHaveProperty('code');
    await join(acme, person);
    const signedIn = await signIn(person);
    expect(signedIn.place).toMatch(/\/organization$/);
    const { claims } = await tokensOf({
      browser: signedIn.browser,
      next: await choose(signedIn.browser, ''),
    });
    expect(claims).toMatchObject({ scope: vendor.scope });
    expect(claims).not.toHaveProperty('org_id');
  });
});

describe('who is not a member', () => {
  it('gets the same answer as for an organization that does not exist', async () => {
    const person = await member(acme);
    const { slug } = await app.must(
      'organization',
      { scope: bolt.scope, id: bolt.id },
      { token: bolt.token },
    );
    const names = [bolt.id, slug, '00000000-0000-4000-8000-000000000000', 'no-such-organization', 'Ü'];
    const { browser } = await signIn(person);
    for (const organization of names) {
      for (const prompt of ['none', undefined]) {
        const tab = signInBrowser(app, client, browser);
        const answer = redirectParameters(await tab.authorize({ organization, prompt }));
        expect(answer).toMatchObject({ error: 'access_denied' });
      }
      const { next } = await signIn(person, { organization });
      const { state: _, ...answer } = redirectParameters(next);
      expect(answer).toEqual({ error: 'access_denied', iss: expect.any(String) as string });
    }
  });

  it('cannot choose what the page does not offer', async () => {
    const stranger = await customerOf(app);
    await grantTo(app, vendor, stranger, { defaultRoleId: vendor.reader });
    for (const organization of [stranger.id, '', 'x']) {
      const { browser } = await signIn(await memberOfBoth());
      expect(redirectParameters(await choose(browser, organization))).toMatchObject({
        error: 'access_denied',
      });
    }
  });
});

describe.each(storyTransports(import.meta))('a token for one organization, over %s', (via) => {
  it('reaches no other', async () => {
    const person = await memberOfBoth();
    const { token } = await tokensOf(await signIn(person, { organization: acme.id }));
    expect((await mayRead(token, acme.grant.scope, via)).data).toMatchObject({ authorized: true });
    for (const scope of [bolt.grant.scope, vendor.scope]) {
      expect((await mayRead(token, scope, via)).data).not.toMatchObject({ authorized: true });
      expect((await app.raw('users', { scope }, { token, via })).code).toBe('FORBIDDEN');
    }
  });
});

describe('the end', () => {
  const ends: Record<string, (person: Person, customer: typeof acme) => Promise<unknown>> = {
    'of the membership': (person, { scope, token }) =>
      app.must('removeOrganizationMember', { scope, userId: person.userId }, { token }),
    'of the last role': (person, { grant, token }) =>
      app.must('deleteUser', { scope: grant.scope, id: person.userId }, { token }),
    'of the grant': (_, { grant }) =>
      app.must('revokeProjectGrant', { scope: vendor.scope, id: grant.id }, { token: vendor.token }),
    'of the grant for a while': (_, { grant }) =>
      app.must('suspendProjectGrant', { scope: vendor.scope, id: grant.id }, { token: vendor.token }),
    'by the customer': (_, { grant, scope, token }) =>
      app.must('leaveProjectGrant', { scope, id: grant.id }, { token }),
    'of the organization': (_, { scope, id, token }) =>
      app.must('deleteOrganization', { scope, id }, { token }),
  };
  it.each(Object.keys(ends))('%s ends tokens and refresh', async (what) => {
    const own = await customerOf(app);
    const grant = await grantTo(app, vendor, own, { roleIds: [vendor.reader] });
    const customer = { ...own, grant };
    const person = await member(own);
    await app.must(
      'createUser',
      { scope: grant.scope, userId: person.userId, roleIds: [vendor.reader], metadata: {} },
      { token: own.token },
    );
    const { token, refreshToken } = await tokensOf(await signIn(person));
    const renewed = await refresh(refreshToken);
    expect(decodeJwt((renewed.data as { accessToken: string }).accessToken)).toMatchObject({
      org_id: own.id,
    });
    expect(await status(token, grant.scope)).not.toBe(401);
    await ends[what]?.(person, customer);
    expect(await status(token, grant.scope)).toBe(401);
    const next = (renewed.data as { refreshToken: string }).refreshToken;
    expect((await refresh(next)).code).toBe('INVALID_TOKEN');
  });
});

describe('the default role of a grant', () => {
  it('is one of its roles', async () => {
    const base = {
      scope: vendor.scope,
      email: `${unique()}@example.test`,
      name: 'X',
      roleIds: [vendor.reader],
    };
    const as = { token: vendor.token };
    const wrong = await app.call('createProjectGrant', { ...base, defaultRoleId: vendor.writer }, as);
    expect(wrong).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
    const { id, defaultRoleId } = await app.must(
      'createProjectGrant',
      { ...base, defaultRoleId: vendor.reader },
      as,
    );
    expect(defaultRoleId).toBe(vendor.reader);
    const change = (fields: object) =>
      app.call('updateProjectGrant', { scope: vendor.scope, id, ...fields }, as);
    expect((await change({ roleIds: [vendor.writer] })).code).toBe('VALIDATION_ERROR');
    expect((await change({ roleIds: [vendor.writer], defaultRoleId: null })).status).toBe(200);
    expect((await change({ defaultRoleId: vendor.reader })).code).toBe('VALIDATION_ERROR');
  });
});

describe('a device', () => {
  it('names the organization', async () => {
    const person = await memberOfBoth();
    const codes = await app.must('authorizeProjectDevice', {
      client_id: client.clientId,
      scope: 'openid',
      organization: bolt.id,
    });
    const browser = signInBrowser(app, client, visitor(app.server));
    await browser.post('/api/auth/project/device/enter', { user_code: codes.user_code });
    await browser.finish(person.email);
    const { accessToken } = await app.must('projectToken', {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: codes.device_code,
      client_id: client.clientId,
    });
    expect(decodeJwt(accessToken)).toMatchObject({ org_id: bolt.id, scope: bolt.grant.scope });
  });
});
