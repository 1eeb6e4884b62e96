/**
 * An upgrade from the former release: its service is used and stopped, `doorward migrate` of this version runs on its
 * database, and then this version serves. No stored row is lost or changed, and all that was in use works.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { buildService, startService, type Service } from '../../../../scripts/service.ts';
import { postgresDatabase, type TestDatabase } from '../support/databases/postgres.ts';
import { buildFormerVersion } from '../support/upgrade/former-version.ts';
import { meetAgain, settle } from '../support/upgrade/inhabitants.ts';
import { embeddedRows, lostRows, postgresRows, type StoredRows } from '../support/upgrade/stored-rows.ts';

const root = join(import.meta.dirname, '../../../..');
const adminUrl = inject('postgresUrl');

describe(`an upgrade of ${adminUrl ? 'PostgreSQL' : 'the embedded database'}`, () => {
  let directory: string;
  let database: TestDatabase | undefined;
  const running = new Set<Service>();

  beforeAll(async () => {
    await buildService();
    directory = await mkdtemp(join(tmpdir(), 'doorward-upgrade-'));
    if (adminUrl) database = await postgresDatabase(adminUrl, null);
  });
  afterAll(async () => {
    for (const service of running) await service.kill();
    await database?.drop();
    await rm(directory, { recursive: true, force: true });
  });

  const environment = () => ({
    APP_URL: 'http://doorward.test',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    SECURITY_RATE_LIMIT_ENABLED: 'false',
    WEBHOOKS_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
    ...(database ? { DATABASE_URL: database.url } : {}),
  });
  const dataDir = () => join(directory, 'data');
  async function start(home: string): Promise<Service> {
    const service = await startService({ root: home, dataDir: dataDir(), env: environment() });
    running.add(service);
    return service;
  }
  const stored = (): Promise<StoredRows> => (database ? postgresRows(database.url) : embeddedRows(dataDir()));

  test('loses no row, and leaves in use what was', { timeout: 240_000 }, async () => {
    const { commit, folder } = await buildFormerVersion();
    const former = await start(folder);
    const inhabitants = await settle(former);
    expect(await former.stop()).toBe(0);

    const before = await stored();
    const entry = join(root, 'packages/server/dist/doorward.js');
    const env = { PATH: process.env['PATH'] ?? '', DATA_DIR: dataDir(), ...environment() };
    await promisify(execFile)(process.execPath, [entry, 'migrate'], { cwd: directory, env });
    const after = await stored();
    expect(lostRows(before, after)).toEqual([]);
    const filled = [...before.values()].filter((rows) => rows.length > 0);
    expect(filled.length).toBeGreaterThan(30);

    const now = await start(root);
    await meetAgain(now, inhabitants);
    expect(await now.stop()).toBe(0);
    expect(now.output()).not.toContain('"level":"error"');
    const rows = filled.reduce((sum, { length }) => sum + length, 0);
    process.stdout.write(
      `upgrade from ${commit.slice(0, 7)}: ${rows} rows of ${filled.length} tables are as they were\n`,
    );
  });
});
