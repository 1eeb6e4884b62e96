import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { TestProject } from 'vitest/node';
import { builtIns } from '../../src/access/built-in.ts';
import { generateSigningKeyPair } from '../../src/crypto/rsa.ts';
import { prepareDatabase } from '../../src/db/migrate.ts';
import { openEmbedded, openPostgres } from '../../src/db/open.ts';
import { seedBuiltIns } from '../../src/db/seed.ts';
import { declaredPermissions, operations } from '../../src/operations.ts';
import { freshTemplate } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Admin address of the PostgreSQL server, or '' on the embedded database. */
    postgresUrl: string;
    /** Dump of a migrated and seeded embedded database. */
    archive: string;
    keyPairs: string;
    /** Set where the service runs without its tenant filter (vitest.second-wall.config.ts). */
    secondWall?: true;
  }
}

const PAIRS = 24;

/** A copy is made for every app, so it holds no databases that nobody connects to and clears little memory. */
const slimming = [
  `alter system set shared_buffers = '16MB'`,
  'update pg_database set datistemplate = false',
  'drop database template0',
  'drop database template1',
];

/** Migrates and seeds once; every test file starts from a copy. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'doorward-run-'));
  const migrations = join(import.meta.dirname, '../../migrations');
  const seed = (db: Parameters<typeof seedBuiltIns>[0]) =>
    seedBuiltIns(db, builtIns(declaredPermissions(operations)));
  // Made by other threads, while this one makes the databases.
  const pairs = Promise.all(Array.from({ length: PAIRS }, () => generateSigningKeyPair(2048)));
  const adminUrl = process.env['TEST_DATABASE_URL'] ?? '';
  if (adminUrl) {
    const url = await freshTemplate(adminUrl);
    const database = openPostgres({
      url,
      poolMax: 1,
      acquireTimeoutMs: 5000,
      maxWaitMs: 5000,
      statementTimeoutMs: 60_000,
      onIdleError: () => undefined,
    });
    await prepareDatabase(database, migrations, seed);
    await database.close();
  }
  const embedded = await openEmbedded(null);
  await prepareDatabase(embedded, migrations, seed);
  for (const one of slimming) await embedded.pool.execute(one);
  // Unpacked once here and not again by every app.
  const archive = join(directory, 'archive.tar');
  await writeFile(archive, gunzipSync(await ((await embedded.dump?.()) as Blob).arrayBuffer()));
  await embedded.close();
  const keyPairs = join(directory, 'key-pairs.json');
  await writeFile(keyPairs, JSON.stringify(await pairs), { mode: 0o600 });
  project.provide('postgresUrl', adminUrl);
  project.provide('archive', archive);
  project.provide('keyPairs', keyPairs);
  return () => rm(directory, { recursive: true, force: true });
}
