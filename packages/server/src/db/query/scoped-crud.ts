import { and, eq, sql, type SQL } from 'drizzle-orm';
import { isDeepStrictEqual } from 'node:util';
import { fail } from '../../errors.ts';
import type { AnyEntity } from '../../kernel/entity.ts';
import type { Changes } from '../../kernel/event.ts';
import type { RelatedAccess } from '../../kernel/related.ts';
import type { MutationNotes } from '../../kernel/stages.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor, ListInput, ScopedDb } from '../../kernel/scoped-db.ts';
import type { Clock, Ids } from '../../kernel/ports.ts';
import { column, expression, selectionOf } from './entity-columns.ts';
import type { Cursors } from './cursor.ts';
import { listConditions } from './listing.ts';
import { readPage } from './page.ts';
import { takenField } from '../statements/pg-error.ts';
import { countOf, link, emptyRelation, parentKey, readRelation, relink } from './relations.ts';
import { assertChangeableByHand } from './policy-hold.ts';
import { rowReader } from './row-reader.ts';
import type { Totals } from './totals.ts';
import { visible, visibleParts } from './visible-rows.ts';

/*
 * CRUD within one scope. Every statement is built from the entity and contains the condition of the scope. Ids are
 * looked up as (tenant, id), so that a row of another tenant is indistinguishable from a missing row.
 */

type Row = Record<string, unknown>;

interface Binding {
  readonly tx: Executor;
  readonly scope: ResolvedScope;
  /** The operation and the caller. Cursors are bound to them, to the scope and to the list parameters. */
  readonly list: string;
  readonly notes: MutationNotes;
  readonly cursors: Cursors;
  readonly totals: Totals;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly related: RelatedAccess;
}

export function bindScope(binding: Binding): ScopedDb {
  const { tx, scope, list, notes, cursors, totals, ids, clock, related } = binding;
  const at = { scope, now: clock.now() };
  const select = (entity: AnyEntity, where: SQL | undefined) =>
    tx.select(selectionOf(entity, at)).from(entity.table).where(where);

  async function find(entity: AnyEntity, id: string, lock = false): Promise<Row> {
    const query = select(entity, and(eq(column(entity, 'id'), id), visible(entity, scope)));
    const [row] = (await (lock ? query.for('update') : query)) as Row[];
    if (!row) throw fail('NOT_FOUND');
    return row;
  }

  async function lockChangeable(entity: AnyEntity, id: string): Promise<Row> {
    const row = await find(entity, id, true);
    if (row['isSystem'] === true) throw fail('SYSTEM_ENTITY');
    if (row['managed'] === 'policy') await assertChangeableByHand(tx, entity, id);
    return row;
  }

  async function addRelations(entity: AnyEntity, rows: Row[], names: readonly string[] = []): Promise<void> {
    const reading = names.map(async (name) => {
      const keys = rows.map((row) => parentKey(entity, name, row));
      const byParent = await readRelation({ tx, ...at, ...related }, entity, name, keys);
      related.budget.takeRows(keys.reduce((sum, key) => sum + countOf(byParent.get(key)), 0));
      for (const row of rows)
        row[name] = byParent.get(parentKey(entity, name, row)) ?? emptyRelation(entity, name);
    });
    await Promise.all(reading);
  }

  /** The link relations that occur in the values, with the new target ids. */
  const linksIn = (entity: AnyEntity, values: Row) =>
    Object.values(entity.relations).flatMap((relation) => {
      if (relation.kind !== 'links' || !relation.input || values[relation.input] === undefined) return [];
      return [{ relation, name: relation.input, ids: values[relation.input] as string[] }];
    });

  async function relinkAll(entity: AnyEntity, id: string, values: Row): Promise<Changes> {
    const changes: Record<string, { from: unknown; to: unknown }> = {};
    for (const { relation, name, ids } of linksIn(entity, values)) {
      const change = await relink({ tx, scope }, relation, id, ids);
      if (change) changes[name] = change;
    }
    return changes;
  }

  /** The values that are columns of the table. */
  const stored = (entity: AnyEntity, values: Row): Row =>
    Object.fromEntries(
      Object.entries(values).filter(([key, value]) => key in entity.columns && value !== undefined),
    );

  return {
    scope,

    async page(entity: AnyEntity, input: ListInput, filters: readonly (SQL | undefined)[] = []) {
      const { alternatives, live } = visibleParts(entity, scope);
      const page = await readPage(tx, cursors, {
        entity,
        reader: rowReader(entity, at),
        sortBy: (field) => expression(entity, field, at),
        alternatives,
        where: and(live, ...listConditions(tx, entity, at, input), ...filters),
        cursorBinding: [list, scope.tenant, scope.id],
        input,
        totalsBy:
          canCacheTotal(entity, scope, input) && !scope.grant
            ? { totals, nodeId: scope.nodeId, as: scope.level }
            : undefined,
      });
      await addRelations(entity, page.items, input.relations);
      return page;
    },

    get: (entity: AnyEntity, id: string) => find(entity, id),

    async withRelations(entity: AnyEntity, row: Row, names: readonly string[] | undefined) {
      await addRelations(entity, [row], names);
      return row;
    },

    async insert(entity: AnyEntity, values: Row) {
      const row = { id: ids.next(), tenantId: scope.nodeId, ...stored(entity, values) };
      const inserted = (await tx
        .insert(entity.table)
        .values('tenantId' in entity.columns ? row : omit(row, 'tenantId'))
        .returning(selectionOf(entity, at))
        .catch(conflict)) as Row[];
      for (const { relation, ids } of linksIn(entity, values))
        await link({ tx, scope }, relation, row.id, ids);
      return inserted[0] as Row;
    },

    async update(entity: AnyEntity, id: string, patch: Row) {
      const before = await lockChangeable(entity, id);
      const changed = Object.fromEntries(
        Object.entries(stored(entity, patch)).filter(
          ([key, value]) => key !== 'id' && !isDeepStrictEqual(value, before[key]),
        ),
      );
      const changes: Record<string, { from: unknown; to: unknown }> = {
        ...(await relinkAll(entity, id, patch)),
      };
      if (Object.keys(changed).length === 0 && Object.keys(changes).length === 0) {
        notes.unchanged = true;
        return { row: before, changes };
      }
      const [row] = (await tx
        .update(entity.table)
        .set({ ...changed, updatedAt: sql`now()` })
        .where(and(eq(column(entity, 'id'), id), visible(entity, scope)))
        .returning(selectionOf(entity, at))
        .catch(conflict)) as Row[];
      for (const key of Object.keys(changed)) {
        if (entity.fields[key]?.out) changes[key] = { from: before[key], to: row?.[key] };
      }
      notes.changes = changes;
      return { row: row as Row, changes };
    },

    async remove(entity: AnyEntity, id: string) {
      await lockChangeable(entity, id);
      const [row] = (await tx
        .update(entity.table)
        .set({ deletedAt: sql`now()`, updatedAt: sql`now()` })
        .where(and(eq(column(entity, 'id'), id), visible(entity, scope)))
        .returning(selectionOf(entity, at))) as Row[];
      return row as Row;
    },

    related: (entity: AnyEntity, name: string, keys: readonly string[]) =>
      readRelation({ tx, ...at, ...related }, entity, name, keys),
  } as ScopedDb;
}

/**
 * Whether the total of a list can be cached. Every change of entities that can have built-in rows, and of project
 * grants, affects permissions and increments the tenant's policy version, so a total stays valid as long as the
 * version. Changes of tags do not increment it, and changes in a project do not increment the version of its slices.
 *
 * Operators list the rows of all tenants, which have no common version, so their totals may be a minute old.
 */
const canCacheTotal = (entity: AnyEntity, { level }: ResolvedScope, { tagIds }: ListInput): boolean =>
  (level === 'installation' && entity.columns['tenantId'] === undefined) ||
  (entity.isVersioned && tagIds === undefined);

function omit(row: Row, key: string): Row {
  const { [key]: _, ...rest } = row;
  return rest;
}

/** Turns a violation of a unique index into CONFLICT with the field whose value is taken. The index decides races. */
export function conflict(error: unknown): never {
  const field = takenField(error);
  if (field) throw fail('CONFLICT', { details: [{ path: field, code: 'taken' }], cause: error });
  throw error;
}
