import { sql } from 'drizzle-orm';
import { rowsOf } from '../db/statements/rows.ts';
import type { Executor } from '../kernel/scoped-db.ts';

/** About 2,000 hashes are on this many pages. */
const SAMPLE_PAGES = 50;
const MAX_HASHES = 4000;

/**
 * Returns a sample of stored hashes, from pages all over a large table, because users who registered together are
 * stored together. The number of pages is read from the file size, because the embedded database keeps no statistics.
 */
export async function sampleOfHashes(db: Executor): Promise<string[]> {
  const [table] = await rowsOf<{ pages: number }>(
    db,
    sql`select (pg_relation_size('passwords'::regclass) / current_setting('block_size')::int)::int as pages`,
  );
  const percent = Math.min(100, (100 * SAMPLE_PAGES) / Math.max(1, Number(table?.pages)));
  const rows = await rowsOf<{ hash: string }>(
    db,
    sql`select hash from passwords tablesample system (${percent}::real) limit ${MAX_HASHES}`,
  );
  return rows.map(({ hash }) => hash);
}
