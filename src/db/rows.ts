import type { SQL } from 'drizzle-orm';
import type { Executor } from '../kernel/scoped-db.ts';

/**
 * Rows of a statement that is written out, for the joins and trees that a builder would only obscure. `T` says what
 * the statement selects. Times come as text from one driver and as Date from the other: see `instant`.
 */
export async function rowsOf<T extends object>(db: Executor, statement: SQL): Promise<T[]> {
  const result: unknown = await db.execute(statement);
  return (result as { rows: T[] }).rows;
}

/** A time of such a row. */
export const instant = (value: string | Date): Date => new Date(value);
