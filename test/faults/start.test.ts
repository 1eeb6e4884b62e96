/** What keeps a process from starting is told in one line, with the variable to mend, and the exit code is 1. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { buildService, freePort, NotStarted, startService } from '../../scripts/service.ts';
import { postgresDatabase } from '../support/postgres.ts';
import { preparedDataDir } from '../support/prepared-data.ts';
import { transactionPooler } from '../support/transaction-pooler.ts';

beforeAll(() => buildService(), 120_000);

/** Starts in vain, and answers what was printed. */
async function printed(env: Record<string, string>, port?: number): Promise<string> {
  const options = port === undefined ? { env } : { env, port };
  const failed = await startService({ ...options, dataDir: await preparedDataDir() }).then(
    async (service) => {
      await service.kill();
      throw new Error('it started');
    },
    (error: unknown) => error,
  );
  if (!(failed instanceof NotStarted)) throw failed;
  expect(failed.exitCode).toBe(1);
  return failed.output;
}
const oneLine = (start: string): unknown => expect.stringMatching(new RegExp(`^${start}[^\\n]*\\n$`));

test('a port that is taken', async () => {
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
  expect(output).toEqual(oneLine(`DATABASE_URL: nothing listens at 127\\.0\\.0\\.1:${port} `));
  expect(output).not.toContain('hush');
});

describe.skipIf(!inject('postgresUrl'))('a PostgreSQL server', () => {
  const at = (change: Partial<URL>) => Object.assign(new URL(inject('postgresUrl')), change).href;
  let database: Awaited<ReturnType<typeof postgresDatabase>>;
  beforeAll(async () => {
    database = await postgresDatabase(inject('postgresUrl'));
  });
  afterAll(() => database.drop());

  test('without that database', async () => {
    expect(await printed({ DATABASE_URL: at({ pathname: '/nowhere' }) })).toEqual(
      oneLine('DATABASE_URL: there is no database "nowhere" at '),
    );
  });

  test('that refuses the user', async () => {
    expect(await printed({ DATABASE_URL: at({ username: 'nobody_here' }) })).toEqual(
      oneLine('DATABASE_URL: PostgreSQL at .* refuses this user or password '),
    );
  });

  test('behind a pooler in transaction mode', async () => {
    const pooler = await transactionPooler(database.url);
    const output = await printed({ DATABASE_URL: pooler.url });
    await pooler.close();
    expect(output).toEqual(
      oneLine('DATABASE_URL leads to a pooler in transaction mode\\. .*pool_mode=session'),
    );
  });
});
