import type { SQL } from 'drizzle-orm';
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core';
import type { AnyEntity, Entity, Fields, RowOf } from './entity.ts';
import type { Changes } from './event.ts';
import type { ResolvedScope } from './scope.ts';

/** A pool or an open transaction of either database driver. */
export type Executor = PgDatabase<PgQueryResultHKT, Record<string, never>>;

export interface Page<Row> {
  readonly items: Row[];
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly nextCursor: string | null;
}

/** Validated list parameters (conventions §7). */
export interface ListInput {
  readonly page?: number | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly search?: string | undefined;
  readonly sortField?: string | undefined;
  readonly sortOrder?: 'ASC' | 'DESC' | undefined;
  readonly ids?: readonly string[] | undefined;
  readonly tagIds?: readonly string[] | undefined;
  readonly relations?: readonly string[] | undefined;
}

type Values<E extends Entity<Fields>> = { [K in keyof RowOf<E>]?: RowOf<E>[K] | undefined } & Record<
  string,
  unknown
>;

/**
 * The database access of operations, bound to one resolved scope, so that no statement can omit the tenant filter.
 * Deleted, foreign and unknown rows are indistinguishable: each results in NOT_FOUND.
 */
export interface ScopedDb {
  readonly scope: ResolvedScope;
  page<E extends AnyEntity>(
    entity: E,
    input: ListInput,
    filters?: readonly (SQL | undefined)[],
  ): Promise<Page<RowOf<E>>>;
  get<E extends AnyEntity>(entity: E, id: string): Promise<RowOf<E>>;
  /** Returns the row with the named related rows; uses one statement per name. */
  withRelations<E extends AnyEntity>(
    entity: E,
    row: RowOf<E>,
    names: readonly string[] | undefined,
  ): Promise<RowOf<E>>;
  insert<E extends AnyEntity>(entity: E, values: Values<E>): Promise<RowOf<E>>;
  /** Updates only the fields of the patch. Marks the mutation as unchanged if no value differs. */
  update<E extends AnyEntity>(
    entity: E,
    id: string,
    patch: Values<E>,
  ): Promise<{ row: RowOf<E>; changes: Changes }>;
  /** Soft-deletes the row, and returns it as it is afterwards. */
  remove<E extends AnyEntity>(entity: E, id: string): Promise<RowOf<E>>;
  /** Loads the rows of one relation for many rows, in one statement. */
  related(entity: AnyEntity, relation: string, ids: readonly string[]): Promise<Map<string, unknown>>;
}
