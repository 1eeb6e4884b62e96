import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { postgresDatabase, type TestDatabase } from '../../../test/support/databases/postgres.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { openEmbedded, openPostgres, type Database } from '../connection/open.ts';
import { pgCode } from './pg-error.ts';
import { deferToCommit } from './deferred-results.ts';
import { rowsOf } from './rows.ts';
import { preparedFiles } from '../../../test/support/databases/prepared-files.ts';

/** Statements that are sent before the previous answer. A pool of one connection makes its later state visible. */
const adminUrl = inject('postgresUrl');

let database: Database;
let server: TestDatabase | undefined;

const open = (poolMax: number): Database =>
  openPostgres({
    url: server?.url ?? '',
    poolMax,
    acquireTimeoutMs: 5000,
    maxWaitMs: 5000,
    statementTimeoutMs: 10_000,
    onIdleError: () => undefined,
  });

beforeAll(async () => {
  if (adminUrl) server = await postgresDatabase(adminUrl, null);
  database = server ? open(1) : await openEmbedded(null, preparedFiles());
  await database.pool.execute(sql`create table notes (id int primary key)`);
});
beforeEach(() => database.pool.execute(sql`delete from notes`));
afterAll(async () => {
  await database.close();
  await server?.drop();
});

const write = (tx: Executor, id: number) => tx.execute(sql`insert into notes values (${id})`);
const stored = async (): Promise<number[]> =>
  (await rowsOf<{ id: number }>(database.pool, sql`select id from notes order by id`)).map(({ id }) => id);
const codeOf = (work: Promise<unknown>) => work.then(() => 'none', pgCode);
const UNIQUE = '23505';

describe('a deferred result', () => {
  it('is committed with the transaction, and awaited before the transaction resolves', async () => {
    let answered = false;
    await database.transaction(async (tx) => {
      await write(tx, 1);
      await deferToCommit(
        tx,
        write(tx, 2).then(() => void (answered = true)),
      );
    });
    expect(answered).toBe(true);
    expect(await stored()).toEqual([1, 2]);
  });

  it('rolls the transaction back when it fails, and the caller gets the failure', async () => {
    const failing = database.transaction(async (tx) => {
      await write(tx, 1);
      await deferToCommit(tx, write(tx, 1));
    });
    expect(await codeOf(failing)).toBe(UNIQUE);
    expect(await stored()).toEqual([]);
  });

  it('is the failure that the caller gets, and not that of the next statement', async () => {
    const failing = database.transaction(async (tx) => {
      await write(tx, 1);
      await deferToCommit(tx, write(tx, 1));
      await write(tx, 2);
    });
    expect(await codeOf(failing)).toBe(UNIQUE);
    expect(await stored()).toEqual([]);
  });

  it('hides no failure of the work itself', async () => {
    const failing = database.transaction(async (tx) => {
      await deferToCommit(tx, write(tx, 1));
      throw new Error('it was not to be');
    });
    await expect(failing).rejects.toThrow('it was not to be');
    expect(await stored()).toEqual([]);
  });

  it('is awaited in a savepoint, which can be rolled back without the transaction', async () => {
    await database.transaction(async (tx) => {
      const inner = tx.transaction(async (savepoint) => {
        await write(savepoint, 1);
        await deferToCommit(savepoint, write(savepoint, 1));
      });
      expect(await codeOf(inner)).toBe(UNIQUE);
      await write(tx, 2);
    });
    expect(await stored()).toEqual([2]);
  });
});

describe('a transaction', () => {
  it('has begun before the first of its statements, however many are sent at once', async () => {
    const failing = database.transaction(async (tx) => {
      await Promise.all([write(tx, 1), write(tx, 2), write(tx, 3)]);
      throw new Error('it was not to be');
    });
    await expect(failing).rejects.toThrow('it was not to be');
    expect(await stored()).toEqual([]);
  });

  it('has begun where the first of its statements sets what ends with it', async () => {
    const setting = (db: Executor) =>
      rowsOf<{ at: string }>(db, sql`select current_setting('test.at', true) as at`);
    await database.transaction(async (tx) => {
      await tx.execute(sql`select set_config('test.at', 'within', true)`);
      expect(await setting(tx)).toEqual([{ at: 'within' }]);
    });
    expect((await setting(database.pool))[0]?.at ?? '').toBe('');
  });

  it('may be empty', async () => {
    expect(await database.transaction(async () => 'nothing')).toBe('nothing');
    expect(await stored()).toEqual([]);
  });

  it.runIf(adminUrl)('fails, and leaves nothing, where its connection ends before it began', async () => {
    const other = open(1);
    try {
      const pid = async (db: Executor) =>
        (await rowsOf<{ pid: number }>(db, sql`select pg_backend_pid() as pid`))[0]?.pid ?? 0;
      const victim = await pid(database.pool);
      const failing = database.transaction(async (tx) => {
        await other.pool.execute(sql`select pg_terminate_backend(${victim}::int, 5000)`);
        await tx.execute(sql`select set_config('test.at', 'within', true)`);
        await write(tx, 1);
      });
      await expect(failing).rejects.toThrow();
      // On a new connection.
      expect(await stored()).toEqual([]);
      expect(await pid(database.pool)).not.toBe(victim);
    } finally {
      await other.close();
    }
  });
});
