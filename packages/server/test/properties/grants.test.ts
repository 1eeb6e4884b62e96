import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  ORGANIZATION_OWNER,
  permissionIdOf,
  resourceIdOf,
  roleIdOf,
} from '../../src/schema/rights/built-in-ids.ts';
import { rowsOf } from '../../src/db/statements/rows.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { isWhole } from '../support/cases/breadth.ts';
import { unique, type Person } from '../support/app/client.ts';
import { permissionsHeld, type HeldPermissions, type Tenant } from './held-permissions.ts';

/**
 * No subject grants or removes what it does not hold: a random organization with random roles, in which random members
 * try every operation that changes permissions. After every allowed call, what each subject gained or lost is compared
 * with what the actor held before it.
 */
const RUNS = Number(process.env['PROPERTY_RUNS'] ?? (isWhole() ? 16 : 8));
const SEED = Number(process.env['PROPERTY_SEED'] ?? 20_261_121);
const ACTS = 40;

let app: TestApp;
let people: Person[];
const tried: Record<string, { allowed: number; refused: number }> = {};

beforeAll(async () => {
  app = await startApp();
  people = [];
  for (let n = 0; n < 5; n++) people.push(await app.person({ type: 'organization' }));
});
afterAll(async () => {
  const reported = Object.entries(tried).map(
    ([kind, { allowed, refused }]) => `${kind} ${allowed}+${refused}`,
  );
  process.stdout.write(`grants: acts allowed + refused: ${reported.sort().join(', ')}\n`);
  await app.close();
});

/** The rows to choose from: rows of the organization and of the project, including built-in ones. */
interface World extends Tenant {
  readonly scopes: Record<Level, ScopeRef>;
  readonly roles: Record<Level, string[]>;
  readonly groups: Record<Level, string[]>;
  readonly permissions: Record<Level, string[]>;
  readonly resourceId: string;
}
type Level = 'organization' | 'project';

const kinds = [
  'createRole',
  'updateRole',
  'deleteRole',
  'createGroup',
  'updateGroup',
  'deleteGroup',
  'createPermission',
  'updatePermission',
  'deletePermission',
  'updateResource',
  'updateOrganizationMember',
  'removeOrganizationMember',
  'createUser',
  'updateUser',
  'deleteUser',
] as const;

const act = fc.record({
  kind: fc.constantFrom(...kinds),
  level: fc.constantFrom<Level>('organization', 'project'),
  // The founder acts more often than the others, so that many calls are allowed.
  actor: fc.constantFrom(0, 0, 0, 1, 2, 3, 4),
  target: fc.nat(4),
  row: fc.nat(30),
  sets: fc.uniqueArray(fc.nat(30), { maxLength: 4 }),
  conditional: fc.boolean(),
});
type Act = typeof act extends fc.Arbitrary<infer A> ? A : never;

const grantable = [
  'OrganizationMember:Update',
  'OrganizationMember:Remove',
  'OrganizationMember:Query',
  'Role:Create',
  'Role:Update',
  'Role:Delete',
  'Group:Create',
  'Group:Update',
  'Group:Delete',
  'Permission:Create',
  'Permission:Update',
  'Permission:Delete',
  'Resource:Update',
  'User:Create',
  'User:Update',
  'User:Delete',
  'ApiKey:Create',
  'Project:Delete',
];

const condition = { Equals: { 'resource.ownerId': '{{user.id}}' } };
/** Mostly rows that can be changed: built-in ones come first and are always refused in the same way. */
const pickOwn = (list: readonly string[], index: number): string | undefined =>
  pick(index % 6 === 0 ? list : list.filter((id) => !isBuiltIn(id)), index);
const isBuiltIn = (id: string): boolean => id.charAt(14) === '5';
const pick = <T>(list: readonly T[], index: number): T | undefined => list[index % Math.max(list.length, 1)];

/** An organization of the first person; the others are members with roles of random groups. */
async function createWorld(seedSets: readonly (readonly number[])[]): Promise<World> {
  const founder = people[0] as Person;
  const as = { token: founder.token };
  const { id } = await app.must('createOrganization', { scope: founder.account, name: 'Random' }, as);
  const organization: ScopeRef = { tenant: 'organization', id };
  const { id: projectId, scope: project } = await app.must(
    'createProject',
    { scope: organization, name: 'Random' },
    as,
  );
  const resource = await app.must(
    'createResource',
    { scope: project, name: 'Doc', slug: `doc-${unique()}`, createPermissions: true },
    as,
  );
  const own = (await app.must('permissions', { scope: project, resourceId: resource.id }, as)).items;
  const builtIn = grantable.map(permissionIdOf);
  const world: World = {
    organizationId: id,
    projectId,
    scopes: { organization, project },
    roles: {
      organization: [ORGANIZATION_OWNER, roleIdOf('Organization Developer')],
      project: [roleIdOf('Project Admin'), roleIdOf('Project Viewer')],
    },
    groups: { organization: [], project: [] },
    permissions: { organization: [...builtIn], project: [...builtIn, ...own.map((item) => item.id)] },
    resourceId: resource.id,
  };
  for (const [index, set] of seedSets.entries()) {
    const level: Level = index % 3 === 2 ? 'project' : 'organization';
    const scope = world.scopes[level];
    const permissionIds = [...new Set(set.flatMap((n) => pick(world.permissions[level], n) ?? []))];
    const group = await app.must('createGroup', { scope, name: `G${index}`, permissionIds }, as);
    world.groups[level].push(group.id);
    const role = await app.must('createRole', { scope, name: `R${index}`, groupIds: [group.id] }, as);
    world.roles[level].push(role.id);
    const somebody = people[1 + (index % 4)] as Person;
    await app.database.pool.execute(
      level === 'organization'
        ? sql`insert into organization_members (tenant_id, user_id, role_id, role_tenant_id)
            values (${id}::uuid, ${somebody.userId}::uuid, ${role.id}::uuid, ${id}::uuid) on conflict do nothing`
        : sql`with joined as (insert into project_users (tenant_id, user_id) values (${projectId}::uuid, ${somebody.userId}::uuid)
              on conflict do nothing)
            insert into project_user_roles (tenant_id, user_id, role_id, role_tenant_id)
            values (${projectId}::uuid, ${somebody.userId}::uuid, ${role.id}::uuid, ${projectId}::uuid)`,
    );
  }
  return world;
}

/** The input of a call, from the existing rows. */
function inputOf(
  world: World,
  { kind, level, target, row, sets, conditional }: Act,
): Record<string, unknown> {
  const inProject = kind.endsWith('User') || kind === 'updateResource';
  const at: Level = kind.endsWith('Member') ? 'organization' : inProject ? 'project' : level;
  const scope = world.scopes[at];
  const ids = (list: readonly string[]) => [...new Set(sets.flatMap((n) => pick(list, n) ?? []))];
  const userId = (people[target] as Person).userId;
  const builtIn = (pick(grantable, row) as string).split(':') as [string, string];
  switch (kind) {
    case 'createRole':
      return { scope, name: 'New', groupIds: ids(world.groups[at]) };
    case 'updateRole':
      return { scope, id: pickOwn(world.roles[at], row), groupIds: ids(world.groups[at]) };
    case 'deleteRole':
      return { scope, id: pickOwn(world.roles[at], row) };
    case 'createGroup':
      return { scope, name: 'New', permissionIds: ids(world.permissions[at]) };
    case 'updateGroup':
      return { scope, id: pickOwn(world.groups[at], row), permissionIds: ids(world.permissions[at]) };
    case 'deleteGroup':
      return { scope, id: pickOwn(world.groups[at], row) };
    case 'createPermission':
      return {
        scope,
        ...(at === 'project' && row % 2
          ? { resourceId: world.resourceId, action: 'read' }
          : { resourceId: resourceIdOf(builtIn[0]), action: builtIn[1] }),
        condition: conditional ? condition : null,
      };
    case 'updatePermission':
      return { scope, id: pickOwn(world.permissions[at], row), condition: conditional ? condition : null };
    case 'deletePermission':
      return { scope, id: pickOwn(world.permissions[at], row) };
    case 'updateResource':
      return { scope, id: world.resourceId, isActive: conditional };
    case 'updateOrganizationMember':
      return { scope, userId, roleId: pick(world.roles.organization, row) };
    case 'removeOrganizationMember':
      return { scope, userId };
    case 'createUser':
      return { scope, userId, roleIds: ids(world.roles.project) };
    case 'updateUser':
      return { scope, id: userId, roleIds: ids(world.roles.project) };
    case 'deleteUser':
      return { scope, id: userId };
  }
}

const lists = { createRole: 'roles', createGroup: 'groups', createPermission: 'permissions' } as const;

function remember(world: World, { kind, level }: Act, data: unknown): void {
  if (kind in lists) world[lists[kind as keyof typeof lists]][level].push((data as { id: string }).id);
}

/** A subject that may define the permissions of a project counts as holding all of them (authorization §5). */
const holds = (held: ReadonlySet<string>, wanted: string): boolean =>
  held.has(wanted) ||
  held.has(wanted.replace(/ [^ ]*$/, ' always')) ||
  (wanted.startsWith('project ') && held.has('management Permission:Create always'));

function assertNothingFromNowhere(
  before: HeldPermissions,
  after: HeldPermissions,
  actor: string,
  self: boolean,
): void {
  const none = { organization: new Set<string>(), project: new Set<string>() };
  const own = before.get(actor) ?? none;
  const all = new Set([...own.organization, ...own.project]);
  for (const userId of new Set([...before.keys(), ...after.keys()])) {
    const had = before.get(userId) ?? none;
    const has = after.get(userId) ?? none;
    for (const level of ['organization', 'project'] as const) {
      const gained = [...has[level]].filter((item) => !holds(had[level], item) && !holds(all, item));
      expect(gained, `given to ${userId} in the ${level} by one who lacks it`).toEqual([]);
      // Leaving removes no permission from another subject.
      if (self && userId === actor) continue;
      const lost = [...had[level]].filter(
        (item) => !has[level].has(item) && !holds(has[level], item) && !holds(all, item),
      );
      expect(lost, `taken from ${userId} in the ${level} by one who lacks it`).toEqual([]);
    }
  }
}

async function owners({ organizationId }: Tenant): Promise<number> {
  const [row] = await rowsOf<{ count: number }>(
    app.database.pool,
    sql`select count(*)::int as count from organization_members
      where tenant_id = ${organizationId}::uuid and role_id = ${ORGANIZATION_OWNER}::uuid`,
  );
  return row?.count ?? 0;
}

it('no subject ever grants or removes a permission that it does not hold', async () => {
  const sets = fc.array(fc.uniqueArray(fc.nat(30), { minLength: 2, maxLength: 8 }), {
    minLength: 6,
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(sets, fc.array(act, { minLength: ACTS, maxLength: ACTS }), async (seedSets, acts) => {
      const world = await createWorld(seedSets);
      let before = await permissionsHeld(app, world);
      for (const act of acts) {
        const actor = people[act.actor] as Person;
        const input = inputOf(world, act);
        const answer = await app.raw(act.kind, input, { token: actor.token });
        expect(answer.status, answer.body).toBeLessThan(500);
        const count = (tried[act.kind] ??= { allowed: 0, refused: 0 });
        if (!answer.ok) {
          count.refused++;
          continue;
        }
        count.allowed++;
        remember(world, act, answer.data);
        const after = await permissionsHeld(app, world);
        const self = (input['userId'] ?? input['id']) === actor.userId;
        assertNothingFromNowhere(before, after, actor.userId, self && /^(remove|delete)/.test(act.kind));
        expect(await owners(world)).toBeGreaterThan(0);
        before = after;
      }
      // A refused call has changed nothing.
      expect(await permissionsHeld(app, world)).toEqual(before);
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
  for (const kind of kinds) expect(tried[kind]?.refused, `${kind} was never refused`).toBeGreaterThan(0);
  const allowed = kinds.filter((kind) => (tried[kind]?.allowed ?? 0) > 0);
  expect(allowed, 'acts that were never allowed prove nothing').toEqual([...kinds]);
}, 300_000);
