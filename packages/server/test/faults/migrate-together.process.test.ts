/** Several processes start on one empty database at once: it is prepared once, and all of them serve. */
import pg from 'pg';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { buildService, call, signUp, startService, type Service } from '../../../../scripts/service.ts';
import { postgresDatabase, type TestDatabase } from '../support/databases/postgres.ts';

const PROCESSES = 4;
const adminUrl = inject('postgresUrl');

describe.runIf(adminUrl !== '')(`${PROCESSES} processes on one empty database`, () => {
  let database: TestDatabase;
  let directory: string;
  const services: Service[] = [];

  beforeAll(async () => {
    await buildService();
    directory = await mkdtemp(join(tmpdir(), 'doorward-together-'));
    database = await postgresDatabase(adminUrl, null);
  });
  afterAll(async () => {
    await Promise.all(services.map((service) => service.kill()));
    await database.drop();
    await rm(directory, { recursive: true, force: true });
  });

  test('all become ready, and migrations and seeds run once', { timeout: 120_000 }, async () => {
    const started = await Promise.allSettled(
      Array.from({ length: PROCESSES }, (_, index) =>
        startService({
          dataDir: join(directory, String(index)),
          env: {
            DATABASE_URL: database.url,
            ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
            // One service behind one address: tokens of one process are valid at the others.
            APP_URL: 'http://doorward.test',
            MAIL_FILE_DIR: join(directory, 'mail'),
          },
        }),
      ),
    );
    for (const outcome of started) if (outcome.status === 'fulfilled') services.push(outcome.value);
    expect(
      started.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : [])),
    ).toEqual([]);

    const journal = JSON.parse(
      await readFile(join(import.meta.dirname, '../../migrations/meta/_journal.json'), 'utf8'),
    ) as {
      entries: unknown[];
    };
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      const count = async (query: string): Promise<number> =>
        Number((await client.query<{ count: string }>(`select count(*) from ${query}`)).rows[0]?.count);
      expect(await count('drizzle.__drizzle_migrations')).toBe(journal.entries.length);
      expect(await count(`signing_keys where status = 'active'`)).toBe(1);
      expect(await count(`signing_keys where status = 'next'`)).toBe(1);
      process.stdout.write(
        `${PROCESSES} processes on one empty database: all ready, ${journal.entries.length} migrations applied once\n`,
      );
      expect(await count('roles')).toBe(await count('(select distinct level, name from roles) as one'));
    } finally {
      await client.end();
    }
  });

  test('a user who signs up at one of them is known to all', async () => {
    const [first] = services as [Service];
    const ada = await signUp({ ...first, mailDir: join(directory, 'mail') });
    for (const { base } of services) {
      const { status, data } = await call<{ user: { id: string } }>(`${base}/api/me`, { token: ada.token });
      expect({ status, id: data.user.id }).toEqual({ status: 200, id: ada.userId });
    }
  });
});
