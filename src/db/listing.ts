import { and, eq, inArray, is, or, sql, SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { AnyEntity, Reading, Relation } from '../kernel/entity.ts';
import type { ResolvedScope } from '../kernel/scope.ts';
import type { Executor, ListInput } from '../kernel/scoped-db.ts';
import { column, columnsOf, expression } from './columns.ts';
import { visible } from './visible.ts';

/** The conditions that a list's own parameters make. */
export function matching(
  tx: Executor,
  entity: AnyEntity,
  at: Reading,
  input: ListInput,
): (SQL | undefined)[] {
  return [
    input.ids && (input.ids.length ? inArray(column(entity, 'id'), [...input.ids]) : sql`false`),
    input.search === undefined ? undefined : searching(entity, input.search, at),
    input.tagIds && tagged(tx, entity, at.scope, input.tagIds),
  ];
}

/** Rows that carry any of the tags, as the scope put them on. A deleted tag is on nothing. */
function tagged(tx: Executor, entity: AnyEntity, scope: ResolvedScope, tagIds: readonly string[]): SQL {
  const relation = entity.relations['tags'] as Relation & { kind: 'links' };
  const target = relation.to();
  const table = relation.table(scope);
  const link = columnsOf(table);
  if (tagIds.length === 0) return sql`false`;
  return inArray(
    column(entity, 'id'),
    tx
      .select({ id: link[relation.from] as PgColumn })
      .from(table)
      .innerJoin(target.table, eq(link[relation.target] as PgColumn, column(target, 'id')))
      .where(
        and(
          eq(link['tenantId'] as PgColumn, scope.nodeId),
          inArray(link[relation.target] as PgColumn, [...tagIds]),
          visible(target, scope),
        ),
      ),
  );
}

/** Nulls take part in the order (as the last or first), so that a cursor can stand on them. */
export function sortable(sorted: PgColumn | SQL): SQL {
  // A computed field that is sorted by is text.
  if (is(sorted, SQL)) return sql`coalesce(${sorted}, '')`;
  if (sorted.notNull) return sql`${sorted}`;
  return sorted.dataType === 'date' ? sql`coalesce(${sorted}, 'infinity')` : sql`coalesce(${sorted}, '')`;
}

/** Case-insensitive substring; `%`, `_` and `\` mean themselves. */
function searching(entity: AnyEntity, search: string, at: Reading): SQL | undefined {
  const pattern = `%${search.replace(/[\\%_]/g, (special) => `\\${special}`)}%`;
  return or(...entity.search.map((name) => sql`${expression(entity, name, at)}::text ilike ${pattern}`));
}
