import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { storyTransports } from '../support/cases/breadth.ts';
import type { Person, Via } from '../support/app/client.ts';
import { context, golden } from '@doorward/decision/golden/conditions';

/**
 * The golden cases of the condition language through the service: created with createPermission, assigned by a role,
 * checked with isAuthorized.
 */
const cases = golden.map(([number, json, expected], index) => ({
  number,
  condition: JSON.parse(json) as Record<string, unknown> | null,
  expected,
  action: `case-${index + 1}`,
}));
const written = cases.filter(({ expected }) => expected !== 'refused');
const notMet = written.filter(({ expected }) => expected !== 'true');
const refused = cases.filter(({ expected }) => expected === 'refused');
const named = <T extends (typeof cases)[number]>(some: readonly T[]) =>
  some.map((item) => [item.number, JSON.stringify(item.condition), item] as const);

describe('over the API', () => {
  let app: TestApp;
  let owner: Person;
  let scope: ScopeRef;
  beforeAll(async () => {
    app = await startApp();
    owner = await app.person();
    const input = { scope: owner.account, name: 'P' };
    ({ scope } = await app.must('createProject', input, { token: owner.token }));
  });
  afterAll(() => app.close());

  describe.each(storyTransports(import.meta))('%s', (via) => {
    let world: Awaited<ReturnType<typeof build>>;
    beforeAll(async () => {
      world = await build(via);
    });

    it.each(named(written))('%i: %s', async (number, _, { condition, expected, action }) => {
      expect(await world.ask(action, number !== 56)).toMatchObject({
        authorized: expected === 'true',
        reason:
          expected !== 'true'
            ? 'CONDITION_NOT_MET'
            : condition && Object.keys(condition).length > 0
              ? 'ALLOWED_BY_CONDITION'
              : 'ALLOWED',
      });
    });

    it.each(named(notMet))('%i, its opposite: %s', async (number, _, item) => {
      // False and unknown are refused alike; only for false is the negation true.
      const { authorized } = await world.ask(`not-${item.action}`, number !== 56);
      expect(authorized).toBe(item.expected === 'false');
    });

    it.each(named(refused))(
      '%i is refused when written, never met when stored: %s',
      async (_, json, item) => {
        const as = { via, token: owner.token };
        const input = { scope, resourceId: world.resourceId, action: 'any', condition: item.condition };
        const answer = await app.raw('createPermission', input, as);
        expect(answer).toMatchObject({ status: via === 'rest' ? 400 : 200, code: 'INVALID_CONDITION' });
        expect(answer.details[0]?.path).toMatch(/^condition\./);
        const patch = { scope, id: world.anyPermissionId, condition: item.condition };
        expect(await app.raw('updatePermission', patch, as)).toMatchObject({ code: 'INVALID_CONDITION' });
        expect(await world.ask('any')).toMatchObject({ authorized: true, reason: 'ALLOWED' });

        await world.store(json);
        expect(await world.ask('any')).toMatchObject({ authorized: false, reason: 'CONDITION_NOT_MET' });
        await world.store('null');
      },
    );
  });

  /** One permission for each case and one for its negation, all assigned to one user, about whom the owner asks. */
  async function build(via: Via) {
    const as = { via, token: owner.token };
    const made: string[] = [];
    let stored = 0;
    const resources = new Map<string, { id: string; slug: string }>();
    const actions = [
      ...written.map(({ action }) => action),
      ...notMet.map(({ action }) => `not-${action}`),
      'any',
    ];
    // A resource has 50 actions at most.
    for (const [index, some] of [actions.slice(0, 50), actions.slice(50)].entries()) {
      const slug = `${via}-${index}`;
      const resource = await app.must('createResource', { scope, name: slug, slug, actions: some }, as);
      for (const action of some) resources.set(action, resource);
    }
    const resource = (action: string) => resources.get(action) ?? { id: '', slug: '' };

    // The user is created first, because conditions refer to them.
    const subject = await app.must('createUser', { scope, name: 'Una', metadata: context.user.metadata }, as);
    const projectId = scope.id.split(':')[1] ?? '';
    const inService = <T>(value: T): T =>
      JSON.parse(
        JSON.stringify(value).replaceAll('"u1"', `"${subject.id}"`).replaceAll('"p1"', `"${projectId}"`),
      ) as T;
    const permission = async (action: string, condition: Record<string, unknown> | null) => {
      const input = { scope, resourceId: resource(action).id, action, condition: inService(condition) };
      made.push((await app.must('createPermission', input, as)).id);
    };
    for (const { action, condition } of written) await permission(action, condition);
    for (const { action, condition } of notMet) await permission(`not-${action}`, { Not: condition });
    await permission('any', null);
    const anyPermissionId = made.at(-1) ?? '';

    const group = await app.must('createGroup', { scope, name: 'Docs', permissionIds: made }, as);
    const role = { scope, name: 'Editor', metadata: context.role.metadata, groupIds: [group.id] };
    const { id: roleId } = await app.must('createRole', role, as);
    await app.must('updateUser', { scope, id: subject.id, roleIds: [roleId] }, as);

    const ask = async (action: string, withResource = true) => {
      const input = {
        scope,
        subject: { userId: subject.id },
        permission: { resource: resource(action).slug, action },
        ...(withResource && { context: { resource: inService(context.resource) } }),
      };
      return app.must('isAuthorized', input, as);
    };
    /** Writes to the database directly. A question about another user reads their permissions again. */
    const store = async (json: string) => {
      await app.database.pool.execute(
        sql`update permissions set condition = ${json}::jsonb where id = ${anyPermissionId}::uuid`,
      );
      // This process received no notification of the write; any change of permissions in the project invalidates its
      // caches.
      await app.must('createGroup', { scope, name: `G ${stored++}` }, as);
    };
    return { ask, store, resourceId: resource('any').id, anyPermissionId };
  }
});
