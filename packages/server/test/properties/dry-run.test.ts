import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { z } from 'zod';
import { permissionIdOf, resourceIdOf, roleIdOf } from '../../src/schema/rights/built-in-ids.ts';
import type { Affected, Impact } from '../../src/access/dry-run/impact.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { digest, joined, keyToken, member } from '../contract/world.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { isWhole } from '../support/cases/breadth.ts';
import { transports, type OperationName, type Person, type Via } from '../support/app/client.ts';

/**
 * The result of a dry run is correct: random changes in an organization with projects, members and keys are dry-run
 * first and then made. The reported effect on each subject equals the difference between the lists of their
 * permissions before and after, in every scope, and the dry run has changed no table.
 */
const ROUNDS = Number(process.env['DRY_RUN_ROUNDS'] ?? (isWhole() ? 12 : 4));
const SEED = Number(process.env['PROPERTY_SEED'] ?? 20_261_121);

type Level = 'organization' | 'project';
type Listed = z.output<typeof Impact>['affected'][number]['gains'];

interface Subject {
  readonly type: 'user' | 'apiKey';
  readonly id: string;
  readonly token: string;
  readonly scopes: readonly ScopeRef[];
}

let app: TestApp;
let founder: Person;
let people: Person[];
let subjects: Subject[];
let scopes: Record<Level, ScopeRef>;
let other: ScopeRef;
let resourceId: string;
const rows: Record<'roles' | 'groups' | 'permissions', Record<Level, string[]>> = {
  roles: { organization: [], project: [] },
  groups: { organization: [], project: [] },
  permissions: { organization: [], project: [] },
};
const tried: Record<string, { made: number; felt: number; refused: number }> = {};

const builtIn = ['Role:Query', 'Tag:Query', 'Tag:Create', 'User:Query', 'OrganizationMember:Query'];
const conditions = [
  null,
  { Equals: { 'resource.ownerId': '{{user.id}}' } },
  { Equals: { 'role.metadata.region': 'eu' } },
  { Equals: { 'user.metadata.desk': { $ref: 'resource.desk' } } },
];

beforeAll(async () => {
  app = await startApp();
  founder = await app.person({ type: 'organization' });
  const as = { token: founder.token };
  const { id } = await app.must('createOrganization', { scope: founder.account, name: 'Random' }, as);
  const organization = joined('organization', id);
  const project = (await app.must('createProject', { scope: organization, name: 'One' }, as)).scope;
  other = (await app.must('createProject', { scope: organization, name: 'Two' }, as)).scope;
  scopes = { organization, project };
  const doc = { scope: project, name: 'Doc', slug: 'doc', actions: ['read', 'write', 'share'] };
  const resource = await app.must('createResource', { ...doc, createPermissions: true }, as);
  resourceId = resource.id;
  const own = (await app.must('permissions', { scope: project, resourceId }, as)).items;
  rows.permissions.organization.push(...builtIn.map(permissionIdOf));
  rows.permissions.project.push(...builtIn.slice(0, 3).map(permissionIdOf), ...own.map((item) => item.id));
  for (const level of ['organization', 'project'] as const) {
    const scope = scopes[level];
    for (let n = 0; n < 3; n++) {
      const permissionIds = rows.permissions[level].filter((_, at) => at % 3 >= n);
      const group = await app.must('createGroup', { scope, name: `G${n}`, permissionIds }, as);
      rows.groups[level].push(group.id);
      const role = await app.must('createRole', { scope, name: `R${n}`, groupIds: [group.id] }, as);
      rows.roles[level].push(role.id);
    }
  }
  rows.roles.organization.push(roleIdOf('Organization Viewer'));
  rows.roles.project.push(roleIdOf('Project Viewer'));
  people = [];
  for (let n = 0; n < 3; n++) {
    const person = await member(app, id, n === 2 ? 'Organization Admin' : 'Organization Viewer');
    people.push(person);
    const roleIds = rows.roles.project.slice(n, n + 2);
    await app.must('createUser', { scope: project, userId: person.userId, roleIds }, as);
  }
  const all = [organization, project, other];
  subjects = [founder, ...people].map(({ userId, token }) => ({
    type: 'user',
    id: userId,
    token,
    scopes: all,
  }));
  for (const roleId of [rows.roles.organization[0], rows.roles.project[1]]) {
    await addKey(project, founder, roleId);
  }
  await addKey(other, founder, rows.roles.organization[1]);
  for (const person of people.slice(0, 2)) await addOwnKey(person);
  // Conditions on a key read the attributes of the user who created it.
  await addKey(project, people[2] as Person, rows.roles.project[0]);
}, 120_000);

afterAll(async () => {
  const reported = Object.entries(tried).map(
    ([kind, { made, felt, refused }]) => `${kind} ${made} (${felt} felt) + ${refused}`,
  );
  process.stdout.write(`dry runs: changes made + refused: ${reported.sort().join(', ')}\n`);
  await app.close();
});

async function addKey(scope: ScopeRef, creator: Person, roleId?: string): Promise<void> {
  const token = await keyToken(app, creator.token, scope, roleId);
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
    jti: string;
  };
  subjects.push({ type: 'apiKey', id: claims.jti, token, scopes: [scopes.project] });
  if (scope === other) (subjects.at(-1) as { scopes: readonly ScopeRef[] }).scopes = [other];
}

const addOwnKey = (person: Person) =>
  addKey(joined('projectUser', scopes.project.id.split(':')[1] ?? '', person.userId), founder);

const kinds = [
  'createRole',
  'updateRole',
  'updateRole',
  'deleteRole',
  'createGroup',
  'updateGroup',
  'updateGroup',
  'deleteGroup',
  'createPermission',
  'updatePermission',
  'updatePermission',
  'deletePermission',
  'updateOrganizationMember',
  'removeOrganizationMember',
  'createUser',
  'updateUser',
  'updateUser',
  'deleteUser',
] as const satisfies OperationName[];

const act = fc.record({
  kind: fc.constantFrom(...kinds),
  level: fc.constantFrom<Level>('organization', 'project'),
  via: fc.constantFrom<Via>(...transports),
  person: fc.nat(2),
  row: fc.nat(30),
  sets: fc.uniqueArray(fc.nat(30), { maxLength: 4 }),
  condition: fc.constantFrom(...conditions),
  metadata: fc.constantFrom({}, { region: 'eu', desk: 1 }, { region: 'us', desk: 2 }),
});
type Act = typeof act extends fc.Arbitrary<infer A> ? A : never;

const pick = <T>(list: readonly T[], index: number): T | undefined => list[index % Math.max(list.length, 1)];
/** Mostly rows that can be changed, and the first ones, which are assigned to a user. */
const own = (list: readonly string[], index: number): string | undefined =>
  pick(index % 8 === 0 ? list : list.filter((id) => id.charAt(14) !== '5').slice(0, 5), index);

function inputOf({ kind, level, person, row, sets, condition, metadata }: Act): Record<string, unknown> {
  const at: Level = kind.endsWith('Member') ? 'organization' : level;
  const scope = scopes[at];
  const ids = (list: readonly string[]) => [...new Set(sets.flatMap((n) => pick(list, n) ?? []))];
  const { userId } = people[person] as Person;
  const roleIds = at === 'project' ? ids(rows.roles.project) : [pick(rows.roles.organization, row)];
  switch (kind) {
    case 'createRole':
      return { scope, name: 'New', groupIds: ids(rows.groups[at]), metadata };
    case 'updateRole':
      return {
        scope,
        id: own(rows.roles[at], row),
        ...(row % 3 === 0 ? { metadata } : { groupIds: ids(rows.groups[at]) }),
      };
    case 'createGroup':
      return { scope, name: 'New', permissionIds: ids(rows.permissions[at]) };
    case 'updateGroup':
      return { scope, id: own(rows.groups[at], row), permissionIds: ids(rows.permissions[at]) };
    case 'createPermission':
      return {
        scope,
        ...(at === 'project'
          ? { resourceId, action: 'read' }
          : { resourceId: resourceIdOf('Tag'), action: 'Query' }),
        condition,
      };
    case 'updatePermission':
      return { scope, id: own(rows.permissions[at], row), condition };
    case 'deleteRole':
      return { scope, id: own(rows.roles[at], row) };
    case 'deleteGroup':
      return { scope, id: own(rows.groups[at], row) };
    case 'deletePermission':
      return { scope, id: own(rows.permissions[at], row) };
    case 'updateOrganizationMember':
      return { scope, userId, roleId: pick(rows.roles.organization, row) };
    case 'removeOrganizationMember':
      return { scope, userId };
    case 'createUser':
      return { scope: row % 2 ? scopes.project : other, userId, ...(row % 2 ? { roleIds } : {}) };
    case 'updateUser':
      return { scope, id: userId, ...(row % 3 === 0 ? { metadata } : { roleIds }) };
    case 'deleteUser':
      return { scope: scopes.project, id: userId };
  }
}

/** The permissions of every subject in every scope, as the subject lists them; a subject without access has none. */
async function listsOfAll() {
  const lists = new Map<string, { permissions: Listed; version: string }>();
  for (const { type, id, token, scopes: places } of subjects) {
    for (const scope of places) {
      const { ok, status, data } = await app.call('myPermissions', { scope }, { token });
      expect([200, 401, 403]).toContain(status);
      lists.set(`${scope.id} ${type} ${id}`, ok ? data : { permissions: [], version: 'none' });
    }
  }
  return lists;
}

const text = (item: Listed[number]) => JSON.stringify(item);
const without = (list: Listed, taken: Listed): Listed => {
  const texts = new Set(taken.map(text));
  return list.filter((item) => !texts.has(text(item)));
};

type Lists = Awaited<ReturnType<typeof listsOfAll>>;

function expectReported(before: Lists, after: Lists, reported: readonly Affected[], what: string): void {
  const match = new Map(
    reported.map((item) => [`${item.scope.id} ${item.subject.type} ${item.subject.id}`, item]),
  );
  expect(match.size, what).toBe(reported.length);
  for (const [who, had] of before) {
    const has = after.get(who) as typeof had;
    const item = match.get(who);
    match.delete(who);
    const gains = without(has.permissions, had.permissions);
    const loses = without(had.permissions, has.permissions);
    expect([item?.gains ?? [], item?.loses ?? []], `${what}: ${who}`).toEqual([gains, loses]);
    const same = had.version === has.version || had.permissions.length + has.permissions.length === 0;
    expect(item === undefined, `${what}: ${who} is told exactly if his version is another`).toBe(same);
    for (const pair of item?.changes ?? []) expect(had.permissions).toContainEqual(pair);
    if (item && gains.length + loses.length === 0) expect(item.changes.length, what).toBeGreaterThan(0);
  }
  expect([...match.keys()], `${what}: of nobody else`).toEqual([]);
}

const order = ({ scope, subject }: Affected): string =>
  `${scope.tenant === 'organization' ? '' : scope.id} ${subject.type} ${subject.id}`;

async function dryRun(kind: OperationName, input: Record<string, unknown>, via: Via) {
  const as = { token: founder.token, via, select: '{ id }' };
  const answer = await app.raw(kind, { ...input, dryRun: true }, as);
  const whole = JSON.parse(answer.body) as { data: unknown; extensions?: { dryRun: Record<string, Impact> } };
  return { answer, impact: (via === 'rest' ? whole.data : whole.extensions?.dryRun[kind]) as Impact };
}

/** A removed member is added again, so that the next round has members to change. */
async function comeBack(): Promise<void> {
  const as = { token: founder.token };
  const { organization: scope, project } = scopes;
  for (const person of people) {
    const { userId, email, token } = person;
    const invite = { scope, email, roleId: pick(rows.roles.organization, 1) ?? '' };
    if ((await app.must('organizationMembers', { scope, ids: [userId] }, as)).totalCount === 0) {
      await app.must('inviteMember', invite, as);
      await app.must('acceptInvitation', { token: await app.mailedToken(email) }, { token });
    }
    if ((await app.must('users', { scope: project, ids: [userId] }, as)).totalCount > 0) continue;
    await app.must('createUser', { scope: project, userId, roleIds: rows.roles.project.slice(0, 2) }, as);
    await addOwnKey(person);
  }
}

const lists = { createRole: 'roles', createGroup: 'groups', createPermission: 'permissions' } as const;

it(`reports for ${ROUNDS} changes what they do then, and changes nothing`, { timeout: 600_000 }, async () => {
  const acts = fc.sample(act, { seed: SEED, numRuns: ROUNDS });
  let before = await listsOfAll();
  for (const [round, item] of acts.entries()) {
    const { kind, level, via } = item;
    const input = inputOf(item);
    const what = `round ${round}: ${kind} ${JSON.stringify(input)}`;
    const untouched = await digest(app);
    const { answer, impact } = await dryRun(kind, input, via);
    expect(await digest(app), what).toEqual(untouched);
    expect(answer.code, `${what}: ${app.logs.at(-2)} ${app.logs.at(-1)}`).not.toBe('INTERNAL_ERROR');

    const made = await app.raw(kind, input, { token: founder.token, via, select: '{ id }' });
    expect([answer.ok, answer.code, answer.reason, answer.details], `${what}: ${made.body}`).toEqual([
      made.ok,
      made.code,
      made.reason,
      made.details,
    ]);
    const count = (tried[kind] ??= { made: 0, felt: 0, refused: 0 });
    if (!made.ok) {
      count.refused++;
      continue;
    }
    count.made++;
    if (impact.affected.length > 0) count.felt++;
    expect([impact.dryRun, impact.truncated]).toEqual([true, false]);
    expect(impact.affected.map(order)).toEqual(impact.affected.map(order).sort());
    const after = await listsOfAll();
    expectReported(before, after, impact.affected, what);
    if (kind in lists) {
      rows[lists[kind as keyof typeof lists]][level].push((made.data as { id: string }).id);
    }
    before = after;
    for (const list of Object.values(rows)) {
      if (kind.startsWith('delete')) list[level] = list[level].filter((id) => id !== input['id']);
    }
    if (/^(remove|delete)/.test(kind)) {
      await comeBack();
      before = await listsOfAll();
    }
  }
});
