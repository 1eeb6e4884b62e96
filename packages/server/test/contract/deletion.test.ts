import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowsOf } from '../../src/db/statements/rows.ts';
import { readTableGraph, type TableGraph } from '../../src/db/purge/table-graph.ts';
import {
  membershipTables,
  softDeletedTables,
  nodeTables,
  retainedTables,
} from '../../src/db/tenancy/tenant-tree.ts';
import { startApp, type TestApp } from '../support/app/app.ts';

/**
 * Every table has a rule for the deletion of a node and of a user. A new table without one fails here: declare in
 * src/db/tenancy/tenant-tree.ts what happens to its rows.
 */
let app: TestApp;
let graph: TableGraph;
let columns: { table: string; column: string }[];

beforeAll(async () => {
  app = await startApp();
  graph = await readTableGraph(app.database.pool);
  columns = await rowsOf<{ table: string; column: string }>(
    app.database.pool,
    sql`select table_name as table, column_name as column from information_schema.columns
      where table_schema = 'public' order by 1, 2`,
  );
});
afterAll(() => app.close());

const having = (...names: string[]): string[] => [
  ...new Set(columns.filter(({ column }) => names.includes(column)).map(({ table }) => table)),
];

describe('when a node is deleted', () => {
  it('every table with rows of a tenant is soft-deleted, emptied, or kept for a documented reason', () => {
    expect([...softDeletedTables, ...membershipTables, ...Object.keys(retainedTables)].sort()).toEqual(
      having('tenant_id').sort(),
    );
  });

  it('every table with a deletion column is soft-deleted', () => {
    const markable = having('deleted_at').filter((table) => !['nodes', 'users'].includes(table));
    expect([...softDeletedTables, ...nodeTables].sort()).toEqual(markable.sort());
  });
});

describe('when a node is purged', () => {
  it('rows are deleted before the rows that they refer to', async () => {
    const edges = await rowsOf<{ from: string; to: string }>(
      app.database.pool,
      sql`select f.relname as "from", t.relname as "to" from pg_constraint c
        join pg_class f on f.oid = c.conrelid join pg_class t on t.oid = c.confrelid where c.contype = 'f'`,
    );
    expect(edges.length).toBeGreaterThan(50);
    const place = new Map(graph.order.map(({ name }, index) => [name, index]));
    const wrong = edges.filter(({ from, to }) => (place.get(from) ?? -1) >= (place.get(to) ?? -1));
    expect(wrong).toEqual([]);
  });

  it('every table is purged by tenant, by a foreign key, or by age', () => {
    /** Each table with the rule that deletes its rows. */
    const otherwise = {
      nodes: 'stays, since the audit log does',
      installation: 'of nobody',
      first_user_tokens: 'the next start, or the first user',
      users: 'purge-people.ts',
      accounts: 'the node itself',
      organizations: 'the node itself',
      projects: 'the node itself',
      idempotency_keys: 'a day',
      sign_in_flows: 'ten minutes',
      mails: 'a day, by the outbox',
      passkey_challenges: 'five minutes',
      prepared_operators: 'their own end',
      step_outcomes: 'half a minute',
    };
    const reached = (name: string): boolean =>
      graph.order.some((table) => table.name === name && table.ofTenant) ||
      graph.order.some((table) =>
        graph
          .referencesTo(table.name)
          .some(
            ({ from, cascades, column, to }) =>
              from.name === name &&
              ((cascades && to.ofTenant) || (to.name === 'users' && column === 'user_id' && !from.isMarked)),
          ),
      );
    expect(
      graph.order
        .map(({ name }) => name)
        .filter((name) => !reached(name))
        .sort(),
    ).toEqual(Object.keys(otherwise).sort());
  });

  it('link tables are distinguished from tables with rows of their own', () => {
    const reported = (table: string) =>
      graph
        .referencesTo(table)
        .map(
          ({ from, column, identifies, cascades }) =>
            `${from.name}.${column} ${cascades ? 'cascades' : identifies ? 'links' : 'holds'}`,
        )
        .sort();
    expect(reported('roles')).toEqual([
      'account_service_users.role_id holds',
      'organization_connections.default_role_id holds',
      'organization_invitations.role_id holds',
      'organization_members.role_id holds',
      'project_apps.sign_up_role_id holds',
      'project_grant_roles.role_id links',
      'project_user_roles.role_id links',
      'role_groups.role_id links',
      'role_tags.role_id links',
    ]);
    expect(reported('api_keys')).toEqual(['api_key_secrets.key_id cascades']);
    expect(reported('resources')).toEqual([
      'permissions.resource_id holds',
      'resource_tags.resource_id links',
    ]);
  });
});
