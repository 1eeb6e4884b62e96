import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { joinProject } from '../../../test/decisions/memberships.ts';
import type { TestApp } from '../../../test/support/app/app.ts';
import { codeShown } from '../../../test/support/sign-in/authenticator.ts';
import { unique } from '../../../test/support/app/client.ts';
import { addressAt, startCompanies, type Companies } from '../../../test/support/tenants/companies.ts';
import type { Connected } from '../../../test/support/databases/connections.ts';
import { member } from '../../../test/contract/world.ts';
import { customerOf, grantTo, vendorOf, type Vendor } from '../../../test/support/tenants/grants.ts';
import { redirectParameters, signInBrowser } from '../../../test/support/sign-in/project-app.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';

/** Ways by which members might get around the identity provider that their organization requires. */
let app: TestApp;
let companies: Companies;
beforeAll(async () => {
  companies = await startCompanies();
  ({ app } = companies);
});
afterAll(() => companies?.close());
beforeEach(() => {
  companies.provider.person = null;
});

/** An app of a project that the company itself owns. */
async function ownApp(acme: Connected): Promise<{
  readonly vendor: Vendor;
  readonly till: { readonly clientId: string; readonly redirectUri: string };
}> {
  const vendor = await vendorOf(app, { ...acme.owner, account: acme.scope });
  const redirectUri = 'https://till.example/callback';
  const fields = { name: 'Till', redirectUris: [redirectUri], enabledProviders: ['email' as const] };
  const as = { token: acme.token };
  const { clientId } = await app.must('createProjectApp', { scope: vendor.scope, ...fields }, as);
  return { vendor, till: { clientId, redirectUri } };
}

describe('members of an organization that requires its provider', () => {
  it('cannot remove their address in its domains', async () => {
    const acme = await companies.proved();
    await companies.enforce(acme);
    const { token, userId } = await companies.memberAt(acme, 'Organization Viewer');
    const address = `${unique()}@example.org`;
    await app.must('addMyAuthenticationMethod', { provider: 'email', providerId: address }, { token });
    await app.must('verifyEmail', { token: await app.mailedToken(address) });
    const { items } = await app.must('myAuthenticationMethods', {}, { token });
    const id = items.find(({ providerId }) => providerId.endsWith(acme.domain))?.id ?? '';
    const remove = () => app.call('removeMyAuthenticationMethod', { id }, { token });
    expect(await remove()).toMatchObject({ code: 'IN_USE', details: [{ path: 'id', code: 'in_use' }] });
    await app.must('removeOrganizationMember', { scope: acme.scope, userId }, { token });
    expect((await remove()).ok).toBe(true);
  });

  it('can remove an address in its domains that they never verified', async () => {
    const acme = await companies.proved();
    await companies.enforce(acme);
    const { token } = await member(app, acme.id, 'Organization Viewer');
    const providerId = `${unique()}@${acme.domain}`;
    const { id } = await app.must('addMyAuthenticationMethod', { provider: 'email', providerId }, { token });
    expect((await app.call('removeMyAuthenticationMethod', { id }, { token })).ok).toBe(true);
  });

  it('sign in to its own projects for it, or not at all', async () => {
    const [acme, customer] = [await companies.proved(), await customerOf(app)];
    const { vendor, till } = await ownApp(acme);
    await grantTo(app, vendor, customer, { defaultRoleId: vendor.reader });
    const { email, userId } = await companies.memberAt(acme, 'Organization Viewer');
    await app.database.pool.execute(
      sql`insert into organization_members (tenant_id, user_id, role_id, role_tenant_id)
          select ${customer.id}::uuid, user_id, role_id, role_tenant_id from organization_members
          where tenant_id = ${acme.id}::uuid and user_id = ${userId}::uuid`,
    );
    await companies.enforce(acme);
    const browser = signInBrowser(app, till);
    await browser.authorize();
    const choice = await browser.open(await browser.mail(email));
    expect(choice.headers.location).toMatch(/\/organization$/);
    const form_token = await browser.formToken();
    const end = await browser.post('/api/auth/project/organization', { form_token });
    expect(redirectParameters(end)).toMatchObject({ error: 'access_denied' });
  });

  it('cannot ask about its customers without the provider', async () => {
    const [acme, customer] = [await companies.proved(), await customerOf(app)];
    const vendor = await vendorOf(app, { ...acme.owner, account: acme.scope });
    const { scope } = await grantTo(app, vendor, customer);
    const owner = await companies.memberAt(acme, 'Organization Owner');
    const ask = () => app.call('whoCan', { scope, permissionName: 'invoice:read' }, { token: owner.token });
    expect((await ask()).ok).toBe(true);
    await companies.enforce(acme);
    expect((await ask()).code).toBe('SSO_REQUIRED');
    // Owners with two factors may enter.
    const { factor, secret } = await app.must('createMfaFactor', {}, { token: owner.token });
    const proof = { id: factor.id, code: codeShown(secret, app.clock.now()) };
    await app.must('verifyMfaFactor', proof, { token: owner.token });
    expect((await ask()).ok).toBe(true);
  });

  it('learn nothing by asking what would happen if they left', async () => {
    const acme = await companies.proved();
    await companies.enforce(acme);
    const { token, userId } = await companies.memberAt(acme, 'Organization Viewer');
    const leaving = { scope: acme.scope, userId, dryRun: true };
    expect((await app.call('removeOrganizationMember', leaving, { token })).code).toBe('SSO_REQUIRED');
  });

  it('make no key of the account above that acts in the organization', async () => {
    const acme = await companies.proved();
    const { owner, token } = acme;
    const scope = owner.account;
    const roleIds = [roleIdOf('Account Onboarding')];
    const service = await app.must(
      'createUser',
      { scope, name: 'Robot', kind: 'service', roleIds },
      { token },
    );
    await app.database.pool.execute(
      sql`insert into organization_members (tenant_id, user_id, role_id, role_tenant_id)
          select ${acme.id}::uuid, ${service.id}::uuid, id, tenant_id from roles
          where id = ${roleIdOf('Organization Admin')}::uuid`,
    );
    await app.database.pool.execute(
      sql`insert into authentication_methods (id, user_id, provider, provider_id, label, is_verified, claims)
          values (gen_random_uuid(), ${owner.userId}::uuid, 'email', ${addressAt(acme)}, ${addressAt(acme)}, true, true)`,
    );
    const make = () =>
      app.call('createApiKey', { scope, name: `K ${unique()}`, userId: service.id }, { token });
    expect((await make()).ok).toBe(true);
    await companies.enforce(acme);
    expect((await make()).code).toBe('SSO_REQUIRED');
  });

  it('keep no session from before they joined', async () => {
    const acme = await companies.proved();
    const { vendor, till } = await ownApp(acme);
    const person = await app.person({ email: addressAt(acme) });
    const joining = {
      app,
      via: 'rest',
      token: acme.token,
      scope: vendor.scope,
      roleIds: [vendor.reader],
    } as const;
    await joinProject(joining, person.userId, false);
    const renew = await companies.sessionByMail(person.email, till);
    await companies.enforce(acme);
    expect(await renew()).toBe(200);
    const invited = { scope: acme.scope, email: person.email, roleId: roleIdOf('Organization Viewer') };
    await app.must('inviteMember', invited, { token: acme.token });
    const token = await app.mailedToken(person.email);
    await app.must('acceptInvitation', { token }, { token: person.token });
    expect(await renew()).toBe(400);
  });
});
