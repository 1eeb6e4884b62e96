import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowsOf } from '../../src/db/rows.ts';
import { readTableGraph, type TableGraph } from '../../src/db/table-graph.ts';
import { emptied, marked, nodeTables, untouched } from '../../src/db/tenant-tree.ts';
import { startApp, type TestApp } from '../support/app.ts';

/**
 * Every table is settled when a node or a user goes, also the one that is added tomorrow. A table that is new and not
 * in one of these lists fails here: say in src/db/tenant-tree.ts what becomes of its rows.
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
  it('every table with rows of a tenant is marked, emptied, or left alone for a reason', () => {
    expect([...marked, ...emptied, ...Object.keys(untouched)].sort()).toEqual(having('tenant_id').sort());
  });

  it('every table that can be marked is', () => {
    const markable = having('deleted_at').filter((table) => !['nodes', 'users'].includes(table));
    expect([...marked, ...nodeTables].sort()).toEqual(markable.sort());
  });
});

describe('when it is purged', () => {
  it('rows go before the rows that they refer to', async () => {
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

  it('everything is reached: by its tenant, with what it belongs to, or by its age', () => {
    /** Each with what removes its rows. */
    const otherwise = {
      nodes: 'stays, since the audit log does',
      installation: 'of nobody',
      users: 'purge-people.ts',
      accounts: 'the node itself',
      organizations: 'the node itself',
      projects: 'the node itself',
      idempotency_keys: 'a day',
      sign_in_flows: 'ten minutes',
      mails: 'a day, by the outbox',
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

  it('knows links from rows that hold what they name', () => {
    const told = (table: string) =>
      graph
        .referencesTo(table)
        .map(
          ({ from, column, identifies, cascades }) =>
            `${from.name}.${column} ${cascades ? 'cascades' : identifies ? 'links' : 'holds'}`,
        )
        .sort();
    expect(told('roles')).toEqual([
      'organization_invitations.role_id holds',
      'organization_members.role_id holds',
      'project_apps.sign_up_role_id holds',
      'project_user_roles.role_id links',
      'role_groups.role_id links',
      'role_tags.role_id links',
    ]);
    expect(told('api_keys')).toEqual(['api_key_secrets.key_id cascades']);
    expect(told('resources')).toEqual(['permissions.resource_id holds', 'resource_tags.resource_id links']);
  });
});
