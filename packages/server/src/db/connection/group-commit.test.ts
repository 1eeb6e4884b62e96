import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { postgresDatabase, type TestDatabase } from '../../../test/support/databases/postgres.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { openEmbedded, openPostgres, type Database } from './open.ts';
import { deferToCommit } from '../statements/deferred-results.ts';
import { rowsOf } from '../statements/rows.ts';
import { createGroupCommit, batched } from './group-commit.ts';
import { preparedFiles } from '../../../test/support/databases/prepared-files.ts';

/** Works of a group commit: committed together, or each alone after a failure. */
const adminUrl = inject('postgresUrl');

let database: Database;
let server: TestDatabase | undefined;
let transactions = 0;
let shared: Database['transaction'];

beforeAll(async () => {
  if (adminUrl) server = await postgresDatabase(adminUrl, null);
  database = server
    ? openPostgres({
        url: server.url,
        poolMax: 4,
        acquireTimeoutMs: 5000,
        maxWaitMs: 5000,
        statementTimeoutMs: 10_000,
        onIdleError: () => undefined,
      })
    : await openEmbedded(null, preparedFiles());
  await database.pool.execute(sql`create table notes (id int primary key, moment bigint not null)`);
  shared = createGroupCommit((work) => {
    transactions++;
    return database.transaction(work);
  });
});
afterAll(async () => {
  await database.close();
  await server?.drop();
});

let asks: number[] = [];
async function write(tx: Executor, ids: readonly number[]): Promise<readonly string[]> {
  asks.push(ids.length);
  const values = ids.map((id) => sql`(${id}::int, pg_current_xact_id()::text::bigint)`);
  const rows = await rowsOf<{ id: number; moment: string }>(
    tx,
    sql`insert into notes values ${sql.join(values, sql`, `)} returning id, moment::text as moment`,
  );
  return ids.map((id) => rows.find((row) => row.id === id)?.moment ?? '');
}
const stored = async (): Promise<number[]> =>
  (await rowsOf<{ id: number }>(database.pool, sql`select id from notes order by id`)).map(({ id }) => id);
const begin = async (): Promise<void> => {
  asks = [];
  transactions = 0;
  await database.pool.execute(sql`delete from notes`);
};

describe('works that come together', () => {
  it('wait for the running transaction, then share one transaction and its statements', async () => {
    await begin();
    const moments = await Promise.all([1, 2, 3, 4, 5].map((id) => shared((tx) => batched(tx, write, id))));
    // Each got its own row.
    expect(await stored()).toEqual([1, 2, 3, 4, 5]);
    expect(asks).toEqual([1, 4]);
    expect(transactions).toBe(2);
    expect(new Set(moments).size).toBe(2);
  });

  it('are committed when they are answered', async () => {
    await begin();
    const works = [1, 2, 3].map(async (id) => {
      await shared((tx) => batched(tx, write, id));
      expect(await stored()).toContain(id);
    });
    await Promise.all(works);
  });

  it('run in lockstep even if some of them end early or run other queries', async () => {
    await begin();
    const other = (_tx: Executor, items: readonly string[]) =>
      Promise.resolve(items.map((item) => `${item}!`));
    const answers = await Promise.all([
      shared((tx) => batched(tx, write, 1)),
      shared(() => Promise.resolve('nothing')),
      shared((tx) => batched(tx, other, 'what')),
      shared(async (tx) => {
        await batched(tx, other, 'first');
        return batched(tx, write, 2);
      }),
    ]);
    expect(answers.slice(1, 3)).toEqual(['nothing', 'what!']);
    expect(await stored()).toEqual([1, 2]);
  });

  it('survive the failure of one work: only that one is rejected, and nothing is done twice', async () => {
    await begin();
    const broken = async (tx: Executor): Promise<string> => {
      await batched(tx, write, 90);
      throw new Error('it was not to be');
    };
    const settled = await Promise.allSettled([
      shared((tx) => batched(tx, write, 1)),
      shared((tx) => batched(tx, write, 2)),
      shared(broken),
      shared((tx) => batched(tx, write, 3)),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(await stored()).toEqual([1, 2, 3]);
    // One alone, a group of three that fails, then each of the three.
    expect(asks).toEqual([1, 3, 1, 1, 1]);
  });

  it('survive a statement of another work that the database rejects', async () => {
    await begin();
    const settled = await Promise.allSettled(
      [1, 2, 2, 3].map((id) => shared((tx) => batched(tx, write, id))),
    );
    expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(await stored()).toEqual([1, 2, 3]);
  });

  it('survive a deferred statement of another work that the database rejects', async () => {
    await begin();
    const left = async (tx: Executor, ids: readonly number[]) => {
      await deferToCommit(tx, write(tx, ids));
      return ids;
    };
    const settled = await Promise.allSettled([1, 2, 2, 3].map((id) => shared((tx) => batched(tx, left, id))));
    expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(await stored()).toEqual([1, 2, 3]);
  });

  it.runIf(adminUrl)('do not wait for a row that another transaction has locked', async () => {
    await begin();
    await database.pool.execute(sql`insert into notes values (7, 0), (8, 0)`);
    const take = (tx: Executor, ids: readonly number[]) =>
      tx
        .execute(
          sql`select id from notes where id in (${sql.join([...ids], sql`, `)}) order by id for update`,
        )
        .then(() => ids);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let taken = (): void => undefined;
    const isTaken = new Promise<void>((resolve) => (taken = resolve));
    const holder = database.transaction(async (tx) => {
      await take(tx, [7]);
      taken();
      await held;
    });
    await isTaken;
    const first = shared((tx) => batched(tx, write, 1));
    const blocked = shared((tx) => batched(tx, take, 7));
    const free = shared((tx) => batched(tx, take, 8));
    await first;
    // Answered while the row is still locked.
    expect(await free).toBe(8);
    release();
    await holder;
    expect(await blocked).toBe(7);
  });
});
