import { sql } from 'drizzle-orm';
import type { Executor } from '../../kernel/scoped-db.ts';
import { rowsOf } from '../statements/rows.ts';

/**
 * A table of the database catalog. The purge follows tables and foreign keys as they are in the catalog, so that it
 * also empties new tables in the right order without a declaration.
 */
export interface Table {
  readonly name: string;
  /** Whether its rows belong to a tenant node (`tenant_id`). */
  readonly ofTenant: boolean;
  /** Whether its rows are soft-deleted before they are removed (`deleted_at`). */
  readonly isMarked: boolean;
}

/** A foreign key that refers to an `id`. */
export interface Reference {
  readonly from: Table;
  readonly column: string;
  readonly to: Table;
  /** Whether the database deletes the row together with the referenced row. */
  readonly cascades: boolean;
  /**
   * Whether the column is part of the row's primary key: the row (a link, a share) has no meaning without the
   * referenced row.
   */
  readonly identifies: boolean;
}

export interface TableGraph {
  /** All tables, each before the tables that it refers to. */
  readonly order: readonly Table[];
  readonly referencesTo: (table: string) => readonly Reference[];
}

interface Edge extends Omit<Reference, 'from' | 'to' | 'column'> {
  readonly from: string;
  readonly to: string;
  /** Null if the key refers to a column other than `id`. */
  readonly column: string | null;
}

export async function readTableGraph(db: Executor): Promise<TableGraph> {
  const tables = await rowsOf<Table>(
    db,
    sql`
    select c.relname as name, count(*) filter (where a.attname = 'tenant_id') > 0 as "ofTenant",
      count(*) filter (where a.attname = 'deleted_at') > 0 as "isMarked"
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace group by 1 order by 1`,
  );
  const edges = await rowsOf<Edge>(
    db,
    sql`
    select f.relname as "from", t.relname as "to", c.confdeltype = 'c' as cascades, k.name as column,
      exists (select 1 from pg_constraint p where p.conrelid = c.conrelid and p.contype = 'p'
        and k.number = any(p.conkey)) as identifies
    from pg_constraint c join pg_class f on f.oid = c.conrelid join pg_class t on t.oid = c.confrelid
    left join lateral (
      select own.attname as name, own.attnum as number from unnest(c.conkey, c.confkey) as pair(own, target)
      join pg_attribute own on own.attrelid = c.conrelid and own.attnum = pair.own
      join pg_attribute target on target.attrelid = c.confrelid and target.attnum = pair.target
      where target.attname = 'id') k on true
    where c.contype = 'f' and c.connamespace = current_schema()::regnamespace order by 1, 2, 4`,
  );
  const byName = new Map(tables.map((table) => [table.name, table]));
  const tableNamed = (name: string): Table => byName.get(name) as Table;
  const references = edges.flatMap(({ column, ...edge }) =>
    column === null ? [] : [{ ...edge, column, from: tableNamed(edge.from), to: tableNamed(edge.to) }],
  );
  return {
    order: sortByReferences(tables, edges),
    referencesTo: (name) => references.filter(({ to }) => to.name === name),
  };
}

/** Sorts each table after all tables that refer to it. */
function sortByReferences(tables: readonly Table[], edges: readonly Edge[]): Table[] {
  const sorted = new Set<Table>();
  const seen = new Set<string>();
  const visit = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const { from, to } of edges) if (to === name) visit(from);
    const table = tables.find((table) => table.name === name);
    if (table) sorted.add(table);
  };
  for (const { name } of tables) visit(name);
  return [...sorted];
}
