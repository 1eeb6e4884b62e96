import { domainToASCII } from 'node:url';
import { and, eq, inArray, is, or, sql, SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { AnyEntity, ReadContext, Relation } from '../../kernel/entity.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor, ListInput } from '../../kernel/scoped-db.ts';
import { column, columnsOf, expression } from './entity-columns.ts';
import { visible } from './visible-rows.ts';

/** Conditions for the common list parameters: ids, search and tags. */
export function listConditions(
  tx: Executor,
  entity: AnyEntity,
  at: ReadContext,
  input: ListInput,
): (SQL | undefined)[] {
  return [
    input.ids && (input.ids.length ? inArray(column(entity, 'id'), [...input.ids]) : sql`false`),
    input.search === undefined ? undefined : searchCondition(entity, input.search, at),
    input.tagIds && tagCondition(tx, entity, at.scope, input.tagIds),
  ];
}

/** Matches rows that have any of the tags in this scope. Deleted tags match no row. */
function tagCondition(tx: Executor, entity: AnyEntity, scope: ResolvedScope, tagIds: readonly string[]): SQL {
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

/** A sort expression that is never null, so that a cursor can be compared with it. */
export function sortable(sorted: PgColumn | SQL): SQL {
  // Sortable computed fields are text.
  if (is(sorted, SQL)) return sql`coalesce(${sorted}, '')`;
  if (sorted.notNull) return sql`${sorted}`;
  return sorted.dataType === 'date' ? sql`coalesce(${sorted}, 'infinity')` : sql`coalesce(${sorted}, '')`;
}

/** Case-insensitive substring search. `%`, `_` and `\` in the text are literal. */
function searchCondition(entity: AnyEntity, search: string, at: ReadContext): SQL | undefined {
  const patterns = [search, ...asciiDomain(search)].map(
    (text) => `%${text.replace(/[\\%_]/g, (special) => `\\${special}`)}%`,
  );
  return or(
    ...entity.search.flatMap((name) =>
      patterns.map((pattern) => sql`${expression(entity, name, at)}::text ilike ${pattern}`),
    ),
  );
}

/**
 * The ASCII form (RFC 5890) of a domain, or of an address with one: `bücher.example` becomes `xn--bcher-kva.example`.
 * Addresses are stored in this form.
 */
function asciiDomain(search: string): readonly string[] {
  const at = search.lastIndexOf('@') + 1;
  const domain = search.slice(at);
  if (!/^[\p{L}\p{M}\p{N}.-]*[^\p{ASCII}][\p{L}\p{M}\p{N}.-]*$/u.test(domain)) return [];
  const ascii = domainToASCII(domain);
  return ascii === '' ? [] : [search.slice(0, at) + ascii];
}
