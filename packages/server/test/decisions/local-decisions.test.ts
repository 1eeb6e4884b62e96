import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  applyChanges,
  compileSnapshot,
  decide,
  effective,
  type Policy,
  type Subject,
} from '@doorward/decision/decision';
import { roleIdOf, type RoleName } from '../../src/schema/rights/built-in-ids.ts';
import type { JsonObject } from '../../src/kernel/input/values.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { appToken } from '../support/sign-in/app-token.ts';
import { chanceFrom } from '../support/cases/chance.ts';
import { unique } from '../support/app/client.ts';
import { firmOf, type Firm } from '../support/tenants/firm.ts';
import { snapshotReader, type Reader } from '../support/tenants/snapshots.ts';

/**
 * A process that decides by a snapshot, and by the changes that it polls, gives the same answers as the service, in every
 * member (packages §8.3): a random project with users of all kinds, keys and apps, and ten thousand questions.
 */
const QUESTIONS = Number(process.env['LOCAL_QUESTIONS'] ?? 10_000);
const SEED = Number(process.env['LOCAL_SEED'] ?? 20_261_123);
const chance = chanceFrom(SEED);
const some = <T>(from: readonly T[], share: number): T[] => from.filter(() => chance.of(share));

let app: TestApp;
let firm: Firm;
let scope: ScopeRef;
let as: { token: string };
let reader: Reader;
const model = {
  slugs: [] as string[],
  permissions: [] as string[],
  groups: [] as string[],
  roles: [] as string[],
  users: [] as string[],
};
/** Whose questions the service answers: a token, and another user in whose place it asks. */
interface Asker {
  readonly kind: string;
  readonly token: string;
  readonly subject: Subject;
  readonly other?: string;
}
let askers: Asker[];

beforeAll(async () => {
  app = await startApp({ SECURITY_RATE_LIMIT_ENABLED: 'false' });
  firm = await firmOf(app);
  ({ project: scope } = firm);
  as = { token: firm.owner.token };
  reader = snapshotReader(app, scope, firm.owner.token);
  await buildModel();
  askers = await buildAskers();
}, 120_000);
afterAll(() => app.close());

const actions = ['read', 'edit', 'approve', 'close'] as const;
const words = ['a', 'b', '1', 'eu', ''];
const values = [...words, 0, 1, 1.5, true, false, null];

/** Attributes of metadata and resources: scalars, lists and objects under few names, so that conditions often meet them. */
const someObject = (depth = 2): JsonObject =>
  Object.fromEntries(
    some(['team', 'level', 'tags', 'owner', 'deep'], 0.7).map((name) => [
      name,
      chance.of(0.15)
        ? [chance.pick(values), chance.pick(values)]
        : depth > 0 && chance.of(0.25)
          ? someObject(depth - 1)
          : chance.pick(values),
    ]),
  );

const paths = [
  'user.id',
  'user.name',
  'user.email',
  'user.emailVerified',
  'user.metadata',
  'user.metadata.team',
  'user.metadata.deep.team',
  'role.name',
  'role.metadata.team',
  'role.metadata.deep',
  'group.id',
  'group.metadata.level',
  'scope.projectId',
  'scope.organizationId',
  'scope.accountId',
  'resource.team',
  'resource.owner',
  'resource.deep.level',
  'resource.tags',
];
function someCondition(depth = 2): Record<string, unknown> {
  if (depth > 0 && chance.of(0.4)) {
    const inner = () => someCondition(depth - 1);
    return chance.pick([
      () => ({ And: [inner(), inner()] }),
      () => ({ Or: [inner(), inner()] }),
      () => ({ Not: inner() }),
    ])();
  }
  const left = chance.pick(paths);
  const value = chance.of(0.5) ? `{{${chance.pick(paths)}}}` : chance.pick(['a', 'eu', 1, true, null]);
  return chance.pick([
    () => ({ Equals: { [left]: value } }),
    () => ({ NotEquals: { [left]: value } }),
    () => ({ In: { [left]: [value, 'b'] } }),
    () => ({ Contains: { 'resource.tags': value } }),
    () => ({ StringEquals: { [left]: `{{${chance.pick(paths)}}}` } }),
    () => ({ NumericGreaterThanEquals: { 'resource.deep.level': 1 } }),
  ])();
}

async function buildModel(): Promise<void> {
  for (let index = 0; index < 5; index++) {
    const slug = `thing${index}`;
    model.slugs.push(slug);
    const resource = await app.must('createResource', { scope, name: slug, slug, actions: [...actions] }, as);
    for (const action of actions) {
      for (let copies = 0; copies < 3; copies++) {
        const condition = chance.of(0.25) ? null : someCondition();
        const input = { scope, name: `P ${unique()}`, resourceId: resource.id, action, condition };
        model.permissions.push((await app.must('createPermission', input, as)).id);
      }
    }
  }
  for (let index = 0; index < 12; index++) {
    const permissionIds = some(model.permissions, 0.15);
    const group = { scope, name: `G ${index}`, permissionIds, metadata: someObject() };
    model.groups.push((await app.must('createGroup', group, as)).id);
  }
  for (let index = 0; index < 10; index++) {
    const role = { scope, name: `R ${index}`, groupIds: some(model.groups, 0.3), metadata: someObject() };
    model.roles.push((await app.must('createRole', role, as)).id);
  }
  for (let index = 0; index < 24; index++) {
    const user = {
      scope,
      name: `User ${index}`,
      roleIds: some(model.roles, 0.25),
      metadata: someObject(),
    };
    model.users.push((await app.must('createUser', user, as)).id);
  }
  for (const role of ['Organization Admin', 'Organization Developer', 'Organization Viewer'] as RoleName[]) {
    const { userId } = await firm.member(role);
    const input = { scope, userId, roleIds: some(model.roles, 0.3), metadata: someObject() };
    await app.must('createUser', input, as);
    model.users.push(userId);
  }
}

const stranger = '0198c1c0-0000-7000-8000-000000000000';

async function buildAskers(): Promise<Asker[]> {
  const made: Asker[] = [firm.owner.userId, ...model.users, stranger].map((userId) => ({
    kind: 'user',
    token: firm.owner.token,
    subject: { userId },
    other: userId,
  }));
  const exchange = async (key: { clientId: string; clientSecret: string | null; scope: object }) => {
    const { clientId, clientSecret } = key;
    const input = { clientId, clientSecret, scope: key.scope };
    return (await app.must('exchangeApiKey', input as never)).accessToken;
  };
  for (const roleId of [...model.roles.slice(0, 4), roleIdOf('Project Admin')]) {
    const key = await app.must('createApiKey', { scope, roleId }, as);
    made.push({ kind: 'key', token: await exchange(key), subject: { apiKeyId: key.id } });
  }
  const projectId = scope.id.split(':')[1] ?? '';
  for (const userId of [firm.owner.userId]) {
    const ofUser: ScopeRef = { tenant: 'projectUser', id: `${projectId}:${userId}` };
    const key = await app.must('createApiKey', { scope: ofUser }, as);
    made.push({ kind: 'key of a user', token: await exchange(key), subject: { apiKeyId: key.id } });
  }
  const redirectUri = 'https://app.example/callback';
  const pairs = model.slugs.flatMap((slug) => actions.map((action) => `${slug}:${action}`));
  for (const scopes of [null, [], some(pairs, 0.5), [...some(pairs, 0.3), 'Role:Query']]) {
    const input = { scope, name: `App ${unique()}`, redirectUris: [redirectUri], scopes };
    const { id, clientId } = await app.must('createProjectApp', input, as);
    for (const userId of [firm.owner.userId, ...model.users.slice(24)]) {
      const token = await appToken(app, { app: { id, clientId, redirectUri }, userId, scopes });
      const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
        scopes?: string[];
      };
      made.push({ kind: 'app', token, subject: { userId, clientId, scopes: claims.scopes ?? null } });
    }
  }
  return made;
}

const pairs = (): string => {
  if (chance.of(0.08))
    return chance.pick(['Role:Query', 'role:query', 'Organization:Update', 'ApiKey:revoke']);
  if (chance.of(0.05)) return chance.pick(['thing0:unknown', 'nothing:read', ' THING1 : Read ']);
  const action = chance.pick(actions);
  return `${chance.pick(model.slugs)}:${chance.of(0.1) ? action.toUpperCase() : action}`;
};

async function compare(policy: Policy, count: number): Promise<Readonly<Record<string, number>>> {
  const reasons: Record<string, number> = {};
  for (let index = 0; index < count; index++) {
    const kind = chance.pick(['user', 'key', 'key of a user', 'app', 'app']);
    const { token, subject, other } = chance.pick(askers.filter((asker) => asker.kind === kind));
    const permission = pairs();
    const context = chance.of(0.85) ? { resource: chance.of(0.95) ? someObject() : null } : undefined;
    const remote = await app.raw(
      'isAuthorized',
      {
        scope,
        permission,
        ...(context && { context }),
        ...(other === undefined ? {} : { subject: { userId: other } }),
      },
      { token },
    );
    if (!remote.ok) throw new Error(`${kind}: ${remote.status} ${remote.body}`);
    const now = app.clock.now().getTime();
    const local = decide(policy, { subject, permission, ...(context && { context }), now });
    const question = `${kind} ${JSON.stringify({ subject, permission, context, seed: SEED })}`;
    expect(JSON.parse(JSON.stringify(local)), question).toEqual(remote.data);
    reasons[`${kind} ${local.reason}`] = (reasons[`${kind} ${local.reason}`] ?? 0) + 1;
  }
  return reasons;
}

/** Random changes of every kind of row. */
async function change(): Promise<void> {
  const ok = async (name: string, input: object) => {
    const answer = await app.raw(name, { scope, ...input }, as);
    if (!answer.ok) throw new Error(`${name}: ${answer.body}`);
  };
  for (const id of some(model.permissions, 0.1))
    await ok('updatePermission', { id, condition: someCondition() });
  for (const id of some(model.groups, 0.3))
    await ok('updateGroup', { id, metadata: someObject(), permissionIds: some(model.permissions, 0.15) });
  for (const id of some(model.roles, 0.3)) await ok('updateRole', { id, groupIds: some(model.groups, 0.3) });
  for (const id of some(model.users.slice(1, 24), 0.3))
    await ok('updateUser', { id, roleIds: some(model.roles, 0.25), metadata: someObject() });
  const [gone, ...others] = model.permissions;
  await ok('deletePermission', { id: gone });
  model.permissions.splice(0, model.permissions.length, ...others);
  const left = model.users[5] ?? '';
  await ok('deleteUser', { id: left });
  model.users.splice(5, 1);
}

describe('a local decision', () => {
  let policy: Policy;

  it('equals that of the service, in every member', { timeout: 600_000 }, async () => {
    policy = compileSnapshot((await reader.snapshot()).claims);
    const reasons = await compare(policy, QUESTIONS / 2);
    for (const kind of ['user', 'key', 'app'])
      expect(Object.keys(reasons)).toEqual(
        expect.arrayContaining(
          ['NO_PERMISSION', 'ALLOWED', 'ALLOWED_BY_CONDITION', 'CONDITION_NOT_MET'].map(
            (reason) => `${kind} ${reason}`,
          ),
        ),
      );
    expect(Object.keys(reasons)).toEqual(
      expect.arrayContaining([
        'user SUBJECT_INACTIVE',
        'app SCOPE_NOT_CONSENTED',
        'key of a user NO_PERMISSION',
      ]),
    );
  });

  it('equals it after changes too', { timeout: 600_000 }, async () => {
    for (let round = 0; round < 5; round++) {
      await change();
      const { claims } = await reader.changes(policy.version, { timeoutSeconds: 0 });
      expect([claims.full, claims.from]).toEqual([false, policy.version]);
      policy = applyChanges(policy, claims);
      await compare(policy, QUESTIONS / 10);
    }
    expect((await reader.snapshot()).claims.version).toBe(policy.version);
  });

  it('lists the same permissions', async () => {
    const now = app.clock.now().getTime();
    for (const { token, subject, other, kind } of askers) {
      if (other !== undefined && other !== firm.owner.userId) continue;
      const { permissions } = await app.must('myPermissions', { scope }, { token });
      expect(effective(policy, subject, now), kind).toEqual(permissions);
    }
  });
});
