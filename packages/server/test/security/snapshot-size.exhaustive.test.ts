import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM_NODE } from '../../src/schema/nodes.ts';
import { roleIdOf } from '../../src/schema/rights/built-in-ids.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import type { Person } from '../support/app/client.ts';
import { leastToll } from '../support/app/event-loop.ts';
import { policyOf, snapshotReader, type Reader } from '../support/tenants/snapshots.ts';

/** Large projects: what no snapshot may exceed, and that one blocks the event loop only for moments (packages §8.1). */
const MOST_MS = 250;

let app: TestApp;
let owner: Person;
let as: { token: string };
beforeAll(async () => {
  app = await startOwnApp({ SECURITY_RATE_LIMIT_ENABLED: 'false' });
  owner = await app.person();
  as = { token: owner.token };
});
afterAll(() => app.close());

interface Project {
  readonly scope: ScopeRef;
  readonly projectId: string;
  readonly reader: Reader;
}

async function newProject(): Promise<Project> {
  const { id: projectId, scope } = await app.must('createProject', { scope: owner.account, name: 'P' }, as);
  return { scope, projectId, reader: snapshotReader(app, scope, owner.token) };
}

/** Users of the project with the role; inserted, because the API would take minutes. */
async function addUsers(
  { projectId }: Project,
  count: number,
  role: { readonly id: string; readonly tenantId: string },
  metadata = '{}',
): Promise<void> {
  await app.owner.execute(sql`
    with made as (insert into users (id, name, status, email_verified, locale)
      select gen_random_uuid(), 'User ' || n, 'active', true, 'en' from generate_series(1, ${count}) n returning id),
    joined as (insert into project_users (tenant_id, user_id, metadata)
      select ${projectId}::uuid, id, ${metadata}::jsonb from made returning user_id)
    select 1`);
  await app.owner.execute(sql`
    insert into project_user_roles (tenant_id, user_id, role_id, role_tenant_id)
    select ${projectId}::uuid, user_id, ${role.id}::uuid, ${role.tenantId}::uuid from project_users
    where tenant_id = ${projectId}::uuid on conflict do nothing`);
}

const viewer = { id: roleIdOf('Project Viewer'), tenantId: SYSTEM_NODE };

async function roleOn(project: Project, condition: object | null, width: number) {
  const { scope } = project;
  const slug = `r${width}`;
  const resource = await app.must('createResource', { scope, name: 'R', slug, actions: ['read'] }, as);
  const permissionIds: string[] = [];
  for (let index = 0; index < width; index++) {
    const permission = { scope, resourceId: resource.id, action: 'read', name: `P${index}`, condition };
    permissionIds.push((await app.must('createPermission', permission as never, as)).id);
  }
  const groupIds: string[] = [];
  for (let index = 0; index < width; index++)
    groupIds.push((await app.must('createGroup', { scope, name: `G${index}`, permissionIds }, as)).id);
  const role = await app.must('createRole', { scope, name: 'R', groupIds }, as);
  return { id: role.id, tenantId: project.projectId };
}

async function expectTooLarge({ reader }: Project, limit: RegExp): Promise<void> {
  for (const answer of [await reader.raw(''), await reader.raw('/changes', { since: 'v0' })]) {
    expect([answer.status, answer.code]).toEqual([409, 'SNAPSHOT_TOO_LARGE']);
    expect(answer.body).toMatch(limit);
    expect(answer.body).toContain('Narrow users');
  }
  expect((await reader.snapshot({ users: 'none' })).claims.users).toEqual([]);
}

describe('a snapshot', () => {
  it('of 20,000 users blocks the event loop for moments only', { timeout: 120_000 }, async () => {
    const project = await newProject();
    await addUsers(project, 20_000, viewer);
    const { result, blockedMs } = await leastToll(MOST_MS, () => project.reader.snapshot());
    process.stdout.write(
      `snapshot of 20,000 users: ${result.text.length} characters, ${blockedMs.toFixed(0)} ms at a time\n`,
    );
    expect(result.claims.users).toHaveLength(20_001);
    expect(blockedMs).toBeLessThan(MOST_MS);
    const { version } = result.claims;
    const gone = result.claims.users.find(({ id }) => id !== owner.userId)?.id ?? '';
    await app.must('deleteUser', { scope: project.scope, id: gone }, as);
    const { claims } = await project.reader.changes(version, { timeoutSeconds: 0 });
    expect([claims.full, claims.drop]).toEqual([false, { users: [gone] }]);
    expect(policyOf(result.claims, claims).version).toBe(claims.to);
  });

  it('of more than 50,000 users is refused', { timeout: 120_000 }, async () => {
    const project = await newProject();
    await addUsers(project, 50_000, viewer);
    await expectTooLarge(project, /more than 50000 users/);
    const { claims } = await project.reader.snapshot({ users: owner.userId });
    expect(claims.users.map(({ id }) => id)).toEqual([owner.userId]);
  });

  it('of more than 10,000 paths is refused', { timeout: 120_000 }, async () => {
    const project = await newProject();
    const role = await roleOn(project, null, 100);
    // The owner of the account holds built-in permissions besides.
    await addUsers(project, 1, role);
    await expectTooLarge(project, /more than 10000 paths/);
  });

  it('of more than 6 MiB is refused', { timeout: 120_000 }, async () => {
    const project = await newProject();
    const role = await roleOn(project, { Equals: { 'user.metadata.key': 'a' } }, 1);
    await addUsers(project, 1000, role, JSON.stringify({ key: 'x'.repeat(7000), other: 'y' }));
    await expectTooLarge(project, /more than 6 MiB/);
  });

  it('does not count metadata that no condition reads', { timeout: 120_000 }, async () => {
    const project = await newProject();
    await addUsers(project, 1000, viewer, JSON.stringify({ key: 'x'.repeat(7000) }));
    expect((await project.reader.snapshot()).text.length).toBeLessThan(1024 * 1024);
  });

  it('refers a caller to a new snapshot when the difference is large', { timeout: 120_000 }, async () => {
    const project = await newProject();
    await addUsers(project, 20_000, viewer);
    const { version } = (await project.reader.snapshot()).claims;
    await app.owner.execute(sql`delete from project_user_roles where tenant_id = ${project.projectId}::uuid`);
    await app.must('createUser', { scope: project.scope, name: 'N', roleIds: [] }, as);
    const { claims } = await project.reader.changes(version, { timeoutSeconds: 0 });
    expect([claims.full, claims.put, claims.drop]).toEqual([true, {}, {}]);
    expect(claims.to).toBe((await project.reader.snapshot()).claims.version);
  });
});
