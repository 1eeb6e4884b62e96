/** A start that fails prints one line with the reason and the variable to correct, and exits with code 1. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { buildService, freePort, ServiceNotStarted, startService } from '../../../../scripts/service.ts';
import { postgresDatabase } from '../support/postgres.ts';
import { preparedDataDir } from '../support/prepared-data.ts';
import { transactionPooler } from '../support/transaction-pooler.ts';

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

test('a port in use', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  expect(await printed({}, port)).toEqual(
    oneLine(`PORT: ${port} is in use on 127\\.0\\.0\\.1 \\(EADDRINUSE\\)\\. `),
  );
  taken.close();
});

test('a host that is not of this machine', async () => {
  expect(await printed({ HOST: '192.0.2.1' })).toEqual(oneLine('HOST: '));
});

test('a database that does not answer', async () => {
  const port = await freePort();
  const DATABASE_URL = `postgres://user:hush@127.0.0.1:${port}/doorward`;
  const output = await printed({ DATABASE_URL });
  expect(output).toEqual(oneLine(`DATABASE_URL: no server listens at 127\\.0\\.0\\.1:${port} `));
  expect(output).not.toContain('hush');
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

  test('a pooler in transaction mode', async () => {
    const pooler = await transactionPooler(database.url);
    const output = await printed({ DATABASE_URL: pooler.url });
    await pooler.close();
    expect(output).toEqual(
      oneLine('DATABASE_URL refers to a pooler in transaction mode\\. .*pool_mode=session'),
    );
  });
});
