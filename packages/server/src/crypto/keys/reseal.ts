import { and, eq, getTableName, gt, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Executor } from '../../kernel/scoped-db.ts';
import { makeCanary, SealError, type Kek } from './kek.ts';
import { installation } from '../../schema/machines/signing-key.ts';

/** A column whose values are sealed with the additional data `<table>:<key>` and must survive a change of the key. */
export interface SealedColumn {
  readonly table: PgTable;
  readonly key: PgColumn;
  readonly sealed: PgColumn;
}

/**
 * Number of resealed rows by table. `installation` counts the canary, which is resealed once no column contains a value
 * under an old key.
 */
export type ResealCounts = Readonly<Record<string, number>>;

interface Reseal {
  /** Reseals values under old keys with the current key. Never rejects. Concurrent calls share one run. */
  run(): Promise<ResealCounts>;
  /** Stops after the current row. */
  stop(): Promise<void>;
}

const BATCH = 100;

/**
 * Creates the job that reseals all sealed values with the current encryption key, so that old keys can be removed. The
 * canary is resealed last, and only if every value was resealed. So if an old key is removed while it is still needed,
 * the start fails as with a wrong key. Each row is a separate statement that has no effect if the row has changed, so
 * that processes do not conflict.
 */
export function createReseal(options: {
  readonly pool: Executor;
  readonly kek: Kek;
  readonly columns: readonly SealedColumn[];
  readonly log: (error: unknown, message: string) => void;
  readonly onResealed: (counts: ResealCounts) => void;
}): Reseal {
  const { pool, kek, columns, log, onResealed } = options;
  let stopping = false;
  let running: Promise<ResealCounts> | null = null;

  /** Reseals a column. Returns whether every value is now sealed under the current key. */
  async function resealColumn({ table, key, sealed }: SealedColumn, counts: Record<string, number>) {
    const name = getTableName(table);
    const hasOldKey = sql`not starts_with(${sealed}, ${kek.currentPrefix})`;
    for (let after: string | null = null; ;) {
      const rows: { id: unknown; text: unknown }[] = await pool
        .select({ id: key, text: sealed })
        .from(table)
        .where(after === null ? hasOldKey : and(hasOldKey, gt(key, after)))
        .orderBy(key)
        .limit(BATCH);
      for (const { id, text } of rows) {
        if (stopping) return false;
        after = String(id);
        const label = `${name}:${after}`;
        const fresh = resealed(label, String(text));
        if (fresh === null) continue;
        await pool.execute(
          sql`update ${table} set ${sql.identifier(sealed.name)} = ${fresh} where ${key} = ${after} and ${sealed} = ${text}`,
        );
        counts[name] = (counts[name] ?? 0) + 1;
      }
      if (rows.length < BATCH) break;
    }
    const remaining = await pool.select({ id: key }).from(table).where(hasOldKey).limit(1);
    return remaining.length === 0;
  }

  /**
   * Returns the value sealed under the current key; null if no configured key can open it, so that it stays as it is.
   */
  function resealed(label: string, text: string): string | null {
    try {
      return kek.seal(kek.open(text, label), label);
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      log(error, `a sealed value of ${label} cannot be opened`);
      return null;
    }
  }

  async function runReseal(): Promise<ResealCounts> {
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
      log(error, 'not all values could be sealed under the current encryption key; the next run tries again');
    }
    if (Object.keys(counts).length > 0) onResealed(counts);
    return counts;
  }

  return {
    run: () =>
      (running ??= runReseal().finally(() => {
        running = null;
      })),
    async stop() {
      stopping = true;
      await running;
    },
  };
}
