import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { connected, connectionTo, provedDomain } from '../../../test/support/databases/connections.ts';
import { customerOf } from '../../../test/support/tenants/grants.ts';
import {
  clientSecret,
  startOpenidProvider,
  type OpenidDouble,
} from '../../../test/support/sign-in/openid-provider.ts';
import { member } from '../../../test/contract/world.ts';
import { permissionIdOf, roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { rowsOf } from '../../db/statements/rows.ts';

/** Connections of organizations: who sets them up, what they refer to, and that their secret stays inside. */
let app: TestApp;
let provider: OpenidDouble;

beforeAll(async () => {
  provider = await startOpenidProvider();
  app = await startApp({ CONNECTIONS_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8' });
});
afterAll(async () => {
  await app.close();
  await provider.close();
});
beforeEach(() => {
  provider.faults.clear();
  provider.metadata = {};
});

describe.each(storyTransports(import.meta))('over %s', (via) => {
  it('a connection is created, read, changed, tested and deleted', async () => {
    const customer = await customerOf(app);
    const { scope } = customer;
    const as = { token: customer.token, via };
    const { id: domainId } = await provedDomain(app, customer);
    const created = await app.must(
      'createOrganizationConnection',
      { scope, ...connectionTo(provider, domainId) },
      as,
    );
    const { id } = created;
    expect(created).toMatchObject({
      issuer: provider.issuer,
      scopes: ['openid', 'email', 'profile'],
      domainIds: [domainId],
      justInTime: true,
      enforced: false,
      trustMfa: false,
      status: 'draft',
      callbackPath: `/api/auth/connections/${id}/callback`,
      provedAt: null,
      lastUsedAt: null,
    });
    expect(await app.must('organizationConnection', { scope, id }, as)).toEqual(created);
    const changed = {
      scope,
      id,
      status: 'active' as const,
      name: 'Acme staff',
      clientSecret: 'another secret',
    };
    expect(await app.must('updateOrganizationConnection', changed, as)).toMatchObject({
      status: 'active',
      name: 'Acme staff',
    });
    const active = await app.must('organizationConnections', { scope, status: 'active' }, as);
    expect(active.items.map((item) => item.id)).toEqual([id]);
    expect(await app.must('testOrganizationConnection', { scope, id }, as)).toMatchObject({
      ok: true,
      step: 'keys',
    });
    await app.must('deleteOrganizationConnection', { scope, id }, as);
    expect((await app.call('organizationConnection', { scope, id }, as)).code).toBe('NOT_FOUND');
  });

  it('the test says what is wrong with the provider', async () => {
    const { scope, token, connectionId: id } = await connected(app, provider);
    const test = () => app.must('testOrganizationConnection', { scope, id }, { token, via });
    provider.metadata = { issuer: 'https://login.example.org' };
    expect(await test()).toMatchObject({
      ok: false,
      step: 'metadata',
      message: expect.stringContaining('another issuer') as string,
    });
    provider.metadata = {};
    provider.faults.set('/jwks', { status: 200, body: '{"keys":[]}' });
    expect(await test()).toMatchObject({ ok: false, step: 'keys' });
    // The metadata cannot lead this service into its own network.
    provider.faults.clear();
    provider.metadata = { jwks_uri: 'http://10.0.0.1/keys' };
    const inside = await test();
    expect(inside).toMatchObject({
      ok: false,
      step: 'keys',
      message: expect.stringContaining('does not connect') as string,
    });
    provider.metadata = {};
    provider.faults.set('/.well-known/openid-configuration', {
      status: 200,
      body: 'secret text of a server',
    });
    const answer = await test();
    expect(answer).toMatchObject({ ok: false, step: 'metadata' });
    expect(answer.message).not.toContain('secret text');
  });

  it('owners alone change connections; administrators may read them', async () => {
    const { id: organizationId, scope, connectionId: id, domainId } = await connected(app, provider);
    const admin = { token: (await member(app, organizationId, 'Organization Admin')).token, via };
    const developer = { token: (await member(app, organizationId, 'Organization Developer')).token, via };
    expect((await app.call('organizationConnection', { scope, id }, admin)).ok).toBe(true);
    expect((await app.call('organizationConnection', { scope, id }, developer)).code).toBe('FORBIDDEN');
    for (const [name, input] of [
      ['createOrganizationConnection', connectionTo(provider, domainId)],
      ['updateOrganizationConnection', { id, status: 'disabled' }],
      ['testOrganizationConnection', { id }],
      ['deleteOrganizationConnection', { id }],
    ] as const) {
      expect((await app.raw(name, { scope, ...input }, admin)).code, name).toBe('FORBIDDEN');
    }
    // Nor can they switch it off through its domain.
    const removal = await app.call('deleteOrganizationDomain', { scope, id: domainId }, admin);
    expect(removal).toMatchObject({ code: 'IN_USE', details: [{ path: 'id', code: 'in_use' }] });
  });

  it('who changes whom it lets in has to be able to give its role', async () => {
    const admins = { defaultRoleId: roleIdOf('Organization Admin') };
    const { id: organizationId, scope, connectionId: id, token } = await connected(app, provider, admins);
    const permissionIds = [permissionIdOf('OrganizationConnection:Update')];
    const group = await app.must('createGroup', { scope, name: 'Connecting', permissionIds }, { token });
    const fields = { scope, name: 'Connecting', groupIds: [group.id] };
    const { id: roleId } = await app.must('createRole', fields, { token });
    const person = await member(app, organizationId, 'Organization Viewer');
    await app.database.pool.execute(
      sql`update organization_members set role_id = ${roleId}::uuid, role_tenant_id = ${organizationId}::uuid
          where tenant_id = ${organizationId}::uuid and user_id = ${person.userId}::uuid`,
    );
    const as = { token: person.token, via };
    const update = (fields: object) => app.call('updateOrganizationConnection', { scope, id, ...fields }, as);
    expect((await update({ name: 'Renamed' })).ok).toBe(true);
    for (const fields of [{ clientId: 'other' }, { justInTime: true }, { status: 'active' }])
      expect((await update(fields)).code, JSON.stringify(fields)).toBe('PRIVILEGE_ESCALATION');
  });

  it('refers to domains of the organization that no other connection has, and to a role that is not ownership', async () => {
    const first = await connected(app, provider);
    const { scope, domainId } = first;
    const as = { token: first.token, via };
    const foreign = await provedDomain(app, await customerOf(app));
    const create = (settings: object) =>
      app.call(
        'createOrganizationConnection',
        { scope, ...connectionTo(provider, domainId), ...settings },
        as,
      );
    expect(await create({})).toMatchObject({
      code: 'CONFLICT',
      details: [{ path: 'domainIds', code: 'taken' }],
    });
    expect((await create({ domainIds: [foreign.id] })).code).toBe('NOT_FOUND');
    const own = await provedDomain(app, first);
    const owners = await create({ domainIds: [own.id], defaultRoleId: roleIdOf('Organization Owner') });
    expect(owners.details).toMatchObject([{ path: 'defaultRoleId', code: 'not_allowed' }]);
    expect((await create({ domainIds: [own.id], defaultRoleId: roleIdOf('Project Admin') })).code).toBe(
      'NOT_FOUND',
    );
    const second = await create({ domainIds: [own.id] });
    expect(second.ok).toBe(true);
    const both = { scope, id: first.connectionId, domainIds: [domainId, own.id] };
    expect((await app.call('updateOrganizationConnection', both, as)).code).toBe('CONFLICT');
  });

  it('its default role cannot be deleted, and five connections are the limit', { tags: 'race' }, async () => {
    const customer = await connected(app, provider);
    const { scope } = customer;
    const as = { token: customer.token, via };
    const role = await app.must('createRole', { scope, name: 'Guest', groupIds: [] }, as);
    await app.must(
      'updateOrganizationConnection',
      { scope, id: customer.connectionId, defaultRoleId: role.id },
      as,
    );
    const removal = await app.call('deleteRole', { scope, id: role.id }, as);
    expect(removal).toMatchObject({ code: 'IN_USE', details: [{ path: 'connections', code: 'in_use' }] });
    const domains = [];
    for (let index = 0; index < 5; index++) domains.push(await provedDomain(app, customer));
    const answers = await Promise.all(
      domains.map(({ id }) =>
        app.call('createOrganizationConnection', { scope, ...connectionTo(provider, id) }, as),
      ),
    );
    expect(answers.map(({ code }) => code).sort()).toEqual(['CONFLICT', null, null, null, null]);
  });

  it('is not enforced before a person signed in through it', async () => {
    const { scope, token, connectionId: id } = await connected(app, provider);
    const answer = await app.call(
      'updateOrganizationConnection',
      { scope, id, enforced: true },
      { token, via },
    );
    expect(answer).toMatchObject({
      code: 'INVALID_STATE',
      details: [{ path: 'enforced', code: 'not_allowed' }],
    });
  });

  it('an address that is no issuer is refused', async () => {
    const { scope, token, connectionId: id } = await connected(app, provider);
    for (const issuer of [
      'http://login.example.org',
      'https://a:b@login.example.org',
      'https://x.example/?a=b',
      'ftp://x.example',
      'x',
    ]) {
      const answer = await app.call('updateOrganizationConnection', { scope, id, issuer }, { token, via });
      expect(answer.details, issuer).toMatchObject([{ path: 'issuer', code: 'format' }]);
    }
  });
});

it('the secret appears in no answer, event or audit entry, and is stored encrypted', async () => {
  const { scope, id: organizationId, token, connectionId: id } = await connected(app, provider);
  const change = { scope, id, clientSecret: 'a second secret text' };
  const { body } = await app.call('updateOrganizationConnection', change, { token });
  const rows = await rowsOf(
    app.database.pool,
    sql`select row_to_json(a)::text as text from audit_log a where tenant_id = ${organizationId}::uuid
        union all select row_to_json(e)::text from events e where tenant_id = ${organizationId}::uuid
        union all select row_to_json(c)::text from organization_connections c where id = ${id}::uuid`,
  );
  expect(rows.length).toBeGreaterThan(4);
  for (const secret of [clientSecret, 'a second secret text']) {
    expect(JSON.stringify([body, rows])).not.toContain(secret);
  }
});
