import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { CallOptions, Person } from '../../../test/support/app/client.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** The question itself: who may ask it, about whom and where, and what is answered when there is nothing to answer. */
let app: TestApp;
let owner: Person;
let stranger: Person;
let scope: ScopeRef;
let projectId: string;

beforeAll(async () => {
  app = await startApp();
  owner = await app.person();
  stranger = await app.person();
  const project = await app.must(
    'createProject',
    { scope: owner.account, name: 'P' },
    { token: owner.token },
  );
  ({ scope, id: projectId } = project);
  await app.must(
    'createResource',
    { scope, name: 'Project', slug: 'project', actions: ['query'], createPermissions: true },
    { token: owner.token },
  );
});
afterAll(() => app.close());

async function keyToken(scopeOfKey: ScopeRef, roleId?: string): Promise<string> {
  const as = { token: owner.token };
  const key = await app.must('createApiKey', { scope: scopeOfKey, ...(roleId ? { roleId } : {}) }, as);
  const { clientId, clientSecret } = key;
  const exchange = { clientId, clientSecret: clientSecret as string, scope: key.scope };
  return (await app.must('exchangeApiKey', exchange)).accessToken;
}

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const ask = (input: object, options: CallOptions) =>
    app.raw(
      'isAuthorized',
      { permission: { resource: 'Role', action: 'Query' }, ...input },
      { via, ...options },
    );
  const reasonOf = async (input: object, token: string) =>
    (await ask(input, { token })).data as { reason: string };

  it('needs a scope from a session and takes the own one of a pinned token', async () => {
    expect((await ask({}, { token: owner.token })).code).toBe('SCOPE_REQUIRED');
    const token = await keyToken(scope);
    expect(await reasonOf({}, token)).toMatchObject({ reason: 'ALLOWED' });
    expect(await reasonOf({ scope }, token)).toMatchObject({ reason: 'ALLOWED' });
    expect(await reasonOf({ scope: owner.account }, token)).toMatchObject({ reason: 'INVALID_SCOPE' });
  });

  it('answers a foreign scope like one that never existed', async () => {
    const unknown = { tenant: 'organization', id: '5f0c7b0e-8a0b-4f43-9d55-2f1f6a1f0a11' };
    for (const elsewhere of [
      stranger.account,
      unknown,
      { ...scope, id: `${stranger.account.id}:${projectId}` },
    ]) {
      const answer = await ask({ scope: elsewhere }, { token: owner.token });
      expect([answer.status, answer.data]).toEqual([
        200,
        expect.objectContaining({ authorized: false, reason: 'INVALID_SCOPE' }),
      ]);
    }
  });

  it('answers so about another user too, and explains nothing', { tags: 'independent' }, async () => {
    const unknown = { tenant: 'accountProject', id: `${owner.account.id}:${stranger.userId}` };
    for (const more of [{ subject: { userId: owner.userId } }, { explain: true }]) {
      const answers = await Promise.all(
        [scope, unknown].map((elsewhere) => ask({ scope: elsewhere, ...more }, { token: stranger.token })),
      );
      for (const { status, code, data } of answers) {
        expect([status, code]).toEqual([200, null]);
        expect(data).toMatchObject({ authorized: false, reason: 'INVALID_SCOPE' });
      }
    }
    const items = [{ permission: { resource: 'Role', action: 'Query' } }];
    for (const elsewhere of [scope, unknown]) {
      const input = { scope: elsewhere, items, subject: { userId: owner.userId } };
      const { code, data } = await app.raw('isAuthorizedBatch', input, { via, token: stranger.token });
      expect(code).toBeNull();
      expect(data).toMatchObject({ items: [{ authorized: false, reason: 'INVALID_SCOPE' }] });
    }
  });

  it('keeps the planes apart: `Project` is ours, `project` the customer’s', async () => {
    const viewer = await keyToken(scope, roleIdOf('Project Viewer'));
    const about = (resource: string, action: string) =>
      reasonOf({ permission: { resource, action } }, viewer);
    expect(await about('Project', 'query')).toMatchObject({ reason: 'ALLOWED' });
    expect(await about('project', 'query')).toMatchObject({ reason: 'NO_PERMISSION' });
    expect(await about('Project ', 'query')).toMatchObject({ reason: 'NO_PERMISSION' });
    expect(await about('Project', 'Update')).toMatchObject({ reason: 'NO_PERMISSION' });
    expect(await about('Organization', 'Query')).toMatchObject({ reason: 'NO_PERMISSION' });
  });

  it('decides about another user only for callers who may check, and reveals nothing about unknown users', async () => {
    const subject = { userId: owner.userId };
    const viewer = await keyToken(scope, roleIdOf('Project Viewer'));
    expect(await ask({ subject }, { token: viewer })).toMatchObject({
      code: 'FORBIDDEN',
      reason: 'NO_PERMISSION',
      body: expect.stringContaining('a role that holds Authorization:Check') as unknown,
    });
    expect(await reasonOf({ scope, subject }, owner.token)).toMatchObject({ reason: 'ALLOWED' });
    for (const userId of [stranger.userId, '5f0c7b0e-8a0b-4f43-9d55-2f1f6a1f0a11']) {
      expect(await reasonOf({ scope, subject: { userId } }, owner.token)).toMatchObject({
        reason: 'SUBJECT_INACTIVE',
      });
    }
  });

  it('treats a key of one user as that user, and refuses it once they have left', async () => {
    const userScope: ScopeRef = { tenant: 'projectUser', id: `${projectId}:${owner.userId}` };
    const token = await keyToken(userScope);
    expect(await reasonOf({}, token)).toMatchObject({ reason: 'ALLOWED' });
    expect(await reasonOf({ scope: userScope }, owner.token)).toMatchObject({ reason: 'ALLOWED' });
    const foreign = { tenant: 'projectUser', id: `${projectId}:${stranger.userId}` };
    expect(await reasonOf({ scope: foreign }, owner.token)).toMatchObject({ reason: 'NO_PERMISSION' });
    expect(await reasonOf({ scope: foreign }, stranger.token)).toMatchObject({ reason: 'INVALID_SCOPE' });
  });

  it('answers a question that comes again by the rights of the moment', async () => {
    const as = { token: owner.token };
    const slug = `bill-${via}`;
    const condition = { Equals: { 'resource.ownerId': '{{user.id}}' } };
    const { id: resourceId } = await app.must(
      'createResource',
      { scope, name: slug, slug, actions: ['read'] },
      as,
    );
    const own = await app.must('createPermission', { scope, resourceId, action: 'read', condition }, as);
    const group = await app.must('createGroup', { scope, name: slug, permissionIds: [own.id] }, as);
    const role = await app.must('createRole', { scope, name: slug, groupIds: [group.id] }, as);
    const [mine, another] = [
      await keyToken(scope, role.id),
      await keyToken(scope, roleIdOf('Project Viewer')),
    ];
    const question = {
      scope,
      permission: { resource: slug, action: 'read' },
      context: { resource: { ownerId: owner.userId } },
    };
    const reasons = async () => {
      // From the third time on, only the rights are read again.
      const seen: string[] = [];
      for (let time = 0; time < 4; time++) {
        seen.push((await reasonOf(question, mine)).reason, (await reasonOf(question, another)).reason);
      }
      expect(new Set(seen.filter((_, place) => place % 2 === 1))).toEqual(new Set(['NO_PERMISSION']));
      return [...new Set(seen.filter((_, place) => place % 2 === 0))];
    };
    expect(await reasons()).toEqual(['ALLOWED_BY_CONDITION']);
    await app.must(
      'updatePermission',
      { scope, id: own.id, condition: { Equals: { 'resource.ownerId': 'x' } } },
      as,
    );
    expect(await reasons()).toEqual(['CONDITION_NOT_MET']);
    await app.must('updatePermission', { scope, id: own.id, condition: null }, as);
    expect(await reasons()).toEqual(['ALLOWED']);
    await app.must('updateGroup', { scope, id: group.id, permissionIds: [] }, as);
    expect(await reasons()).toEqual(['NO_PERMISSION']);
  });

  it('takes no whole number that reading may have changed, and compares none that is stored', async () => {
    const as = { token: owner.token };
    // Written as text, because this program would round it as well.
    const resource = (ids: string) => JSON.parse(`{"deep": {"ids": ${ids}}}`) as object;
    const refused = await ask({ scope, context: { resource: resource('[1, 1142734567890123457]') } }, as);
    expect(refused.code).toBe('VALIDATION_ERROR');
    expect(refused.details).toMatchObject([{ path: 'context.resource.deep.ids.1', code: 'too_big' }]);
    const least = await ask({ scope, context: { resource: resource('-9007199254740992') } }, as);
    expect(least.details).toMatchObject([{ path: 'context.resource.deep.ids', code: 'too_small' }]);
    const many = await ask({ scope, context: { resource: { n: Array(50).fill(1e300) } } }, as);
    expect(many.details).toHaveLength(20);
    expect((await ask({ scope, context: { resource: resource('9007199254740991') } }, as)).ok).toBe(true);

    const { items } = await app.must('resources', { scope, search: 'project' }, as);
    const condition = { NotEquals: { 'resource.ownerId': 1142734567890123456 } };
    const input = {
      scope,
      resourceId: items.find(({ slug }) => slug === 'project')?.id ?? '',
      action: 'query',
    };
    const written = await app.call('createPermission', { ...input, condition }, { ...as, via });
    expect(written.code).toBe('INVALID_CONDITION');
    expect(written.details).toMatchObject([
      { path: 'condition.NotEquals.resource.ownerId', code: 'too_big' },
    ]);
  });

  it('caps what a caller may send as context', async () => {
    let deep: unknown = 1;
    for (let i = 0; i < 12; i++) deep = { deep };
    const tooDeep = await ask({ scope, context: { resource: deep } }, { token: owner.token });
    expect(tooDeep).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'context.resource', code: 'too_deep' }],
    });
    const long = await ask(
      { scope, context: { resource: { a: 'x'.repeat(70_000) } } },
      { token: owner.token },
    );
    expect(long.details).toMatchObject([{ path: 'context.resource', code: 'too_long' }]);
  });
});

describe('session gates', () => {
  it('lets an unverified user work only in their own personal account', async () => {
    const fresh = await app.person({ verified: false });
    const as = { token: fresh.token };
    await app.must('createProject', { scope: fresh.account, name: 'Mine' }, as);
    const organization = await app.person({ verified: false, type: 'organization' });
    const refused = await app.call(
      'createOrganization',
      { scope: organization.account, name: 'Early' },
      { token: organization.token },
    );
    expect(refused.code).toBe('EMAIL_VERIFICATION_REQUIRED');
    // In the personal project of another user they are a guest, and guests must be verified.
    await app.database.pool.execute(
      sql`insert into project_users (tenant_id, user_id) values (${projectId}, ${fresh.userId})`,
    );
    await app.database.pool
      .execute(sql`insert into project_user_roles (tenant_id, user_id, role_id, role_tenant_id)
      values (${projectId}, ${fresh.userId}, ${roleIdOf('Project Viewer')}, '00000000-0000-0000-0000-000000000000')`);
    expect((await app.call('roles', { scope }, as)).code).toBe('EMAIL_VERIFICATION_REQUIRED');
    await app.must('verifyEmail', { token: await app.mailedToken(fresh.email) });
    expect((await app.call('roles', { scope }, as)).status).toBe(200);
  });

  it('asks for a recent sign-in before an organization is deleted, and for a second factor where one is demanded', async () => {
    const founder = await app.person({ type: 'organization' });
    const as = { token: founder.token };
    const { id } = await app.must('createOrganization', { scope: founder.account, name: 'Careful' }, as);
    const own: ScopeRef = { tenant: 'organization', id };
    await app.must('updateOrganization', { scope: own, id, requireMfaForSensitiveActions: true }, as);
    expect((await app.call('createTag', { scope: own, name: 'x' }, as)).code).toBe('MFA_REQUIRED');
    expect((await app.call('tags', { scope: own }, as)).status).toBe(200);
    const other = await app.must('createOrganization', { scope: founder.account, name: 'Doomed' }, as);
    const doomed: ScopeRef = { tenant: 'organization', id: other.id };
    app.clock.advance(14 * 60_000);
    app.clock.advance(2 * 60_000);
    const again = await app.must('login', {
      provider: 'email',
      providerId: founder.email,
      providerData: { password: founder.password },
    });
    app.clock.advance(16 * 60_000);
    const renewed = await app.must('refreshSession', {
      accessToken: again.accessToken,
      refreshToken: again.refreshToken,
    });
    const stale = await app.call(
      'deleteOrganization',
      { scope: doomed, id: other.id },
      { token: renewed.accessToken },
    );
    expect(stale.code).toBe('STEP_UP_REQUIRED');
    const fresh = await app.must('login', {
      provider: 'email',
      providerId: founder.email,
      providerData: { password: founder.password },
    });
    const deleted = await app.must(
      'deleteOrganization',
      { scope: doomed, id: other.id },
      { token: fresh.accessToken },
    );
    expect(deleted.deletedAt).not.toBeNull();
    const gone = await app.call('tags', { scope: doomed }, { token: fresh.accessToken });
    expect(gone).toMatchObject({ code: 'FORBIDDEN', reason: 'INVALID_SCOPE' });
  });
});
