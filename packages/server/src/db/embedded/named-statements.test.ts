import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { preparedFiles } from '../../../test/support/databases/prepared-files.ts';
import { openEmbedded, type Database } from '../connection/open.ts';
import { pgCode } from '../statements/pg-error.ts';
import { rowsOf } from '../statements/rows.ts';

let database: Database;
beforeAll(async () => {
  database = await openEmbedded(null, preparedFiles());
});
afterAll(() => database.close());

/** The text differs with the name of the column, and the row with the value. */
const valueAs = async (column: string, value: number): Promise<unknown> => {
  const statement = sql`select ${value}::int as ${sql.identifier(column)}`;
  return (await rowsOf<Record<string, unknown>>(database.pool, statement))[0]?.[column];
};

const namedTexts = async (): Promise<number> => {
  const statement = sql`select count(*)::int as count from pg_prepared_statements`;
  return (await rowsOf<{ count: number }>(database.pool, statement))[0]?.count ?? 0;
};

it('a statement keeps its plan from its second run on, and each run has its own values', async () => {
  const before = await namedTexts();
  expect(await valueAs('once', 1)).toBe(1);
  for (const value of [1, 2, 3]) expect(await valueAs('often', value)).toBe(value);
  expect(await namedTexts()).toBe(before + 1);
});

it('a connection that failed leaves neither a transaction nor a plan to the next one', async () => {
  await database.pool.execute(sql`create table numbers (n int unique deferrable initially deferred)`);
  for (const value of [1, 2]) await valueAs('first', value);
  const duplicates = database.transaction((tx) => tx.execute(sql`insert into numbers values (1), (1)`));
  expect(await duplicates.then(() => 'committed', pgCode)).toBe('23505');
  expect(await namedTexts()).toBe(0);
  for (const value of [1, 2, 3]) expect(await valueAs('second', value)).toBe(value);
  expect(await valueAs('first', 4)).toBe(4);
});

it('the number of plans is limited, and further statements are answered, too', async () => {
  for (let at = 0; at < 500; at++)
    for (const value of [1, 2]) expect(await valueAs(`column${at}`, value)).toBe(value);
  expect(await namedTexts()).toBe(400);
});
