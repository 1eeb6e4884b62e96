import { sql } from 'drizzle-orm';
import type { Executor } from '../kernel/scoped-db.ts';
import { rowsOf } from './rows.ts';

/**
 * What the tables are to each other, read from the database itself: the purge follows it, so that a table that is
 * added later is emptied in the right order without being written down anywhere.
 */
export interface Table {
  readonly name: string;
  /** Its rows belong to a tenant node, in `tenant_id`. */
  readonly ofTenant: boolean;
  /** Its rows are marked as deleted before they are removed. */
  readonly isMarked: boolean;
}

/** A foreign key that ends at an `id`. */
export interface Reference {
  readonly from: Table;
  readonly column: string;
  readonly to: Table;
  /** The database removes the row together with what it refers to. */
  readonly cascades: boolean;
  /** The column is part of the row's own key: without what it refers to, the row (a link, a share) is nothing. */
  readonly identifies: boolean;
}

export interface TableGraph {
  /** Every table, before all those that it refers to. */
  readonly order: readonly Table[];
  readonly referencesTo: (table: string) => readonly Reference[];
}

interface Edge extends Omit<Reference, 'from' | 'to' | 'column'> {
  readonly from: string;
  readonly to: string;
  /** Null where the key leads to something other than an `id`. */
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
  const named = (name: string): Table => byName.get(name) as Table;
  const references = edges.flatMap(({ column, ...edge }) =>
    column === null ? [] : [{ ...edge, column, from: named(edge.from), to: named(edge.to) }],
  );
  return {
    order: ordered(tables, edges),
    referencesTo: (name) => references.filter(({ to }) => to.name === name),
  };
}

/** A table comes once everything that refers to it is placed. */
function ordered(tables: readonly Table[], edges: readonly Edge[]): Table[] {
  const placed = new Set<Table>();
  const seen = new Set<string>();
  const place = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const { from, to } of edges) if (to === name) place(from);
    const table = tables.find((one) => one.name === name);
    if (table) placed.add(table);
  };
  for (const { name } of tables) place(name);
  return [...placed];
}
