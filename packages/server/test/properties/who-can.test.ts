import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { permissionIdOf, resourceIdOf, roleIdOf } from '../../src/schema/rights/built-in-ids.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { isWhole } from '../support/cases/breadth.ts';
import { transports, unique, type Person, type Via } from '../support/app/client.ts';

/**
 * whoCan over all its pages is exactly the users about whom isAuthorized answers true: in random organizations with
 * projects, random roles, conditions and memberships, with disabled users, deleted rows and inactive resources.
 */
const RUNS = Number(process.env['PROPERTY_RUNS'] ?? (isWhole() ? 10 : 3));
const SEED = Number(process.env['PROPERTY_SEED'] ?? 20_261_121);
const PEOPLE = 6;

type Level = 'organization' | 'project';
type Rows = Record<string, Readonly<Record<'permissions' | 'groups' | 'roles', string[]>>>;

let app: TestApp;
let founder: Person;
let people: string[];
const counted = { questions: 0, allowed: 0, refused: 0 };

beforeAll(async () => {
  app = await startApp();
  founder = await app.person({ type: 'organization' });
  const others = [];
  for (let n = 0; n < PEOPLE; n++) others.push((await app.person()).userId);
  people = [founder.userId, ...others];
});
afterAll(async () => {
  const { questions, allowed, refused } = counted;
  process.stdout.write(`who can: ${questions} questions, ${allowed} users allowed, ${refused} refused\n`);
  await app.close();
});

const conditions = [
  null,
  null,
  { Equals: { 'resource.ownerId': '{{user.id}}' } },
  { StringEquals: { 'user.metadata.dept': 'sales' } },
  { Equals: { 'role.metadata.region': { $ref: 'resource.region' } } },
  { Equals: { 'group.metadata.region': 'eu' } },
  { StringEquals: { 'scope.tenant': 'organization' } },
];
const builtIn = ['Role:Query', 'Tag:Create', 'OrganizationMember:Query', 'User:Query'];
const regions = [{}, { region: 'eu' }, { region: 'us' }];
const departments = [{}, { dept: 'sales' }, { dept: 'legal' }];

const world = fc.record({
  /** Permissions of the level, each with a condition. */
  permissions: fc.array(
    fc.record({
      inProject: fc.boolean(),
      ofProduct: fc.boolean(),
      action: fc.nat(1),
      condition: fc.constantFrom(...conditions),
    }),
    { minLength: 4, maxLength: 8 },
  ),
  roles: fc.array(
    fc.record({
      inProject: fc.boolean(),
      sets: fc.array(fc.uniqueArray(fc.nat(12), { maxLength: 4 }), { minLength: 1, maxLength: 2 }),
      metadata: fc.constantFrom(...regions),
      groupMetadata: fc.constantFrom(...regions),
    }),
    { minLength: 3, maxLength: 6 },
  ),
  /** By person: the role in the organization, and roles in each of the two projects. */
  memberships: fc.array(
    fc.record({
      role: fc.option(fc.nat(8)),
      metadata: fc.constantFrom(...departments),
      projects: fc.tuple(fc.option(rolesOfUser()), fc.option(rolesOfUser())),
      disabled: fc.nat(5),
    }),
    { minLength: PEOPLE, maxLength: PEOPLE },
  ),
  removed: fc.record({
    role: fc.nat(12),
    group: fc.nat(12),
    permission: fc.nat(16),
    inactive: fc.integer({ min: 0, max: 3 }),
  }),
  questions: fc.array(
    fc.record({
      pair: fc.nat(30),
      owner: fc.nat(PEOPLE),
      region: fc.constantFrom('eu', 'us'),
      limit: fc.constantFrom(1, 2, 3, 50),
      via: fc.constantFrom<Via>(...transports),
    }),
    { minLength: 3, maxLength: 3 },
  ),
});
type World = typeof world extends fc.Arbitrary<infer A> ? A : never;

function rolesOfUser() {
  return fc.record({
    roles: fc.uniqueArray(fc.nat(8), { maxLength: 3 }),
    metadata: fc.constantFrom(...departments),
  });
}

const pick = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;
const as = () => ({ token: founder.token });

/** The scopes of a random organization and of an account's project, and the pairs to ask about. */
async function create({ permissions, roles, memberships, removed }: World) {
  const { id } = await app.must('createOrganization', { scope: founder.account, name: unique() }, as());
  const organization: ScopeRef = { tenant: 'organization', id };
  const projects: ScopeRef[] = [];
  for (const scope of [organization, founder.account])
    projects.push((await app.must('createProject', { scope, name: unique() }, as())).scope);
  const rows: Rows = {};
  const pairs = [...builtIn];
  for (const scope of [organization, ...projects]) {
    const level: Level = scope.tenant === 'organization' ? 'organization' : 'project';
    const own = { permissions: builtIn.map(permissionIdOf), groups: [] as string[], roles: [] as string[] };
    rows[scope.id] = own;
    const slug = `doc-${unique()}`;
    const resource =
      level === 'project'
        ? await app.must('createResource', { scope, name: 'Doc', slug, actions: ['read', 'write'] }, as())
        : null;
    if (resource) pairs.push(`${slug}:read`, `${slug}:write`);
    for (const { inProject, ofProduct, action, condition } of permissions) {
      if (inProject !== (level === 'project')) continue;
      const about =
        ofProduct && resource
          ? { resourceId: resource.id, action: pick(['read', 'write'], action) }
          : { resourceId: resourceIdOf('Tag'), action: pick(['Create', 'Delete'], action) };
      own.permissions.push((await app.must('createPermission', { scope, ...about, condition }, as())).id);
    }
    for (const { inProject, sets, metadata, groupMetadata } of roles) {
      if (inProject !== (level === 'project')) continue;
      const groupIds = [];
      for (const set of sets) {
        const permissionIds = [...new Set(set.map((n) => pick(own.permissions, n)))];
        const group = { scope, name: unique(), permissionIds, metadata: groupMetadata };
        groupIds.push((await app.must('createGroup', group, as())).id);
      }
      own.groups.push(...groupIds);
      own.roles.push((await app.must('createRole', { scope, name: unique(), groupIds, metadata }, as())).id);
    }
    own.roles.push(roleIdOf(level === 'project' ? 'Project Viewer' : 'Organization Developer'));
    if (resource && removed.inactive === 0)
      await app.must('updateResource', { scope, id: resource.id, isActive: false }, as());
  }
  await join(organization, projects, rows, memberships);
  await remove([organization, ...projects], rows, removed);
  return { scopes: [organization, ...projects], pairs: [...pairs, 'Tag:Delete', 'Doc:burn'] };
}

/** Written directly, because an invitation for each membership would be most of the test. */
async function join(
  organization: ScopeRef,
  projects: readonly ScopeRef[],
  rows: Rows,
  memberships: World['memberships'],
): Promise<void> {
  const { owner: db } = app;
  for (const [at, { role, metadata, projects: ofProjects, disabled }] of memberships.entries()) {
    const userId = people[at + 1] as string;
    await db.execute(
      sql`update users set status = ${disabled === 0 ? 'disabled' : 'active'} where id = ${userId}::uuid`,
    );
    if (role !== null) {
      const roleId = pick(rows[organization.id]?.roles ?? [], role);
      await db.execute(sql`insert into organization_members (tenant_id, user_id, role_id, role_tenant_id, metadata)
        select ${organization.id}::uuid, ${userId}::uuid, id, tenant_id, ${JSON.stringify(metadata)}::jsonb
        from roles where id = ${roleId}::uuid`);
    }
    for (const [index, membership] of ofProjects.entries()) {
      const scope = projects[index] as ScopeRef;
      const projectId = scope.id.split(':')[1];
      if (!membership) continue;
      await db.execute(sql`insert into project_users (tenant_id, user_id, metadata)
        values (${projectId}::uuid, ${userId}::uuid, ${JSON.stringify(membership.metadata)}::jsonb)`);
      const roleIds = new Set(membership.roles.map((n) => pick(rows[scope.id]?.roles ?? [], n)));
      for (const roleId of roleIds)
        await db.execute(sql`insert into project_user_roles (tenant_id, user_id, role_id, role_tenant_id)
          select ${projectId}::uuid, ${userId}::uuid, id, tenant_id from roles where id = ${roleId}::uuid`);
    }
  }
}

/** Deletes a role, a group and a permission that are in use, directly: the service refuses some of it. */
async function remove(scopes: readonly ScopeRef[], rows: Rows, removed: World['removed']): Promise<void> {
  const own = (kind: 'roles' | 'groups' | 'permissions', index: number) => {
    const ids = scopes.flatMap(({ id }) => rows[id]?.[kind] ?? []).filter((id) => id.charAt(14) !== '5');
    return ids.length === 0 ? null : pick(ids, index);
  };
  for (const [table, id] of [
    ['roles', own('roles', removed.role)],
    ['groups', own('groups', removed.group)],
    ['permissions', own('permissions', removed.permission)],
  ] as const)
    await app.owner.execute(sql`update ${sql.raw(table)} set deleted_at = now() where id = ${id}::uuid`);
}

async function allowedByWhoCan(input: object, limit: number, via: Via) {
  const items = [];
  let cursor: string | null = null;
  for (let pages = 0; pages <= PEOPLE + 2; pages++) {
    const answer: Awaited<ReturnType<typeof page>> = await page({
      ...input,
      limit,
      ...(cursor && { cursor }),
    });
    items.push(...answer.items);
    expect(answer.items.length).toBeLessThanOrEqual(limit);
    expect(answer.complete).toBe(answer.nextCursor === null);
    if (answer.complete) return items;
    cursor = answer.nextCursor;
  }
  throw new Error('the list does not end');

  function page(requested: object) {
    const select = '{ items { subject { id } reason matchedPermission { id } } nextCursor complete }';
    return app.must('whoCan', requested as never, { ...as(), via, select });
  }
}

const property = async (random: World) => {
  const { scopes, pairs } = await create(random);
  for (const { pair, owner, region, limit, via } of random.questions) {
    const [resource = '', action = ''] = pick(pairs, pair).split(':');
    for (const scope of scopes) {
      const attributes = { ownerId: people[owner], region };
      const question = { scope, permission: { resource, action }, context: { resource: attributes } };
      const expected: { id: string; reason: string; permissionId: string | undefined }[] = [];
      for (const userId of people) {
        const about = { ...question, subject: { userId } };
        const decision = await app.must('isAuthorized', about, as());
        if (decision.authorized)
          expected.push({
            id: userId,
            reason: decision.reason,
            permissionId: decision.matchedPermission?.id,
          });
      }
      const items = await allowedByWhoCan(question, limit, via);
      const allowed = items.map(({ subject, reason, matchedPermission }) => ({
        id: subject.id,
        reason,
        permissionId: matchedPermission.id,
      }));
      const what = `${resource}:${action} in ${scope.tenant}`;
      expect(allowed, what).toEqual(expected.sort((a, b) => (a.id < b.id ? -1 : 1)));
      counted.questions++;
      counted.allowed += expected.length;
      counted.refused += people.length - expected.length;
    }
  }
};

it('is everybody about whom isAuthorized answers true, over all pages', { timeout: 600_000 }, async () => {
  await fc.assert(fc.asyncProperty(world, property), { numRuns: RUNS, seed: SEED, endOnFailure: true });
  expect(counted.allowed).toBeGreaterThan(RUNS);
  expect(counted.refused).toBeGreaterThan(RUNS);
});
