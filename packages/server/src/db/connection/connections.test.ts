import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { postgresDatabase, type TestDatabase } from '../../../test/support/databases/postgres.ts';
import { silentPostgres } from '../../../test/support/databases/silent-postgres.ts';
import { fail } from '../../errors.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { openConnections, type Connections } from './connections.ts';
import { pgCode } from '../statements/pg-error.ts';
import { preparedRowsOf } from '../statements/prepared.ts';
import { rowsOf } from '../statements/rows.ts';

const adminUrl = inject('postgresUrl');
const pidOf = async (db: Executor): Promise<number> =>
  (await rowsOf<{ pid: number }>(db, sql`select pg_backend_pid() as pid`))[0]?.pid ?? 0;

const open = (url: string, times: { readonly connectTimeoutMs: number; readonly maxWaitMs: number }) =>
  openConnections(
    {
      ...times,
      config: { connectionString: url, application_name: 'doorward' },
      poolMax: 1,
      onIdleError: () => undefined,
      onStatement: () => undefined,
    },
    async () => undefined,
  );

describe.runIf(adminUrl)('the only connection of a pool', () => {
  let server: TestDatabase;
  let connections: Connections;
  const pid = () => pidOf(connections.executor);

  beforeAll(async () => {
    server = await postgresDatabase(adminUrl, null);
    connections = open(server.url, { connectTimeoutMs: 2000, maxWaitMs: 10_000 });
  });
  afterAll(async () => {
    await connections.pool.end();
    await server.drop();
  });

  it('answers no rows when `begin` fails', async () => {
    let rows = Promise.resolve(0);
    // The server rejects this message as a whole, so the next statement runs outside a transaction.
    const reading = connections.readWith('no statement at all', (tx) => (rows = pidOf(tx)));
    expect(await reading.then(() => 'answered', pgCode)).toBe('42601');
    expect(await rows).toBeGreaterThan(0);
    expect(await pid()).not.toBe(await rows);
  });

  it('answers no rows when the settings are rejected', async () => {
    const reading = connections.readWith('set local role doorward_nobody', pidOf);
    expect(await reading.then(() => 'answered', pgCode)).toBe('22023');
  });

  it('is reused after a read, even if the read ended with a DoorwardError', async () => {
    const before = await pid();
    expect(await connections.readWith('set local test.at = 1', pidOf)).toBe(before);
    const refused = connections.readWith('set local test.at = 1', async () => {
      throw fail('NOT_FOUND');
    });
    await expect(refused).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await pid()).toBe(before);
  });

  it('is closed after a read in which a statement failed', async () => {
    const before = await pid();
    const failing = connections.readWith('set local test.at = 1', (tx) =>
      Promise.all([pidOf(tx), rowsOf(tx, sql`select 1 / 0`), pidOf(tx)]),
    );
    expect(await failing.then(() => 'answered', pgCode)).toBe('22012');
    expect(await pid()).not.toBe(before);
  });

  it('is reused after a rollback by the work, and not after a transaction that could not begin', async () => {
    const before = await pid();
    const rolledBack = connections.transaction(async () => {
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    expect(await pid()).toBe(before);
    const client = await connections.pool.connect();
    const ended = new Promise((resolve) => client.once('end', resolve));
    await client.query('select pg_terminate_backend($1, 5000)', [before]).catch(() => undefined);
    await ended;
    client.release();
    expect(await connections.transaction(pidOf)).not.toBe(before);
  });

  it('prepares a named statement once, with the same answer as without a name', async () => {
    const rows = (tx: Executor, of: typeof rowsOf, n: number) =>
      of<{ n: number; at: string }>(
        tx,
        sql`select ${n}::int as n, to_timestamp(${n}::int) as at, true as yes`,
      );
    for (const n of [1, 2, 3])
      await connections.readWith('set local test.at = 1', async (tx) =>
        expect(await rows(tx, preparedRowsOf, n)).toEqual(await rows(tx, rowsOf, n)),
      );
    const prepared = await connections.readWith('set local test.at = 1', (tx) =>
      rowsOf(tx, sql`select statement from pg_prepared_statements`),
    );
    expect(prepared).toHaveLength(1);
    expect(await rows(connections.executor, preparedRowsOf, 4)).toMatchObject([{ n: 4 }]);
    await connections.transaction(async (tx) => expect(await rows(tx, preparedRowsOf, 5)).toHaveLength(1));
  });

  it('continues after a named statement failed', async () => {
    const divided = (by: number) =>
      connections.readWith('set local test.at = 1', (tx) =>
        preparedRowsOf<{ part: number }>(tx, sql`select 12 / ${by}::int as part`),
      );
    expect(await divided(4)).toEqual([{ part: 3 }]);
    expect(await divided(0).then(() => 'answered', pgCode)).toBe('22012');
    expect(await divided(6)).toEqual([{ part: 2 }]);
  });

  it('may be waited for longer than the connect timeout', async () => {
    const busy = connections.executor.execute(sql`select pg_sleep(3)`);
    expect(await pid()).toBeGreaterThan(0);
    await busy;
  });
});

it.runIf(adminUrl)(
  'the connect timeout applies when the server does not answer a new connection',
  async () => {
    const server = await silentPostgres(adminUrl, 'doorward');
    server.silence();
    const { executor, pool } = open(server.url, { connectTimeoutMs: 100, maxWaitMs: 20_000 });
    const began = performance.now();
    await expect(pidOf(executor)).rejects.toThrow();
    expect(performance.now() - began).toBeLessThan(10_000);
    await pool.end();
    await server.close();
  },
);
