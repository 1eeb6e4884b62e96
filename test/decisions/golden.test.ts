import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileCondition } from '../../src/access/conditions.ts';
import { parseCondition } from '../../src/access/conditions-parse.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { transports, type Person, type Via } from '../support/client.ts';
import { context, golden } from './golden.ts';

/**
 * The golden cases of the condition language, each on the compiled condition alone and through the service: written
 * with createPermission, held by a role, asked with isAuthorized.
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
  some.map((one) => [one.number, JSON.stringify(one.condition), one] as const);

describe('the cases', () => {
  it('are all there, and each says another thing', () => {
    expect(new Set(golden.map(([number]) => number)).size).toBe(61);
    // One condition is asked twice: with the resource and without it.
    expect(new Set(golden.map(([number, json]) => `${json} ${number === 56}`)).size).toBe(golden.length);
  });

  it.each(named(cases))('%i, pure: %s', (number, _, { condition, expected }) => {
    const { resource, ...rest } = context;
    const truth = compileCondition(condition).evaluate(number === 56 ? rest : { ...rest, resource });
    expect(parseCondition(condition, '').problems.length > 0).toBe(expected === 'refused');
    expect(truth).toBe(expected === 'refused' ? 'unknown' : expected);
  });
});

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

  describe.each(transports)('%s', (via) => {
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

    it.each(named(notMet))('%i, its opposite: %s', async (number, _, one) => {
      // False and unknown are refused alike; only what is false makes its negation true.
      const { authorized } = await world.ask(`not-${one.action}`, number !== 56);
      expect(authorized).toBe(one.expected === 'false');
    });

    it.each(named(refused))('%i is refused when written, never met when stored: %s', async (_, json, one) => {
      const as = { via, token: owner.token };
      const input = { scope, resourceId: world.resourceId, action: 'any', condition: one.condition };
      const answer = await app.raw('createPermission', input, as);
      expect(answer).toMatchObject({ status: via === 'rest' ? 400 : 200, code: 'INVALID_CONDITION' });
      expect(answer.details[0]?.path).toMatch(/^condition\./);
      const patch = { scope, id: world.anyPermissionId, condition: one.condition };
      expect(await app.raw('updatePermission', patch, as)).toMatchObject({ code: 'INVALID_CONDITION' });
      expect(await world.ask('any')).toMatchObject({ authorized: true, reason: 'ALLOWED' });

      await world.store(json);
      expect(await world.ask('any')).toMatchObject({ authorized: false, reason: 'CONDITION_NOT_MET' });
      await world.store('null');
    });
  });

  /** One permission a case and one for its opposite, all worn by one user, whom the owner asks about. */
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

    // The user comes first: conditions name him.
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
    /** Behind the API's back. A question about somebody else reads what he holds anew. */
    const store = async (json: string) => {
      await app.database.pool.execute(
        sql`update permissions set condition = ${json}::jsonb where id = ${anyPermissionId}::uuid`,
      );
      // Nobody told this process; any change of rights in the project does.
      await app.must('createGroup', { scope, name: `G ${stored++}` }, as);
    };
    return { ask, store, resourceId: resource('any').id, anyPermissionId };
  }
});
