import { and, eq, getTableName, gt, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Executor } from '../kernel/scoped-db.ts';
import { makeCanary, SealError, type Kek } from './kek.ts';
import { installation } from './signing-keys-table.ts';

/** A column whose values are sealed under `<table>:<key>` and stay longer than a day. */
export interface SealedColumn {
  readonly table: PgTable;
  readonly key: PgColumn;
  readonly sealed: PgColumn;
}

/** Rows sealed anew, by table. `installation`: nothing of the columns is left under a former key. */
export type ResealCounts = Readonly<Record<string, number>>;

export interface Reseal {
  /** Seals what is under a former key under the current one. Never rejects. Calls that meet share one run. */
  run(): Promise<ResealCounts>;
  /** Ends a run with its row. */
  stop(): Promise<void>;
}

const PAGE = 100;

/**
 * Takes the need for former encryption keys away. The canary goes last, and only when every value could be opened and
 * sealed anew: a start without a key that is still needed is refused, as one with a wrong key is.
 * Each row is a statement of its own that changes nothing if the row changed meanwhile, so processes do not meet.
 */
export function createReseal(options: {
  readonly pool: Executor;
  readonly kek: Kek;
  readonly columns: readonly SealedColumn[];
  readonly log: (error: unknown, message: string) => void;
  readonly told: (counts: ResealCounts) => void;
}): Reseal {
  const { pool, kek, columns, log, told } = options;
  let stopping = false;
  let running: Promise<ResealCounts> | null = null;

  /** Whether every value of the column is under the current key now. */
  async function resealColumn({ table, key, sealed }: SealedColumn, counts: Record<string, number>) {
    const name = getTableName(table);
    const isFormer = sql`not starts_with(${sealed}, ${kek.mark})`;
    for (let after: string | null = null; ;) {
      const rows: { id: unknown; text: unknown }[] = await pool
        .select({ id: key, text: sealed })
        .from(table)
        .where(after === null ? isFormer : and(isFormer, gt(key, after)))
        .orderBy(key)
        .limit(PAGE);
      for (const { id, text } of rows) {
        if (stopping) return false;
        after = String(id);
        const place = `${name}:${after}`;
        const fresh = opened(place, String(text));
        if (fresh === null) continue;
        await pool.execute(
          sql`update ${table} set ${sql.identifier(sealed.name)} = ${fresh} where ${key} = ${after} and ${sealed} = ${text}`,
        );
        counts[name] = (counts[name] ?? 0) + 1;
      }
      if (rows.length < PAGE) break;
    }
    const left = await pool.select({ id: key }).from(table).where(isFormer).limit(1);
    return left.length === 0;
  }

  /** Sealed under the current key; null for what no configured key opens, which is left as it is. */
  function opened(place: string, text: string): string | null {
    try {
      return kek.seal(kek.open(text, place), place);
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      log(error, `a sealed value of ${place} cannot be opened`);
      return null;
    }
  }

  async function whole(): Promise<ResealCounts> {
    const counts: Record<string, number> = {};
    try {
      const canaryIs = eq(installation.name, 'canary');
      const [canary] = await pool.select().from(installation).where(canaryIs);
      let done = true;
      for (const column of columns) done = (await resealColumn(column, counts)) && done;
      if (done && canary && !kek.isCurrent(canary.value)) {
        await pool
          .update(installation)
          .set({ value: makeCanary(kek) })
          .where(canaryIs);
        counts['installation'] = 1;
      }
    } catch (error) {
      log(error, 'not everything could be sealed under the new encryption key; it is tried again');
    }
    if (Object.keys(counts).length > 0) told(counts);
    return counts;
  }

  return {
    run: () =>
      (running ??= whole().finally(() => {
        running = null;
      })),
    async stop() {
      stopping = true;
      await running;
    },
  };
}
