/** A start that fails prints one line with the reason and the variable to correct, and exits with code 1. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { buildService, freePort, ServiceNotStarted, startService } from '../../../../scripts/service.ts';
import { postgresDatabase } from '../support/databases/postgres.ts';
import { preparedDataDir } from '../support/databases/prepared-data.ts';
import { transactionPooler } from '../support/databases/transaction-pooler.ts';

beforeAll(() => buildService());

/** Starts a service that must fail, and returns its output. */
async function printed(env: Record<string, string>, port?: number): Promise<string> {
  const options = port === undefined ? { env } : { env, port };
  const failed = await startService({ ...options, dataDir: await preparedDataDir() }).then(
    async (service) => {
      await service.kill();
      throw new Error('it started');
    },
    (error: unknown) => error,
  );
  if (!(failed instanceof ServiceNotStarted)) throw failed;
  expect(failed.exitCode).toBe(1);
  return failed.output;
}
const oneLine = (start: string): unknown => expect.stringMatching(new RegExp(`^${start}[^\\n]*\\n$`));

/** Nothing here depends on the database that the tests run on. */
const testOnce = test.skipIf(inject('postgresUrl'));

testOnce('a port in use', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  expect(await printed({}, port)).toEqual(
    oneLine(`PORT: ${port} is in use on 127\\.0\\.0\\.1 \\(EADDRINUSE\\)\\. `),
  );
  taken.close();
});

testOnce('a host that is not of this machine', async () => {
  expect(await printed({ HOST: '192.0.2.1' })).toEqual(oneLine('HOST: '));
});

testOnce('a database that does not answer', async () => {
  const port = await freePort();
  const DATABASE_URL = `postgres://user:hush@127.0.0.1:${port}/doorward`;
  const output = await printed({ DATABASE_URL });
  expect(output).toEqual(oneLine(`DATABASE_URL: no server listens at 127\\.0\\.0\\.1:${port} `));
  expect(output).not.toContain('hush');
});

/** The service is started as root in some places, which may write everywhere but in a file. */
const isRoot = process.getuid?.() === 0;

testOnce('a data directory that is a file, or below one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'doorward-start-'));
  const file = join(folder, 'file');
  await writeFile(file, '');
  expect(await printed({ DATA_DIR: file })).toEqual(
    oneLine(`DATA_DIR: ${file}: it is a file \\(EEXIST\\)\\. `),
  );
  expect(await printed({ DATA_DIR: join(file, 'data') })).toEqual(oneLine('DATA_DIR: .* \\(ENOTDIR\\)\\. '));
  expect(await printed({ DATA_DIR: '/proc/data' })).toEqual(oneLine('DATA_DIR: /proc/data: '));
  await rm(folder, { recursive: true });
});

test.skipIf(isRoot || inject('postgresUrl'))('a data directory of another user', async () => {
  expect(await printed({ DATA_DIR: '/root/data' })).toEqual(
    oneLine('DATA_DIR: /root/data: user \\d+ may not '),
  );
});

testOnce('a misspelled DATABASE_URL', async () => {
  expect(await printed({ DATABSE_URL: 'postgres://127.0.0.1/x' })).toContain(
    'DATABSE_URL is set but DATABASE_URL is not',
  );
});

test.skipIf(!process.env['OLD_NODE'])('a Node that is too old', async () => {
  for (const args of [
    ['packages/server/dist/main.js'],
    ['packages/server/dist/doorward.js', '--version'],
    ['scripts/run.mjs', 'x.ts'],
  ]) {
    const run = promisify(execFile)(process.env['OLD_NODE'] ?? '', args);
    const failed = await run.catch((error: unknown) => error);
    expect(failed).toMatchObject({
      code: 1,
      stderr: oneLine('Doorward needs Node 20\\.19 or newer, but this is v1'),
    });
  }
});

describe.skipIf(!inject('postgresUrl'))('a PostgreSQL server', () => {
  const at = (change: Partial<URL>) => Object.assign(new URL(inject('postgresUrl')), change).href;
  let database: Awaited<ReturnType<typeof postgresDatabase>>;
  beforeAll(async () => {
    database = await postgresDatabase(inject('postgresUrl'));
  });
  afterAll(() => database.drop());

  test('a server without that database', async () => {
    expect(await printed({ DATABASE_URL: at({ pathname: '/nowhere' }) })).toEqual(
      oneLine('DATABASE_URL: there is no database "nowhere" at '),
    );
  });

  test('a server that refuses the user', async () => {
    expect(await printed({ DATABASE_URL: at({ username: 'nobody_here' }) })).toEqual(
      oneLine('DATABASE_URL: PostgreSQL at .* refuses this user or password '),
    );
  });

  test('a user without rights in the database', async () => {
    const name = `weak_${randomUUID().slice(0, 8)}`;
    const client = new pg.Client(database.url);
    await client.connect();
    await client.query(`create role ${name} login`);
    try {
      const weak = Object.assign(new URL(database.url), { username: name }).href;
      expect(await printed({ DATABASE_URL: weak })).toEqual(
        oneLine(`DATABASE_URL: user "${name}" lacks privileges on database .*alter database`),
      );
    } finally {
      await client.query(`drop role ${name}`);
      await client.end();
    }
  });

  test('a database that is read-only', async () => {
    const url = new URL(database.url);
    url.searchParams.set('options', '-c default_transaction_read_only=on');
    expect(await printed({ DATABASE_URL: url.href })).toEqual(
      oneLine('DATABASE_URL: database .* is read-only '),
    );
  });

  test('a pooler in transaction mode', async () => {
    const pooler = await transactionPooler(database.url);
    const output = await printed({ DATABASE_URL: pooler.url });
    await pooler.close();
    expect(output).toEqual(
      oneLine('DATABASE_URL refers to a pooler in transaction mode\\. .*pool_mode=session'),
    );
  });
});
