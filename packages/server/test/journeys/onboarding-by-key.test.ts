import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roleIdOf } from '../../src/schema/rights/built-in-ids.ts';
import { rowsOf } from '../../src/db/statements/rows.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { joined } from '../contract/world.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { storyTransports } from '../support/cases/breadth.ts';
import { unique, type Person } from '../support/app/client.ts';

/** A provider onboards customers by a script with one key of its account, and what such a key may never do. */
let app: TestApp;
let owner: Person;
let as: { token: string };
const ONBOARDING = roleIdOf('Account Onboarding');
const ADMIN = roleIdOf('Organization Admin');
const OWNER = roleIdOf('Organization Owner');
const VIEWER = roleIdOf('Organization Viewer');

interface Machine {
  readonly userId: string;
  readonly keyId: string;
  readonly credentials: { clientId: string; clientSecret: string; scope: ScopeRef };
  readonly token: string;
}

/** A service user of the scope with a key, and a token of the key. */
async function machineIn(scope: ScopeRef, roleId: string): Promise<Machine> {
  const input = { scope, kind: 'service' as const, name: `Machine ${unique()}`, roleIds: [roleId] };
  const { id: userId } = await app.must('createUser', input, as);
  const key = await app.must('createApiKey', { scope, userId, name: 'Onboarding' }, as);
  const credentials = {
    clientId: key.clientId,
    clientSecret: key.clientSecret ?? '',
    scope: key.scope as ScopeRef,
  };
  const { accessToken: token } = await app.must('exchangeApiKey', credentials);
  return { userId, keyId: key.id, credentials, token };
}

const organizationBy = async (token: string) =>
  joined(
    'organization',
    (await app.must('createOrganization', { scope: owner.account, name: `Customer ${unique()}` }, { token }))
      .id,
  );

beforeAll(async () => {
  app = await startOwnApp();
  owner = await app.person({ type: 'organization' });
  as = { token: owner.token };
});
afterAll(() => app.close());

it('onboards a customer: organization, project, administrator, key', async () => {
  const machine = await machineIn(owner.account, ONBOARDING);
  const by = { token: machine.token };
  const claims = JSON.parse(Buffer.from(machine.token.split('.')[1] ?? '', 'base64url').toString()) as object;
  expect(claims).toMatchObject({
    ...{ iss: 'http://localhost:4000', sub: machine.userId, jti: machine.keyId, type: 'ApiKey' },
    scope: { tenant: 'Account', id: owner.account.id },
  });

  const customer = await organizationBy(machine.token);
  const { items: members } = await app.must('organizationMembers', { scope: customer }, as);
  expect(new Map(members.map(({ id, roleId }) => [id, roleId]))).toEqual(
    new Map([
      [owner.userId, OWNER],
      [machine.userId, ADMIN],
    ]),
  );
  const project = await app.must('createProject', { scope: customer, name: 'Shop' }, by);
  const email = `${unique()}@example.test`;
  await app.must('inviteMember', { scope: customer, email, roleId: ADMIN }, by);
  const link = await app.mailedToken(email);
  const invitation = await app.must('invitation', { token: link });
  // The invited person knows the organization, not its machines.
  expect(invitation.inviter.name).toBe(invitation.organization.name);
  const registration = { name: 'Grace', password: `correct horse ${unique()}` };
  const accepted = await app.must('acceptInvitation', { token: link, registration });
  expect(accepted.member.roleId).toBe(ADMIN);

  const roleId = roleIdOf('Project Admin');
  const key = await app.must('createApiKey', { scope: project.scope, roleId }, by);
  expect([key.createdByKeyId, key.createdBy]).toEqual([machine.keyId, machine.userId]);
  const filter = { scope: project.scope, createdByKeyId: machine.keyId };
  expect((await app.must('apiKeys', filter, as)).items.map(({ id }) => id)).toEqual([key.id]);

  // The key of the project outlives the machine, whose own key ends.
  await app.must('deleteUser', { scope: owner.account, id: machine.userId }, as);
  expect((await app.call('organizations', { scope: owner.account }, by)).code).toBe('UNAUTHENTICATED');
  expect((await app.call('exchangeApiKey', machine.credentials)).code).toBe('UNAUTHENTICATED');
  const still = { clientId: key.clientId, clientSecret: key.clientSecret ?? '', scope: key.scope };
  expect((await app.call('exchangeApiKey', still)).ok).toBe(true);
  const left = await app.must('organizationMembers', { scope: customer }, as);
  expect(left.items.map(({ id }) => id)).not.toContain(machine.userId);
});

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const call = (name: string, input: object, token: string) => app.raw(name, input, { token, via });

  it('never does what is for people alone', async () => {
    const account = await machineIn(owner.account, roleIdOf('Account Owner'));
    const customer = await organizationBy(account.token);
    const organization = await machineIn(customer, ADMIN);
    const other = await machineIn(customer, VIEWER);
    const project = await app.must('createProject', { scope: customer, name: 'Shop' }, as);
    const boss = { scope: customer, userId: owner.userId };
    const service = { kind: 'service', name: 'Another', roleIds: [VIEWER] };
    const invited = { scope: customer, email: `${unique()}@example.test` };
    const offer = await app.must('inviteMember', { ...invited, roleId: OWNER }, as);
    const refused: [string, object][] = [
      ['acceptInvitation', { token: 'any' }],
      ['rotateSigningKey', { scope: project.scope }],
      ['deleteOrganization', { scope: customer, id: customer.id }],
      ['createUser', { scope: customer, ...service }],
      ['createApiKey', { scope: customer, userId: organization.userId }],
      ['rotateApiKey', { scope: customer, id: other.keyId }],
      ['revokeApiKey', { scope: customer, id: organization.keyId }],
      ['deleteApiKey', { scope: customer, id: organization.keyId }],
      ['inviteMember', { ...invited, roleId: OWNER }],
      ['resendInvitation', { scope: customer, id: offer.id }],
      ['renewInvitation', { scope: customer, id: offer.id }],
      ['revokeInvitation', { scope: customer, id: offer.id }],
      ['updateOrganizationMember', { ...boss, roleId: VIEWER }],
      ['updateUser', { scope: customer, id: owner.userId, metadata: { a: 1 } }],
      ['removeOrganizationMember', boss],
      ['createApiKey', { scope: project.scope, roleId: OWNER }],
      ['me', {}],
    ];
    for (const { token } of [account, organization]) {
      for (const [name, input] of refused) {
        const answer = await call(name, input, token);
        expect([answer.code, name]).toEqual(['SESSION_REQUIRED', name]);
        if (via === 'rest') expect(answer.status).toBe(403);
      }
    }
    const inAccount: [string, object][] = [
      ['createUser', { ...service, scope: owner.account, roleIds: [ONBOARDING] }],
      ['createApiKey', { scope: owner.account, userId: account.userId }],
      ['revokeApiKey', { scope: owner.account, id: account.keyId }],
    ];
    for (const [name, input] of inAccount)
      expect((await call(name, input, account.token)).code, name).toBe('SESSION_REQUIRED');
    // Its own secret it may rotate.
    const rotated = await call(
      'rotateApiKey',
      { scope: customer, id: organization.keyId },
      organization.token,
    );
    expect(rotated.ok, rotated.body).toBe(true);
    expect((await call('myPermissions', {}, organization.token)).ok).toBe(true);
  });

  it('reaches its node and the projects below, and nothing else', async () => {
    const account = await machineIn(owner.account, ONBOARDING);
    const customer = await organizationBy(account.token);
    const foreign = joined(
      'organization',
      (await app.must('createOrganization', { scope: owner.account, name: 'Other' }, as)).id,
    );
    const foreignProject = await app.must('createProject', { scope: foreign, name: 'P' }, as);
    const own = await app.must('createProject', { scope: customer, name: 'P' }, as);
    const organization = await machineIn(customer, VIEWER);
    for (const [token, reached, unreached] of [
      [account.token, [customer, own.scope], [foreign, foreignProject.scope]],
      [organization.token, [customer, own.scope], [foreign, foreignProject.scope, owner.account]],
    ] as const) {
      for (const scope of reached) expect((await call('roles', { scope }, token)).ok).toBe(true);
      for (const scope of unreached) {
        const answer = await call('roles', { scope }, token);
        expect([answer.code, answer.reason]).toEqual(['FORBIDDEN', 'INVALID_SCOPE']);
      }
    }
  });

  it('acts with the present role, and ends with its service user, membership and organization', async () => {
    const customer = await organizationBy((await machineIn(owner.account, ONBOARDING)).token);
    const create = (token: string) => call('createTag', { scope: customer, name: unique() }, token);
    const machine = await machineIn(customer, VIEWER);
    expect((await create(machine.token)).reason).toBe('NO_PERMISSION');
    const role = { scope: customer, userId: machine.userId, roleId: ADMIN };
    await app.must('updateOrganizationMember', role, as);
    expect((await create(machine.token)).ok).toBe(true);
    const switched = { scope: customer, id: machine.userId };
    await app.must('updateUser', { ...switched, status: 'disabled' }, as);
    expect((await create(machine.token)).code).toBe('UNAUTHENTICATED');
    expect((await app.call('exchangeApiKey', machine.credentials)).code).toBe('UNAUTHENTICATED');
    await app.must('updateUser', { ...switched, status: 'active' }, as);
    expect((await create(machine.token)).ok).toBe(true);
    await app.must('removeOrganizationMember', { scope: customer, userId: machine.userId }, as);
    expect((await create(machine.token)).code).toBe('UNAUTHENTICATED');
    expect((await app.call('exchangeApiKey', machine.credentials)).code).toBe('UNAUTHENTICATED');

    const last = await machineIn(customer, ADMIN);
    await app.must('deleteOrganization', { scope: customer, id: customer.id }, as);
    expect((await create(last.token)).code).toBe('UNAUTHENTICATED');
    expect((await app.call('exchangeApiKey', last.credentials)).code).toBe('UNAUTHENTICATED');
  });

  it('gives nothing beyond its role, and a machine never owns', async () => {
    const customer = await organizationBy((await machineIn(owner.account, ONBOARDING)).token);
    const machine = await machineIn(customer, roleIdOf('Organization Developer'));
    const project = await app.must('createProject', { scope: customer, name: 'Shop' }, as);
    const beyond = await call('createApiKey', { scope: project.scope, roleId: ADMIN }, machine.token);
    expect(beyond.code).toBe('PRIVILEGE_ESCALATION');
    const owning = { scope: customer, userId: machine.userId, roleId: OWNER };
    const promoted = await app.raw('updateOrganizationMember', owning, { ...as, via });
    expect([promoted.code, promoted.details]).toMatchObject(['VALIDATION_ERROR', [{ path: 'roleId' }]]);
    const service = { kind: 'service', name: 'King', roleIds: [OWNER] };
    expect((await app.raw('createUser', { scope: customer, ...service }, { ...as, via })).code).toBe(
      'VALIDATION_ERROR',
    );
    const elsewhere = { scope: project.scope, ...service, roleIds: [] };
    expect((await app.raw('createUser', elsewhere, { ...as, via })).code).toBe('VALIDATION_ERROR');
    const person = { scope: owner.account, name: 'Person', roleIds: [ONBOARDING] };
    expect((await app.raw('createUser', person, { ...as, via })).code).toBe('VALIDATION_ERROR');
    // A key needs a service user of this very node.
    for (const userId of [owner.userId, (await machineIn(owner.account, ONBOARDING)).userId]) {
      const other = await app.raw('createApiKey', { scope: customer, userId }, { ...as, via });
      expect(other.code).toBe('NOT_FOUND');
    }
  });
});

it('a machine gets no address, sign-in method, session or notification', async () => {
  const rows = await rowsOf<{ total: number }>(
    app.database.pool,
    sql`select (select count(*) from users where kind = 'service')::int as total
      union all select count(*)::int from users u where u.kind = 'service' and (u.email is not null
        or exists (select 1 from authentication_methods m where m.user_id = u.id)
        or exists (select 1 from sessions s where s.user_id = u.id)
        or exists (select 1 from one_time_tokens t where t.user_id = u.id)
        or exists (select 1 from passwords p where p.user_id = u.id)
        or exists (select 1 from notifications n where n.user_id = u.id))`,
  );
  expect(rows[0]?.total).toBeGreaterThan(10);
  expect(rows[1]?.total).toBe(0);
});
