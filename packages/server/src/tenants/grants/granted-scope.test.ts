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
import type { ScopeRef } from '../../kernel/scope.ts';

/** What a customer can do in a granted project, and what neither it nor the vendor can. */
let app: TestApp;
let vendor: Vendor;
let customer: Customer;
let other: Customer;
let grant: { id: string; scope: ScopeRef };
let otherGrant: { id: string; scope: ScopeRef };
let admin: Person;

beforeAll(async () => {
  app = await startApp();
  vendor = await vendorOf(app);
  [customer, other] = [await customerOf(app), await customerOf(app)];
  grant = await grantTo(app, vendor, customer, { metadata: { plan: 'gold' } });
  otherGrant = await grantTo(app, vendor, other, { metadata: { plan: 'free' } });
  admin = await memberOf(app, customer, 'Organization Admin');
});
afterAll(() => app.close());

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const call = (name: string, input: object, token: string) => app.raw(name, input, { token, via });
  const must = async <T = object>(name: string, input: object, token: string): Promise<T> => {
    const answer = await call(name, input, token);
    if (!answer.ok) throw new Error(`${name}: ${answer.body}`);
    return answer.data as T;
  };
  const may = async (token: string, permission: string, scope: ScopeRef = grant.scope) => {
    const [resource = '', action = ''] = permission.split(':');
    const decision = await must<{ authorized: boolean; reason: string }>(
      'isAuthorized',
      { scope, permission: { resource, action } },
      token,
    );
    return decision.reason;
  };
  const member = () => memberOf(app, customer, 'Organization Viewer');
  const add = (userId: string, roleIds: string[], token = admin.token) =>
    call('createUser', { scope: grant.scope, userId, roleIds, metadata: {} }, token);

  it('lets an administrator of the customer assign granted roles, which they do not hold', async () => {
    const user = await member();
    expect(await may(user.token, 'invoice:write')).toBe('NO_PERMISSION');
    expect((await add(user.userId, [vendor.writer])).ok).toBe(true);
    expect(await may(user.token, 'invoice:write')).toBe('ALLOWED');
    expect(await may(user.token, 'invoice:write', otherGrant.scope)).toBe('INVALID_SCOPE');
    expect(await may(user.token, 'invoice:write', vendor.scope)).toBe('INVALID_SCOPE');
    expect(await may(admin.token, 'invoice:write')).toBe('NO_PERMISSION');
    await must('updateUser', { scope: grant.scope, id: user.userId, roleIds: [vendor.reader] }, admin.token);
    expect(await may(user.token, 'invoice:write')).toBe('NO_PERMISSION');
    expect(await may(user.token, 'invoice:read')).toBe('ALLOWED');
    await must('deleteUser', { scope: grant.scope, id: user.userId }, admin.token);
    expect(await may(user.token, 'invoice:read')).toBe('NO_PERMISSION');
  });

  it('assigns no other role, to no other people, and not to the administrator themselves', async () => {
    const user = await member();
    const group = await app.must(
      'createGroup',
      { scope: vendor.scope, name: unique(), permissionIds: [] },
      vendor,
    );
    const ungranted = await app.must(
      'createRole',
      { scope: vendor.scope, name: unique(), groupIds: [group.id] },
      vendor,
    );
    for (const roleId of [ungranted.id, roleIdOf('Project Admin'), roleIdOf('Organization Owner')])
      expect((await add(user.userId, [roleId])).code, roleId).toBe('NOT_FOUND');
    for (const { owner } of [other, { owner: vendor.person }])
      expect((await add(owner.userId, [vendor.reader])).code).toBe('NOT_FOUND');
    const named = { scope: grant.scope, name: 'New', roleIds: [vendor.reader], metadata: {} };
    expect((await call('createUser', named, admin.token)).details).toMatchObject([
      { path: 'userId', code: 'required' },
    ]);
    expect((await add(admin.userId, [vendor.reader])).code).toBe('FORBIDDEN');
    const own = { scope: grant.scope, id: customer.owner.userId };
    const mine = await call(
      'createUser',
      { ...own, id: undefined, userId: own.id, roleIds: [vendor.reader], metadata: {} },
      customer.token,
    );
    // An owner may, because no one else could give them a role.
    expect(mine.ok, mine.body).toBe(true);
    await must('updateUser', { ...own, roleIds: [vendor.writer] }, customer.token);
    expect(await may(customer.token, 'invoice:write')).toBe('ALLOWED');
    await must('deleteUser', own, customer.token);
  });

  it('shows the granted definitions only, and changes none', async () => {
    const hidden = await app.must('createRole', { scope: vendor.scope, name: `Hidden ${unique()}` }, vendor);
    const roles = await must<{ items: { id: string }[] }>('roles', { scope: grant.scope }, admin.token);
    expect(new Set(roles.items.map(({ id }) => id))).toEqual(new Set([vendor.reader, vendor.writer]));
    expect((await call('role', { scope: grant.scope, id: hidden.id }, admin.token)).code).toBe('NOT_FOUND');
    const permissions = await must<{ items: { action: string }[] }>(
      'permissions',
      { scope: grant.scope },
      admin.token,
    );
    expect(permissions.items.map(({ action }) => action).sort()).toEqual(['read', 'write']);
    const resources = await must<{ items: { id: string }[] }>(
      'resources',
      { scope: grant.scope },
      admin.token,
    );
    expect(resources.items.map(({ id }) => id)).toEqual([vendor.resourceId]);
    const related = await must<{ groups: object[] }>(
      'role',
      { scope: grant.scope, id: vendor.writer, ...(via === 'rest' ? { relations: ['groups'] } : {}) },
      admin.token,
    );
    if (via === 'rest') expect(related.groups).toMatchObject([{ name: 'Writer' }]);
    const refused: [string, object][] = [
      ['createRole', { name: 'R' }],
      ['updateRole', { id: vendor.reader, name: 'R' }],
      ['deleteRole', { id: vendor.reader }],
      ['createGroup', { name: 'G' }],
      ['createPermission', { resourceId: vendor.resourceId, action: 'read' }],
      ['createResource', { name: 'R', slug: 'r' }],
      ['createTag', { name: 'T' }],
      ['tags', {}],
      ['projectApps', {}],
      ['signingKeys', {}],
      ['projectGrants', {}],
      ...(via === 'rest' ? ([['policySnapshot', {}]] as [string, object][]) : []),
    ];
    for (const [name, input] of refused) {
      const answer = await call(name, { scope: grant.scope, ...input }, customer.token);
      expect([name, answer.code, answer.reason]).toEqual([name, 'FORBIDDEN', 'NO_PERMISSION']);
    }
  });

  it('decides by the metadata of the grant, which the customer cannot set', async () => {
    const permission = await app.must(
      'createPermission',
      {
        scope: vendor.scope,
        resourceId: vendor.resourceId,
        action: 'pay',
        name: `Pay ${unique()}`,
        condition: { Equals: { 'organization.metadata.plan': 'gold' } },
      },
      vendor,
    );
    const group = await app.must(
      'createGroup',
      { scope: vendor.scope, name: unique(), permissionIds: [permission.id] },
      vendor,
    );
    const payer = await app.must(
      'createRole',
      { scope: vendor.scope, name: unique(), groupIds: [group.id] },
      vendor,
    );
    for (const { id } of [grant, otherGrant])
      await app.must(
        'updateProjectGrant',
        { scope: vendor.scope, id, roleIds: [vendor.reader, vendor.writer, payer.id] },
        vendor,
      );
    const user = await member();
    await add(user.userId, [payer.id]);
    const free = await memberOf(app, other, 'Organization Viewer');
    await app.must(
      'createUser',
      { scope: otherGrant.scope, userId: free.userId, roleIds: [payer.id] },
      other,
    );
    expect(await may(user.token, 'invoice:pay')).toBe('ALLOWED_BY_CONDITION');
    expect(await may(free.token, 'invoice:pay', otherGrant.scope)).toBe('CONDITION_NOT_MET');
    await app.must(
      'updateOrganization',
      { scope: other.scope, id: other.id, metadata: { plan: 'gold' } },
      other,
    );
    expect(await may(free.token, 'invoice:pay', otherGrant.scope)).toBe('CONDITION_NOT_MET');
    await app.must(
      'updateProjectGrant',
      { scope: vendor.scope, id: otherGrant.id, metadata: { plan: 'gold' } },
      vendor,
    );
    expect(await may(free.token, 'invoice:pay', otherGrant.scope)).toBe('ALLOWED_BY_CONDITION');
    await app.must(
      'updateProjectGrant',
      { scope: vendor.scope, id: otherGrant.id, metadata: { plan: 'free' } },
      vendor,
    );
    const explained = await must<{ explanation: { roles: { id: string }[]; candidates: object[] } }>(
      'isAuthorized',
      {
        scope: grant.scope,
        permission: { resource: 'invoice', action: 'pay' },
        subject: { userId: user.userId },
        explain: true,
      },
      admin.token,
    );
    expect(explained.explanation.candidates).toMatchObject([{ result: 'met', roleId: payer.id }]);
    const who = await must<{ items: { subject: { id: string } }[] }>(
      'whoCan',
      { scope: grant.scope, permission: { resource: 'invoice', action: 'pay' } },
      admin.token,
    );
    expect(who.items.map(({ subject }) => subject.id)).toEqual([user.userId]);
    const batch = await must<{ items: { authorized: boolean }[] }>(
      'isAuthorizedBatch',
      { scope: grant.scope, items: [{ permission: { resource: 'invoice', action: 'pay' } }] },
      user.token,
    );
    expect(batch.items).toMatchObject([{ authorized: true }]);
    const mine = await must<{ permissions: object[] }>('myPermissions', { scope: grant.scope }, user.token);
    expect(mine.permissions).toContainEqual({ resource: 'invoice', action: 'pay', conditional: true });
    for (const { id } of [grant, otherGrant])
      await app.must(
        'updateProjectGrant',
        { scope: vendor.scope, id, roleIds: [vendor.reader, vendor.writer] },
        vendor,
      );
    expect(await may(user.token, 'invoice:pay')).toBe('NO_PERMISSION');
  });

  it('has keys with granted roles, which end with the grant', async () => {
    const own = await customerOf(app);
    const { id, scope } = await grantTo(app, vendor, own);
    expect((await call('createApiKey', { scope }, own.token)).code).toBe('ROLE_REQUIRED');
    for (const roleId of [roleIdOf('Project Admin'), roleIdOf('Organization Admin')])
      expect((await call('createApiKey', { scope, roleId }, own.token)).code).toBe('NOT_FOUND');
    const key = await must<{ id: string; clientId: string; clientSecret: string; scope: ScopeRef }>(
      'createApiKey',
      { scope, roleId: vendor.writer },
      own.token,
    );
    expect(key.scope).toEqual({ tenant: 'OrganizationProject', id: scope.id });
    const credentials = { clientId: key.clientId, clientSecret: key.clientSecret, scope: key.scope };
    const { accessToken } = await must<{ accessToken: string }>('exchangeApiKey', credentials, '');
    const claims = JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString()) as {
      iss: string;
    };
    expect(claims).toMatchObject({ scope: { id: scope.id } });
    expect(claims.iss).toContain(vendor.projectId);
    expect(await may(accessToken, 'invoice:write', scope)).toBe('ALLOWED');
    expect(await may(accessToken, 'invoice:write', vendor.scope)).toBe('INVALID_SCOPE');
    expect(await may(accessToken, 'invoice:write', grant.scope)).toBe('INVALID_SCOPE');
    const listed = await must<{ items: { id: string }[] }>('apiKeys', { scope }, own.token);
    expect(listed.items.map((item) => item.id)).toEqual([key.id]);
    const ofVendor = await must<{ items: { id: string }[] }>(
      'apiKeys',
      { scope: vendor.scope, limit: 100 },
      vendor.token,
    );
    expect(ofVendor.items.map((item) => item.id)).not.toContain(key.id);
    const counted = await must<{ keyCount: number }>(
      'projectGrant',
      { scope: vendor.scope, id },
      vendor.token,
    );
    expect(counted.keyCount).toBe(1);

    await must('suspendProjectGrant', { scope: vendor.scope, id }, vendor.token);
    expect(
      (
        await call(
          'isAuthorized',
          { scope, permission: { resource: 'invoice', action: 'read' } },
          accessToken,
        )
      ).code,
    ).toBe('UNAUTHENTICATED');
    expect((await call('exchangeApiKey', credentials, '')).code).toBe('UNAUTHENTICATED');
    await must('resumeProjectGrant', { scope: vendor.scope, id }, vendor.token);
    expect(await may(accessToken, 'invoice:write', scope)).toBe('ALLOWED');
    await must('updateProjectGrant', { scope: vendor.scope, id, features: ['audit'] }, vendor.token);
    expect((await call('exchangeApiKey', credentials, '')).code).toBe('UNAUTHENTICATED');
    expect((await call('apiKeys', { scope }, own.token)).reason).toBe('NO_PERMISSION');
    expect((await call('webhookSubscriptions', { scope }, own.token)).reason).toBe('NO_PERMISSION');
    expect((await call('events', { scope }, own.token)).ok).toBe(true);
    await must('updateProjectGrant', { scope: vendor.scope, id, features: ['apiKeys'] }, vendor.token);
    expect((await call('events', { scope }, own.token)).reason).toBe('NO_PERMISSION');
    await must('updateProjectGrant', { scope: vendor.scope, id, roleIds: [vendor.reader] }, vendor.token);
    expect((await call('exchangeApiKey', credentials, '')).code).toBe('UNAUTHENTICATED');
    const revoked = await must<{ status: string; revokedReason: string }>(
      'apiKey',
      { scope, id: key.id },
      own.token,
    );
    expect(revoked).toMatchObject({ status: 'revoked', revokedReason: 'roleRemovedFromGrant' });
    await must('revokeProjectGrant', { scope: vendor.scope, id }, vendor.token);
    expect((await call('apiKeys', { scope }, own.token)).code).toBe('FORBIDDEN');
  });

  it('takes a role away from all users when the grant loses it', async () => {
    const own = await customerOf(app);
    const { id, scope } = await grantTo(app, vendor, own);
    const user = await memberOf(app, own, 'Organization Viewer');
    await must(
      'createUser',
      { scope, userId: user.userId, roleIds: [vendor.reader, vendor.writer], metadata: {} },
      own.token,
    );
    expect(await may(user.token, 'invoice:write', scope)).toBe('ALLOWED');
    const users = await must<{ items: object[]; totalCount: number }>(
      'projectGrantUsers',
      { scope: vendor.scope, id },
      vendor.token,
    );
    expect(users).toMatchObject({ totalCount: 1, items: [{ userId: user.userId }] });
    expect(JSON.stringify(users)).not.toContain(user.email);
    await must('updateProjectGrant', { scope: vendor.scope, id, roleIds: [vendor.reader] }, vendor.token);
    expect(await may(user.token, 'invoice:write', scope)).toBe('NO_PERMISSION');
    expect(await may(user.token, 'invoice:read', scope)).toBe('ALLOWED');
    await must('removeOrganizationMember', { scope: own.scope, userId: user.userId }, own.token);
    expect(await may(user.token, 'invoice:read', scope)).toBe('INVALID_SCOPE');
    const after = await must<{ totalCount: number }>(
      'projectGrantUsers',
      { scope: vendor.scope, id },
      vendor.token,
    );
    expect(after.totalCount).toBe(0);
  });

  it('has at most the users that the grant allows', async () => {
    const own = await customerOf(app);
    const { scope } = await grantTo(app, vendor, own, { maxUsers: 1 });
    const [first, second] = [
      await memberOf(app, own, 'Organization Viewer'),
      await memberOf(app, own, 'Organization Viewer'),
    ];
    const join = ({ userId }: Person, roleIds: string[]) =>
      call('createUser', { scope, userId, roleIds, metadata: {} }, own.token);
    expect((await join(first, [vendor.reader])).ok).toBe(true);
    const refused = await join(second, [vendor.reader]);
    expect([refused.code, refused.details]).toMatchObject([
      'CONFLICT',
      [{ path: 'maxUsers', code: 'limit' }],
    ]);
    expect((await join(second, [])).ok).toBe(true);
  });

  it('keeps two projects of one person apart', async () => {
    const user = await member();
    await app.must(
      'createUser',
      { scope: grant.scope, userId: user.userId, roleIds: [vendor.writer] },
      admin,
    );
    const invited = { scope: other.scope, email: user.email, roleId: roleIdOf('Organization Viewer') };
    await app.must('inviteMember', invited, other);
    await app.must('acceptInvitation', { token: await app.mailedToken(user.email) }, user);
    expect(await may(user.token, 'invoice:write', otherGrant.scope)).toBe('NO_PERMISSION');
    await app.must(
      'createUser',
      { scope: otherGrant.scope, userId: user.userId, roleIds: [vendor.reader] },
      other,
    );
    expect(await may(user.token, 'invoice:read', otherGrant.scope)).toBe('ALLOWED');
    expect(await may(user.token, 'invoice:write', otherGrant.scope)).toBe('NO_PERMISSION');
    const seen = await must<{ roles: { id: string }[] }>(
      'user',
      { scope: otherGrant.scope, id: user.userId },
      other.token,
    );
    expect(JSON.stringify(seen)).not.toContain(vendor.writer);
  });

  it('sends the events of the slice to its own feed and log only', async () => {
    const user = await member();
    await add(user.userId, [vendor.reader]);
    const feed = await must<{
      items: { type: string; scope: ScopeRef; data: { userId?: string; projectId?: string } }[];
    }>('events', { scope: grant.scope, limit: 100 }, customer.token);
    const added = feed.items.filter(({ data }) => data.userId === user.userId);
    expect(added).toMatchObject([
      { type: 'project.user_added', scope: grant.scope, data: { projectId: vendor.projectId } },
    ]);
    const ofVendor = await must<{ items: { type: string; data: object }[] }>(
      'events',
      { scope: vendor.scope, limit: 100, types: ['project.*', 'project_grant.user_changed'] },
      vendor.token,
    );
    const announced = ofVendor.items.filter(({ data }) => JSON.stringify(data).includes(user.userId));
    expect(announced).toEqual([
      expect.objectContaining({
        type: 'project_grant.user_changed',
        data: {
          id: grant.id,
          grantId: grant.id,
          organizationId: customer.id,
          userId: user.userId,
          roleIds: [vendor.reader],
        },
      }),
    ]);
    const log = await must<{ items: object[] }>(
      'auditLogs',
      { scope: grant.scope, targetId: user.userId },
      customer.token,
    );
    expect(log.items).toHaveLength(1);
    const vendorLog = await must<{ items: object[] }>(
      'auditLogs',
      { scope: vendor.scope, targetId: user.userId },
      vendor.token,
    );
    expect(vendorLog.items).toEqual([]);
  });
});

it('gives the owner of a project nothing in a slice', async () => {
  for (const name of ['users', 'apiKeys', 'webhookSubscriptions', 'events', 'auditLogs', 'roles']) {
    const answer = await app.raw(name, { scope: grant.scope }, { token: vendor.token });
    expect([answer.code, answer.reason], name).toEqual(['FORBIDDEN', 'INVALID_SCOPE']);
  }
});

it('reads the metadata of the owning organization in its own projects', async () => {
  const owner = await app.person({ type: 'organization' });
  const { id } = await app.must(
    'createOrganization',
    { scope: owner.account, name: 'O', metadata: { region: 'eu' } },
    owner,
  );
  const project = await app.must(
    'createProject',
    { scope: { tenant: 'organization', id }, name: 'P' },
    owner,
  );
  const { scope } = project;
  const resource = await app.must(
    'createResource',
    { scope, name: 'D', slug: 'doc', actions: ['read'] },
    owner,
  );
  const condition = { Equals: { 'organization.metadata.region': 'eu', 'organization.id': id } };
  const permission = await app.must(
    'createPermission',
    { scope, resourceId: resource.id, action: 'read', condition },
    owner,
  );
  const group = await app.must('createGroup', { scope, name: 'G', permissionIds: [permission.id] }, owner);
  const role = await app.must('createRole', { scope, name: 'R', groupIds: [group.id] }, owner);
  await app.must('createUser', { scope, userId: owner.userId, roleIds: [role.id] }, owner);
  const ask = () =>
    app.must('isAuthorized', { scope, permission: { resource: 'doc', action: 'read' } }, owner);
  expect((await ask()).reason).toBe('ALLOWED_BY_CONDITION');
  await app.must(
    'updateOrganization',
    { scope: { tenant: 'organization', id }, id, metadata: { region: 'us' } },
    owner,
  );
  expect((await ask()).reason).toBe('CONDITION_NOT_MET');
});

describe.each(storyTransports(import.meta))('the owner of the project over %s', (via) => {
  const call = (name: string, input: object, token: string) => app.raw(name, input, { token, via });
  const permission = { resource: 'invoice', action: 'write' };

  it('asks about users of a customer by a key with Authorization:Check, and nothing else', async () => {
    const user = await memberOf(app, customer, 'Organization Viewer');
    await app.must(
      'createUser',
      { scope: grant.scope, userId: user.userId, roleIds: [vendor.writer] },
      admin,
    );
    const key = await app.must(
      'createApiKey',
      { scope: vendor.scope, roleId: roleIdOf('Project Admin') },
      vendor,
    );
    const { accessToken } = await app.must('exchangeApiKey', {
      clientId: key.clientId,
      clientSecret: key.clientSecret ?? '',
      scope: key.scope,
    });
    const subject = { userId: user.userId };
    for (const token of [accessToken, vendor.token]) {
      const asked = await call('isAuthorized', { scope: grant.scope, permission, subject }, token);
      expect(asked.data).toMatchObject({ authorized: true, reason: 'ALLOWED' });
      const own = await call('isAuthorized', { scope: grant.scope, permission }, token);
      expect(own.data).toMatchObject({ authorized: false, reason: 'INVALID_SCOPE' });
      const batch = await call(
        'isAuthorizedBatch',
        { scope: grant.scope, items: [{ permission }], subject },
        token,
      );
      expect(batch.data).toMatchObject({ items: [{ authorized: true }] });
      const unasked = await call('isAuthorizedBatch', { scope: grant.scope, items: [{ permission }] }, token);
      expect(unasked.data).toMatchObject({ items: [{ reason: 'INVALID_SCOPE' }] });
      const explained = await call(
        'isAuthorized',
        { scope: grant.scope, permission, subject, explain: true },
        token,
      );
      expect(explained.data).toMatchObject({
        authorized: true,
        explanation: { subject: { id: user.userId } },
      });
      const who = await call('whoCan', { scope: grant.scope, permission }, token);
      const { items } = who.data as { items: { subject: { id: string } }[] };
      expect(items.map((item) => item.subject.id)).toContain(user.userId);
      const foreign = await call('isAuthorized', { scope: otherGrant.scope, permission, subject }, token);
      expect(foreign.data).toMatchObject({ authorized: false, reason: 'SUBJECT_INACTIVE' });
      for (const [name, more] of [
        ['users', {}],
        ['user', { id: user.userId }],
        ['userPermissions', { id: user.userId }],
        ['myPermissions', {}],
        ['apiKeys', {}],
      ] as const) {
        const refused = await call(name, { scope: grant.scope, ...more }, token);
        expect([name, refused.code, refused.reason]).toEqual([name, 'FORBIDDEN', 'INVALID_SCOPE']);
      }
    }
    await app.must('suspendProjectGrant', { scope: vendor.scope, id: grant.id }, vendor);
    const suspended = await call('isAuthorized', { scope: grant.scope, permission, subject }, accessToken);
    expect(suspended.data).toMatchObject({ authorized: false, reason: 'INVALID_SCOPE' });
    await app.must('resumeProjectGrant', { scope: vendor.scope, id: grant.id }, vendor);
  });

  it('asks nothing by a key without the right, and a customer asks nothing of another', async () => {
    const key = await app.must('createApiKey', { scope: vendor.scope, roleId: vendor.writer }, vendor);
    const { accessToken } = await app.must('exchangeApiKey', {
      clientId: key.clientId,
      clientSecret: key.clientSecret ?? '',
      scope: key.scope,
    });
    const subject = { userId: customer.owner.userId };
    for (const [token, scope] of [
      [accessToken, grant.scope],
      [other.token, grant.scope],
      [customer.token, otherGrant.scope],
      [customer.token, vendor.scope],
    ] as const) {
      const asked = await call('isAuthorized', { scope, permission, subject }, token);
      const reason = asked.ok ? (asked.data as { reason: string }).reason : asked.reason;
      expect(reason).toBe('INVALID_SCOPE');
      expect((await call('whoCan', { scope, permission }, token)).reason).toBe('INVALID_SCOPE');
    }
  });
});

describe.each(storyTransports(import.meta))('an invitation over %s', (via) => {
  const call = (name: string, input: object, token: string) => app.raw(name, input, { token, via });
  const invite = (email: string, grants: object[], token = admin.token) =>
    call(
      'inviteMember',
      { scope: customer.scope, email, roleId: roleIdOf('Organization Viewer'), grants },
      token,
    );

  it('brings roles in granted projects', async () => {
    const person = await app.person();
    const grants = [{ grantId: grant.id, roleIds: [vendor.writer] }];
    const invited = await invite(person.email, grants);
    expect(invited.data).toMatchObject({ grants });
    const token = await app.mailedToken(person.email);
    expect((await call('acceptInvitation', { token }, person.token)).ok).toBe(true);
    const asked = { scope: grant.scope, permission: { resource: 'invoice', action: 'write' } };
    expect((await call('isAuthorized', asked, person.token)).data).toMatchObject({ authorized: true });
  });

  it('brings none that the inviter may not assign, or that ended meanwhile', async () => {
    const person = await app.person();
    const roleIds = [vendor.reader];
    expect((await invite(person.email, [{ grantId: otherGrant.id, roleIds }])).code).toBe('NOT_FOUND');
    const foreign = [{ grantId: grant.id, roleIds: [roleIdOf('Project Admin')] }];
    expect((await invite(person.email, foreign)).code).toBe('NOT_FOUND');
    const twice = { grantId: grant.id, roleIds };
    expect((await invite(person.email, [twice, twice])).code).toBe('VALIDATION_ERROR');

    const own = await vendorOf(app);
    const ended = await grantTo(app, own, customer);
    const both = [
      { grantId: ended.id, roleIds: [own.reader] },
      { grantId: grant.id, roleIds },
    ];
    expect((await invite(person.email, both)).ok).toBe(true);
    await app.must('revokeProjectGrant', { scope: own.scope, id: ended.id }, own);
    const token = await app.mailedToken(person.email);
    expect((await call('acceptInvitation', { token }, person.token)).ok).toBe(true);
    const asked = { scope: grant.scope, permission: { resource: 'invoice', action: 'read' } };
    expect((await call('isAuthorized', asked, person.token)).data).toMatchObject({ authorized: true });

    const second = await app.person();
    const leaving = await memberOf(app, customer, 'Organization Admin');
    expect((await invite(second.email, [{ grantId: grant.id, roleIds }], leaving.token)).ok).toBe(true);
    const link = await app.mailedToken(second.email);
    await app.must('removeOrganizationMember', { scope: customer.scope, userId: leaving.userId }, customer);
    expect((await call('acceptInvitation', { token: link }, second.token)).code).toBe('INVALID_STATE');
  });
});
