import { sql } from 'drizzle-orm';
import { describe, expect, inject, test } from 'vitest';
import { postgresDatabase } from '../../test/support/postgres.ts';
import { openPostgres, type Database } from './open.ts';
import { rowsOf } from './rows.ts';
import { createStatementNames } from './statement-names.ts';

const times = <T>(count: number, work: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => work(n));

describe('a name', () => {
  test('is given to the twentieth of a text, and stays', () => {
    const nameOf = createStatementNames();
    const names = times(25, () => nameOf('select 1'));
    expect(names.slice(0, 19)).toEqual(times(19, () => undefined));
    expect(names[19]).toMatch(/^[\w-]{43}$/);
    expect(new Set(names.slice(19)).size).toBe(1);
    expect(times(20, () => nameOf('select 2')).at(-1)).not.toBe(names[19]);
  });

  test('is not given to what comes once in a while', () => {
    const nameOf = createStatementNames();
    for (let round = 0; round < 30; round++) {
      expect(nameOf('select 1')).toBeUndefined();
      times(1000, (n) => nameOf(`select ${n}, ${round}`));
    }
  });

  test('is given to a hundred texts, and no more', () => {
    const nameOf = createStatementNames();
    const named = times(150, (n) => times(20, () => nameOf(`select ${n}`)).at(-1) !== undefined);
    expect(named).toEqual(times(150, (n) => n < 100));
    expect(nameOf('select 0')).toBeDefined();
  });
});

describe.runIf(inject('postgresUrl'))('a connection', () => {
  const opened = async (work: (database: Database) => Promise<void>) => {
    const { url, drop } = await postgresDatabase(inject('postgresUrl'));
    const options = { url, poolMax: 1, acquireTimeoutMs: 5000, statementTimeoutMs: 10_000 };
    const database = openPostgres({ ...options, onIdleError: () => undefined });
    try {
      await work(database);
    } finally {
      await database.close();
      await drop();
    }
  };
  const prepared = ({ pool }: Database) =>
    rowsOf<{ statement: string }>(pool, sql`select statement from pg_prepared_statements`);
  const doubled = (db: Database['pool'], n: number) =>
    rowsOf<{ twice: number }>(db, sql`select ${n}::int * 2 as twice`);

  test('prepares once what it is asked often, and answers as before', () =>
    opened(async (database) => {
      for (let n = 0; n < 40; n++) expect(await doubled(database.pool, n)).toEqual([{ twice: 2 * n }]);
      await database.transaction(async (tx) => expect(await doubled(tx, 21)).toEqual([{ twice: 42 }]));
      const statements = (await prepared(database)).map(({ statement }) => statement);
      expect(statements).toEqual(['select $1::int * 2 as twice']);
    }));

  test('goes on after a statement failed that has a name', () =>
    opened(async (database) => {
      const ask = (divisor: number) =>
        rowsOf<{ part: number }>(database.pool, sql`select 12 / ${divisor}::int as part`);
      for (let n = 0; n < 30; n++) expect(await ask(4)).toEqual([{ part: 3 }]);
      await expect(ask(0)).rejects.toThrow();
      for (let n = 0; n < 30; n++) expect(await ask(6)).toEqual([{ part: 2 }]);
    }));
});
