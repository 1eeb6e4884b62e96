import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { joinOrganization } from '../../../../test/decisions/memberships.ts';
import { startApp, type TestApp } from '../../../../test/support/app.ts';
import { codeShown } from '../../../../test/support/authenticator.ts';
import { transports, unique, type Person } from '../../../../test/support/client.ts';
import { connected, type Connected } from '../../../../test/support/connections.ts';
import { grantTo, memberOf, vendorOf, type Vendor } from '../../../../test/support/grants.ts';
import { startOpenidProvider, type OpenidDouble } from '../../../../test/support/openid-provider.ts';
import {
  redirectParameters,
  signInBrowser,
  type SignInBrowser,
} from '../../../../test/support/project-app.ts';
import { visitor } from '../../../../test/support/visitor.ts';
import { roleIdOf } from '../../../access/built-in.ts';
import { rowsOf } from '../../../db/query/rows.ts';

/** Sessions for which the provider of an organization vouched, and organizations that insist on it. */
const frontend = 'https://console.example.test';
let app: TestApp;
let provider: OpenidDouble;
let vendor: Vendor;
let shop: { readonly clientId: string; readonly redirectUri: string };
let desk: { readonly clientId: string; readonly redirectUri: string };

beforeAll(async () => {
  provider = await startOpenidProvider();
  app = await startApp({
    IDENTITY_PROVIDERS: JSON.stringify([provider.entry]),
    FEDERATION_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
    SECURITY_ADDITIONAL_ORIGINS: frontend,
  });
  vendor = await vendorOf(app);
  const make = async (name: string) => {
    const redirectUri = `https://${name.toLowerCase()}.example/callback`;
    const fields = { name, redirectUris: [redirectUri], enabledProviders: ['email' as const] };
    const { clientId } = await app.must(
      'createProjectApp',
      { scope: vendor.scope, ...fields },
      { token: vendor.token },
    );
    return { clientId, redirectUri };
  };
  [shop, desk] = [await make('Shop'), await make('Desk')];
});
afterAll(async () => {
  await app.close();
  await provider.close();
});
beforeEach(() => {
  provider.person = null;
});

async function company(): Promise<Connected> {
  const customer = await connected(app, provider);
  await grantTo(app, vendor, customer, { defaultRoleId: vendor.reader });
  return customer;
}
const addressAt = ({ domain }: Connected) => `${unique()}@${domain}`;

/** To the provider as this person, and back to the page at the end. */
async function throughProvider(
  browser: Pick<SignInBrowser, 'get' | 'post'>,
  { connectionId }: Connected,
  address: string,
) {
  provider.person = provider.newPerson({ email: address, sub: `sub of ${address}` });
  const begun = await browser.get(`/api/auth/project/connections/${connectionId}`);
  expect(begun.statusCode, begun.body).toBe(302);
  return browser.get(await provider.visit(String(begun.headers.location)));
}

/** A session of this service through the connection; returns its token. */
async function boundSession(at: Connected, address: string, browser = visitor(app.server)): Promise<string> {
  await browser.get(`/api/auth/sign-in?redirect=${encodeURIComponent(frontend)}`);
  await browser.post('/api/auth/flow/identifier', { email: address });
  const back = await throughProvider(browser, at, address);
  expect(back.headers.location).toBe(frontend);
  const renewed = await app.server.inject({
    method: 'POST',
    url: '/api/auth/refresh',
    headers: { cookie: `doorward_refresh=${browser.cookies.get('doorward_refresh')}`, origin: frontend },
    payload: {},
  });
  return renewed.json<{ data: { accessToken: string } }>().data.accessToken;
}

/** A session by password with a second factor. */
async function withFactor(person: Person): Promise<string> {
  const { token } = person;
  const { factor, secret } = await app.must('createMfaFactor', {}, { token });
  await app.must('verifyMfaFactor', { id: factor.id, code: codeShown(secret, app.clock.now()) }, { token });
  return token;
}

describe.each(transports)('a bound session, over %s', (via) => {
  it('reaches its organization, its projects and its grants, and nothing else', async () => {
    const acme = await company();
    const address = addressAt(acme);
    const person = await app.person({ email: address });
    await memberOf(app, acme, 'Organization Viewer');
    const project = await app.must(
      'createProject',
      { scope: acme.scope, name: `P ${unique()}` },
      { token: acme.token },
    );
    // Once by mail, because the person existed before.
    const first = signInBrowser(app, shop);
    await first.authorize();
    await first.post('/api/auth/flow/identifier', { email: address });
    await throughProvider(first, acme, address);
    const next = await first.open(await app.mailedToken(address));
    expect([String(next.headers.location).endsWith('/consent'), next.statusCode]).toEqual([true, 303]);
    await first.answer('approve');

    const token = await boundSession(acme, address);
    const as = { token, via };
    expect((await app.call('organization', { scope: acme.scope, id: acme.id }, as)).ok).toBe(true);
    expect((await app.call('roles', { scope: project.scope }, as)).ok).toBe(true);
    const granted = { tenant: 'organizationProject' as const, id: `${acme.id}:${vendor.projectId}` };
    expect((await app.call('roles', { scope: granted }, as)).ok).toBe(true);

    // By a way of their own they reach their account; through the provider they do not.
    const account = { scope: person.account };
    expect((await app.call('organizations', account, { token: person.token, via })).ok).toBe(true);
    expect((await app.call('organizations', account, as)).code).toBe('FORBIDDEN');
    const other = await connected(app, provider);
    expect((await app.call('organization', { scope: other.scope, id: other.id }, as)).code).toBe('FORBIDDEN');
    const roleIds = [roleIdOf('Organization Viewer')];
    await joinOrganization({ app, via, token: other.token, scope: other.scope, roleIds }, person);
    expect(await app.must('me', {}, { token: person.token, via })).toMatchObject({
      accounts: [{ id: person.account.id }],
      memberships: [{ organizationId: acme.id }, { organizationId: other.id }],
      organizationId: null,
    });
    const seen = await app.must('me', {}, as);
    expect(seen).toMatchObject({ accounts: [], isOperator: false, organizationId: acme.id });
    expect(seen.memberships.map(({ organizationId }) => organizationId)).toEqual([acme.id]);
    for (const [name, input] of [
      ['updateMe', { name: 'Taken over' }],
      ...(via === 'rest' ? ([['exportMe', {}]] as const) : []),
      ['myAuthenticationMethods', {}],
      ['createMfaFactor', {}],
      ['createPasskeyOptions', {}],
      ['createMyAccount', { type: 'personal' }],
    ] as const) {
      expect((await app.raw(name, input, as)).code, name).toBe('STEP_UP_REQUIRED');
    }
  });
});

describe('a bound session', () => {
  it('cannot connect another account to the user', async () => {
    const acme = await company();
    const browser = visitor(app.server);
    await boundSession(acme, addressAt(acme), browser);
    const query = new URLSearchParams({ action: 'connect', redirect: frontend }).toString();
    const { headers } = await browser.get(`/api/auth/providers/acme?${query}`);
    expect(headers.location).toBe(`${frontend}/?error=stepUpRequired`);
  });

  it('is not offered to the account pages', async () => {
    const acme = await company();
    const browser = visitor(app.server);
    await browser.get('/api/auth/sign-in');
    await browser.post('/api/auth/flow/identifier', { email: addressAt(acme) });
    const page = await browser.get('/api/auth/project/sign-in', { accept: 'text/html' });
    expect(page.body).not.toContain('/connections/');
    expect((await browser.get(`/api/auth/project/connections/${acme.connectionId}`)).statusCode).toBe(404);
  });

  it('of a new person begins no account of their own, and ends after twelve hours', async () => {
    const acme = await company();
    const token = await boundSession(acme, addressAt(acme));
    const { accounts } = await app.must('me', {}, { token });
    expect(accounts).toEqual([]);
    const [row] = await rowsOf<{ hours: number; bound: string }>(
      app.database.pool,
      sql`select extract(epoch from expires_at - authenticated_at)::int / 3600 as hours, organization_id as bound from sessions
          where user_id = (select user_id from organization_members where tenant_id = ${acme.id}::uuid
            and user_id <> (select user_id from organization_members where tenant_id = ${acme.id}::uuid order by created_at limit 1))
          and kind = 'browser'`,
    );
    expect(row).toEqual({ hours: 12, bound: acme.id });
  });

  it('signs in to the other apps of the project for this organization, and for no other', async () => {
    const [acme, globex] = [await company(), await company()];
    const address = addressAt(acme);
    const browser = signInBrowser(app, shop);
    await browser.authorize();
    await browser.post('/api/auth/flow/identifier', { email: address });
    const back = await throughProvider(browser, acme, address);
    if (String(back.headers.location).endsWith('/consent')) await browser.answer('approve');
    const next = signInBrowser(app, desk, browser);
    const silent = redirectParameters(await next.authorize({ prompt: 'none' }));
    expect(silent).toMatchObject({ error: 'consent_required' });
    const elsewhere = redirectParameters(await next.authorize({ prompt: 'none', organization: globex.id }));
    expect(elsewhere).toMatchObject({ error: 'login_required' });
    await app.must(
      'updateOrganizationConnection',
      { scope: acme.scope, id: acme.connectionId, status: 'disabled' },
      { token: acme.token },
    );
    expect(redirectParameters(await next.authorize({ prompt: 'none' }))).toMatchObject({
      error: 'login_required',
    });
  });
});

describe.each(transports)('an organization that insists on its provider, over %s', (via) => {
  /** A member with an address of the domain, one with another address, and the connection in force. */
  async function insisting() {
    const acme = await company();
    const bound = addressAt(acme);
    const token = await boundSession(acme, bound);
    const enforce = (enforced: boolean) =>
      app.must(
        'updateOrganizationConnection',
        { scope: acme.scope, id: acme.connectionId, enforced },
        { token: acme.token },
      );
    const inside = await app.person({ email: addressAt(acme) });
    const invited = {
      scope: acme.scope,
      email: inside.email,
      roleId: (
        await app.must(
          'organizationConnection',
          { scope: acme.scope, id: acme.connectionId },
          { token: acme.token },
        )
      ).defaultRoleId,
    };
    await app.must('inviteMember', invited, { token: acme.token });
    await app.must(
      'acceptInvitation',
      { token: await app.mailedToken(inside.email) },
      { token: inside.token },
    );
    const outside = await memberOf(app, acme, 'Organization Viewer');
    return { acme, token, enforce, inside, outside };
  }
  const read = (acme: Connected, token: string) =>
    app.call('organization', { scope: acme.scope, id: acme.id }, { token, via });

  it('refuses members of its domains who came by another way, at once, and nobody else', async () => {
    const { acme, token, enforce, inside, outside } = await insisting();
    expect((await read(acme, inside.token)).ok).toBe(true);
    await enforce(true);
    expect((await read(acme, inside.token)).code).toBe('SSO_REQUIRED');
    const granted = { tenant: 'organizationProject' as const, id: `${acme.id}:${vendor.projectId}` };
    expect((await app.call('myPermissions', { scope: granted }, { token: inside.token, via })).code).toBe(
      'SSO_REQUIRED',
    );
    for (const allowed of [token, outside.token, acme.token])
      expect((await read(acme, allowed)).ok).toBe(true);
    // Their own account is none of its business.
    expect(
      (await app.call('organizations', { scope: inside.account }, { token: inside.token, via })).ok,
    ).toBe(true);
    await enforce(false);
    expect((await read(acme, inside.token)).ok).toBe(true);
  });

  it('lets owners in with two factors, and tells all owners', async () => {
    const { acme, enforce } = await insisting();
    const owner = await app.person({ email: addressAt(acme) });
    await app.database.pool.execute(
      sql`insert into organization_members (tenant_id, user_id, role_id, role_tenant_id)
          select tenant_id, (select id from users where email = ${owner.email}), role_id, role_tenant_id
          from organization_members where tenant_id = ${acme.id}::uuid order by created_at limit 1`,
    );
    await enforce(true);
    expect((await read(acme, owner.token)).code).toBe('SSO_REQUIRED');
    const strong = await withFactor(owner);
    expect((await read(acme, strong)).ok).toBe(true);
    expect((await read(acme, strong)).ok).toBe(true);
    await app.app.flushMails();
    const mailed = app.mails.filter(({ subject }) => subject.includes('without its identity provider'));
    expect(mailed.filter(({ to }) => to === acme.owner.email)).toHaveLength(1);
  });
});

it('a sign-in to an app by another way ends at the page that leads to the provider', async () => {
  const acme = await company();
  const address = addressAt(acme);
  await boundSession(acme, address);
  await app.must(
    'updateOrganizationConnection',
    { scope: acme.scope, id: acme.connectionId, enforced: true },
    { token: acme.token },
  );
  const browser = signInBrowser(app, shop);
  await browser.authorize();
  await browser.post('/api/auth/flow/identifier', { email: address });
  expect((await browser.page()).body).toContain('Your organization signs in through');
  const next = await browser.open(await browser.mail(address));
  expect(next.headers.location).toMatch(/\/sign-in$/);
  const { body } = await browser.page();
  expect(body).toContain('To reach this organization, sign in through');
  expect(body).toContain(`/api/auth/project/connections/${acme.connectionId}`);
});
