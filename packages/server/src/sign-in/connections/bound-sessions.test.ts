import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { joinOrganization } from '../../../test/decisions/memberships.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique } from '../../../test/support/app/client.ts';
import { addressAt, startCompanies, type Companies } from '../../../test/support/tenants/companies.ts';
import { connected, type Connected } from '../../../test/support/databases/connections.ts';
import { memberOf } from '../../../test/support/tenants/grants.ts';
import { redirectParameters, signInBrowser } from '../../../test/support/sign-in/project-app.ts';
import { firstOperator, installation } from '../../../test/support/tenants/operators.ts';
import { visitor } from '../../../test/support/app/visitor.ts';
import { installationRoleIdOf } from '../../access/installation-roles.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { rowsOf } from '../../db/statements/rows.ts';

/** Sessions for which the provider of an organization vouched. */
let companies: Companies;
beforeAll(async () => {
  companies = await startCompanies();
});
afterAll(() => companies?.close());
beforeEach(() => {
  companies.provider.person = null;
});

/** The first sign-in of a person who had the address before, which they prove by a mail. */
async function linked(acme: Connected, address: string): Promise<void> {
  const browser = signInBrowser(companies.app, companies.shop);
  await browser.authorize();
  await browser.post('/api/auth/flow/identifier', { email: address });
  await companies.throughProvider(browser, acme, address);
  const next = await browser.open(await companies.app.mailedToken(address));
  expect([String(next.headers.location).endsWith('/consent'), next.statusCode]).toEqual([true, 303]);
  await browser.answer('approve');
}

describe.each(storyTransports(import.meta))('a bound session, over %s', (via) => {
  it('reaches its organization, its projects and its grants, and nothing else', async () => {
    const acme = await companies.company();
    const address = addressAt(acme);
    const person = await companies.app.person({ email: address });
    await memberOf(companies.app, acme, 'Organization Viewer');
    const project = await companies.app.must(
      'createProject',
      { scope: acme.scope, name: `P ${unique()}` },
      { token: acme.token },
    );
    await linked(acme, address);
    const token = await companies.boundSession(acme, address);
    const as = { token, via };
    expect((await companies.app.call('organization', { scope: acme.scope, id: acme.id }, as)).ok).toBe(true);
    expect((await companies.app.call('roles', { scope: project.scope }, as)).ok).toBe(true);
    const granted = {
      tenant: 'organizationProject' as const,
      id: `${acme.id}:${companies.vendor.projectId}`,
    };
    expect((await companies.app.call('roles', { scope: granted }, as)).ok).toBe(true);

    // By a way of their own they reach their account; through the provider they do not.
    const account = { scope: person.account };
    expect((await companies.app.call('organizations', account, { token: person.token, via })).ok).toBe(true);
    expect((await companies.app.call('organizations', account, as)).code).toBe('FORBIDDEN');
    const other = await connected(companies.app, companies.provider);
    expect((await companies.app.call('organization', { scope: other.scope, id: other.id }, as)).code).toBe(
      'FORBIDDEN',
    );
    const roleIds = [roleIdOf('Organization Viewer')];
    await joinOrganization(
      { app: companies.app, via, token: other.token, scope: other.scope, roleIds },
      person,
    );
    expect(await companies.app.must('me', {}, { token: person.token, via })).toMatchObject({
      accounts: [{ id: person.account.id }],
      memberships: [{ organizationId: acme.id }, { organizationId: other.id }],
      organizationId: null,
    });
    const seen = await companies.app.must('me', {}, as);
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
      expect((await companies.app.raw(name, input, as)).code, name).toBe('STEP_UP_REQUIRED');
    }
  });
});

describe('a bound session', () => {
  it('cannot connect another account to the user', async () => {
    const acme = await companies.company();
    const browser = visitor(companies.app.server);
    await companies.boundSession(acme, addressAt(acme), browser);
    const query = new URLSearchParams({ action: 'connect', redirect: companies.frontend }).toString();
    const { headers } = await browser.get(`/api/auth/providers/acme?${query}`);
    expect(headers.location).toBe(`${companies.frontend}/?error=stepUpRequired`);
  });

  it('of an operator cannot import users, by whom its provider would get verified addresses', async () => {
    const { app } = companies;
    const acme = await companies.company({ defaultRoleId: roleIdOf('Organization Admin'), trustMfa: true });
    const email = addressAt(acme);
    const person = await app.person({ email });
    const roleId = installationRoleIdOf('Installation Operator');
    const appointed = { scope: installation, userId: person.userId, roleId, reason: 'They join the team' };
    await app.must('createOperator', appointed, { token: (await firstOperator(app)).token });
    await linked(acme, email);
    const token = await companies.boundSession(acme, email);
    const { scope } = await app.must('createProject', { scope: acme.scope, name: 'P' }, { token });
    const users = [{ email: `${unique()}@example.org`, emailVerified: true }];
    const refused = await app.call('importUsers', { scope, users }, { token });
    expect(refused).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    expect(refused.body).toContain('Only an Installation Operator');
    expect((await app.call('importUsers', { scope, users }, { token: person.token })).ok).toBe(true);
  });

  it('and one of the person stay two in a browser, and a logout ends both', async () => {
    const { app, shop } = companies;
    const acme = await companies.company();
    const email = addressAt(acme);
    await app.person({ email });
    await linked(acme, email);
    const browser = signInBrowser(app, shop);
    const renew = await companies.sessionByMail(email, shop, browser);
    await browser.authorize({ prompt: 'login' });
    await browser.post('/api/auth/flow/identifier', { email });
    const back = await companies.throughProvider(browser, acme, email);
    if (String(back.headers.location).endsWith('/consent')) await browser.answer('approve');
    await browser.get(`/api/auth/project/end-session?client_id=${shop.clientId}`);
    const { body } = await browser.get('/hosted/sign-out', { accept: 'text/html' });
    const formToken = /name="formToken" value="([^"]+)"/.exec(body)?.[1] ?? '';
    expect(await renew()).toBe(200);
    await browser.post('/api/auth/project/end-session/confirm', { decision: 'approve', formToken });
    expect(await renew()).toBe(400);
  });

  it('begins at no provider that the page of the sign-in does not show', async () => {
    const [acme, other] = [await companies.company(), await companies.company()];
    const browser = visitor(companies.app.server);
    await browser.get(`/api/auth/sign-in?redirect=${encodeURIComponent(companies.frontend)}`);
    const begin = (id: string) => browser.get(`/api/auth/project/connections/${id}`);
    expect((await begin(acme.connectionId)).statusCode).toBe(404);
    await browser.post('/api/auth/flow/identifier', { email: addressAt(other) });
    expect((await begin(acme.connectionId)).statusCode).toBe(404);
    expect((await begin(other.connectionId)).statusCode).toBe(302);
  });

  it('is not offered to the account pages', async () => {
    const acme = await companies.company();
    const browser = visitor(companies.app.server);
    await browser.get('/api/auth/sign-in');
    await browser.post('/api/auth/flow/identifier', { email: addressAt(acme) });
    const page = await browser.get('/api/auth/project/sign-in', { accept: 'text/html' });
    expect(page.body).not.toContain('/connections/');
    expect((await browser.get(`/api/auth/project/connections/${acme.connectionId}`)).statusCode).toBe(404);
  });

  it('of a new person begins no account of their own, and ends after twelve hours', async () => {
    const acme = await companies.company();
    const token = await companies.boundSession(acme, addressAt(acme));
    const { accounts } = await companies.app.must('me', {}, { token });
    expect(accounts).toEqual([]);
    const [row] = await rowsOf<{ hours: number; bound: string }>(
      companies.app.database.pool,
      sql`select extract(epoch from expires_at - authenticated_at)::int / 3600 as hours, organization_id as bound from sessions
          where user_id = (select user_id from organization_members where tenant_id = ${acme.id}::uuid
            and user_id <> (select user_id from organization_members where tenant_id = ${acme.id}::uuid order by created_at limit 1))
          and kind = 'browser'`,
    );
    expect(row).toEqual({ hours: 12, bound: acme.id });
  });

  it('signs in to the other apps of the project for this organization, and for no other', async () => {
    const [acme, globex] = [await companies.company(), await companies.company()];
    const address = addressAt(acme);
    const browser = signInBrowser(companies.app, companies.shop);
    await browser.authorize();
    await browser.post('/api/auth/flow/identifier', { email: address });
    const back = await companies.throughProvider(browser, acme, address);
    if (String(back.headers.location).endsWith('/consent')) await browser.answer('approve');
    const next = signInBrowser(companies.app, companies.desk, browser);
    // Before the person consents, the app cannot tell by guesses for which organization they signed in.
    for (const organization of [undefined, acme.id, globex.id]) {
      const silent = redirectParameters(await next.authorize({ prompt: 'none', organization }));
      expect(silent).toMatchObject({ error: 'consent_required' });
    }
    await next.authorize();
    await next.answer('approve');
    expect(redirectParameters(await next.authorize({ prompt: 'none' }))).toHaveProperty('code');
    const elsewhere = redirectParameters(await next.authorize({ prompt: 'none', organization: globex.id }));
    expect(elsewhere).toMatchObject({ error: 'login_required' });
    await companies.app.must(
      'updateOrganizationConnection',
      { scope: acme.scope, id: acme.connectionId, status: 'disabled' },
      { token: acme.token },
    );
    expect(redirectParameters(await next.authorize({ prompt: 'none' }))).toMatchObject({
      error: 'login_required',
    });
  });
});

it('a provider adds no second factor to the user, whatever the app asks for', async () => {
  const acme = await companies.company();
  const address = addressAt(acme);
  await companies.boundSession(acme, address);
  const browser = signInBrowser(companies.app, companies.shop);
  await browser.authorize({ acr_values: 'aal2' });
  await browser.post('/api/auth/flow/identifier', { email: address });
  const back = await companies.throughProvider(browser, acme, address);
  expect(redirectParameters(back)).toMatchObject({ error: 'access_denied' });
  const factors = await rowsOf(
    companies.app.database.pool,
    sql`select 1 from mfa_factors f join users u on u.id = f.user_id where u.email = ${address}`,
  );
  expect(factors).toEqual([]);
});
