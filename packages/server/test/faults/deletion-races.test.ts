import { sql } from 'drizzle-orm';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rowsOf } from '../../src/db/statements/rows.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { unique, type Answer, type OperationName, type Person } from '../support/app/client.ts';

/**
 * What is created or changed in an organization while it is being deleted is either deleted with it or refused as in a
 * scope that never existed: no row stays live in a deleted node, and no request gets a 5xx.
 */
// The embedded database runs one transaction at a time, so fewer interleavings exist.
const ROUNDS = Number(process.env['DELETION_RACES'] ?? 4);

/** Waits some ticks of the event loop, so that each round interleaves differently. */
async function turns(): Promise<void> {
  for (let left = Math.random() * 40; left > 0; left--) await turn();
}

let app: TestApp;
let owner: Person;

beforeAll(async () => {
  app = await startOwnApp();
  owner = await app.person({ type: 'organization' });
});
afterAll(() => app.close());

const as = () => ({ token: owner.token });

async function household() {
  const { id } = await app.must('createOrganization', { scope: owner.account, name: unique() }, as());
  const scope: ScopeRef = { tenant: 'organization', id };
  const project = await app.must('createProject', { scope, name: 'Race' }, as());
  const role = await app.must('createRole', { scope: project.scope, name: 'R' }, as());
  const key = await app.must('createApiKey', { scope: project.scope, roleId: role.id }, as());
  return { id, scope, project, role, key };
}

type House = Awaited<ReturnType<typeof household>>;

const inOrganization: Partial<Record<OperationName, (house: House) => object>> = {
  createProject: ({ scope }) => ({ scope, name: unique() }),
  createRole: ({ scope }) => ({ scope, name: unique() }),
  createTag: ({ scope }) => ({ scope, name: unique() }),
  updateOrganization: ({ scope, id }) => ({ scope, id, name: unique() }),
};
const inProject: Partial<Record<OperationName, (house: House) => object>> = {
  createRole: ({ project }) => ({ scope: project.scope, name: unique() }),
  createGroup: ({ project }) => ({ scope: project.scope, name: unique() }),
  createTag: ({ project }) => ({ scope: project.scope, name: unique() }),
  createResource: ({ project }) => ({
    scope: project.scope,
    name: 'R',
    slug: `r-${unique()}`,
    createPermissions: true,
  }),
  createApiKey: ({ project }) => ({ scope: project.scope }),
  updateRole: ({ project, role }) => ({ scope: project.scope, id: role.id, name: unique() }),
};

/** Live rows and nodes below a deleted node, by table. */
async function orphans(): Promise<Record<string, number>> {
  const { pool } = app.database;
  const tables = await rowsOf<{ name: string; marked: boolean }>(
    pool,
    sql`select t.table_name as name, d.column_name is not null as marked
      from information_schema.columns t left join information_schema.columns d
        on d.table_name = t.table_name and d.table_schema = 'public' and d.column_name = 'deleted_at'
      where t.table_schema = 'public' and t.column_name = 'tenant_id'
        and (d.column_name is not null or t.table_name in ('organization_members', 'project_users'))`,
  );
  const match: Record<string, number> = {};
  const note = async (name: string, query: ReturnType<typeof sql>) => {
    const [row] = await rowsOf<{ count: number }>(pool, query);
    if (row && row.count > 0) match[name] = row.count;
  };
  for (const { name, marked } of tables) {
    const live = marked ? sql`and r.deleted_at is null` : sql``;
    await note(
      name,
      sql`select count(*)::int from ${sql.identifier(name)} r join nodes n on n.id = r.tenant_id
        where n.deleted_at is not null ${live}`,
    );
  }
  for (const name of ['organizations', 'projects', 'accounts']) {
    await note(
      name,
      sql`select count(*)::int from ${sql.identifier(name)} r join nodes n on n.id = r.id
        where n.deleted_at is not null and r.deleted_at is null`,
    );
  }
  await note(
    'nodes',
    sql`select count(*)::int from nodes c join nodes n on n.id = c.parent_id
      where n.deleted_at is not null and c.deleted_at is null`,
  );
  return match;
}

async function race(
  remove: (house: House) => Promise<Answer>,
  acts: Partial<Record<OperationName, (house: House) => object>>,
): Promise<Record<string, number>> {
  const outcomes: Record<string, number> = {};
  for (let round = 0; round < ROUNDS; round++) {
    const house = await household();
    const exchange = {
      clientId: house.key.clientId,
      clientSecret: house.key.clientSecret as string,
      scope: house.key.scope,
    };
    const others = Object.entries(acts).flatMap(([name, input]) => [
      app.raw(name, input(house), as()),
      turns().then(() => app.raw(name, input(house), as())),
    ]);
    const [removed, exchanged, ...answers] = await Promise.all([
      turns().then(() => remove(house)),
      turns().then(() => app.raw('exchangeApiKey', exchange)),
      ...others,
    ]);
    expect(removed.status, removed.body).toBe(200);
    expect([200, 401]).toContain(exchanged.status);
    for (const { status, code, body } of answers) {
      // A row from before the race is not found; a new row has no scope.
      expect([200, 201, 403, 404], body).toContain(status);
      if (status === 403) expect(code).toBe('FORBIDDEN');
      outcomes[status] = (outcomes[status] ?? 0) + 1;
    }
    expect((await app.raw('exchangeApiKey', exchange)).status).toBe(401);
  }
  return outcomes;
}

it(
  'leaves no live row in an organization that is deleted meanwhile',
  { timeout: 120_000 + ROUNDS * 3_000 },
  async () => {
    const outcomes = await race(
      ({ scope, id }) => app.raw('deleteOrganization', { scope, id }, as()),
      inOrganization,
    );
    expect(await orphans()).toEqual({});
    process.stdout.write(`deleting organizations on ${app.database.mode}: ${JSON.stringify(outcomes)}\n`);
  },
);

it('leaves no live row in its projects', { timeout: 120_000 + ROUNDS * 3_000 }, async () => {
  const outcomes = await race(
    ({ scope, id }) => app.raw('deleteOrganization', { scope, id }, as()),
    inProject,
  );
  expect(await orphans()).toEqual({});
  process.stdout.write(`deleting organizations on ${app.database.mode}: ${JSON.stringify(outcomes)}\n`);
});

it(
  'leaves no live row in a project that is deleted meanwhile',
  { timeout: 120_000 + ROUNDS * 3_000 },
  async () => {
    const outcomes = await race(
      ({ scope, project }) => app.raw('deleteProject', { scope, id: project.id }, as()),
      inProject,
    );
    expect(await orphans()).toEqual({});
    process.stdout.write(`deleting projects on ${app.database.mode}: ${JSON.stringify(outcomes)}\n`);
  },
);
