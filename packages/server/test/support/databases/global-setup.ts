import { createHash, generateKeyPair, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { builtIns } from '../../../src/access/built-in.ts';
import { prepareDatabase } from '../../../src/db/preparation/migrate.ts';
import { openEmbedded, openPostgres } from '../../../src/db/connection/open.ts';
import { seedBuiltIns } from '../../../src/db/seed.ts';
import type { Executor } from '../../../src/kernel/scoped-db.ts';
import { declaredPermissions, operations } from '../../../src/operations.ts';
import { rowsByTable } from './embedded-databases.ts';
import { dropDatabases, freshTemplate } from './postgres-template.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Admin address of the PostgreSQL server, or '' on the embedded database. */
    postgresUrl: string;
    /** Dump of a migrated and seeded embedded database. */
    archive: string;
    /** The rows of that database as JSON, by table. */
    preparedRows: string;
    keyPairs: string;
    /** Names the databases of this run. */
    run: string;
    /** Set where the service runs without its tenant filter (vitest.rls.config.ts). */
    withoutTenantFilter?: true;
  }
}

/** Their 40 primes make 780 key pairs for each app. */
const PAIRS = 20;
const DAY_MS = 86_400_000;

/**
 * The tables of tests are small: a planner that doesn't weigh what only pays for large ones takes a fifth less time for a
 * change. The results are the same. PostgreSQL keeps its own settings.
 */
const planning = [
  ...['hashjoin', 'mergejoin', 'material', 'memoize', 'hashagg', 'bitmapscan'].map(
    (method) => `alter system set enable_${method} = off`,
  ),
  // A statement that repeats is planned once, not once more for each of its first five runs.
  'alter system set plan_cache_mode = force_generic_plan',
];

/** A copy is made for every app, so this removes unused databases and frees little memory. */
const slimming = [
  `alter system set shared_buffers = '4MB'`,
  `alter system set min_wal_size = '2MB'`,
  `alter system set max_wal_size = '8MB'`,
  'update pg_database set datistemplate = false',
  'drop database template0',
  'drop database template1',
];

/** Migrates and seeds once; every test file starts from a copy. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const migrations = join(import.meta.dirname, '../../../migrations');
  const seed = (db: Executor) => seedBuiltIns(db, builtIns(declaredPermissions(operations)));
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
  const prepared = await preparedOnce(migrations, seed);
  project.provide('postgresUrl', adminUrl);
  project.provide('archive', prepared.archive);
  project.provide('preparedRows', prepared.rows);
  project.provide('keyPairs', prepared.keyPairs);
  const run = randomBytes(4).toString('hex');
  project.provide('run', run);
  return () => (adminUrl ? dropDatabases(adminUrl, run) : Promise.resolve());
}

/**
 * The embedded database and the key pairs take ten seconds and more to create, so that later runs read them from a
 * cache. The name of the cache folder contains a fingerprint of their sources: a change of those creates a new one.
 */
async function preparedOnce(
  migrations: string,
  seed: (db: Executor) => Promise<void>,
): Promise<{ readonly archive: string; readonly rows: string; readonly keyPairs: string }> {
  const home = join(import.meta.dirname, '../../../../../node_modules/.cache/doorward-tests');
  const directory = join(home, await fingerprint(migrations));
  const prepared = {
    archive: join(directory, 'archive.tar'),
    rows: join(directory, 'rows.json'),
    keyPairs: join(directory, 'key-pairs.json'),
  };
  if (existsSync(directory)) return prepared;
  await mkdir(home, { recursive: true });
  for (const former of await readdir(home)) {
    const { mtimeMs } = await stat(join(home, former));
    // A run with other sources may still use a newer one.
    if (mtimeMs < Date.now() - DAY_MS) await rm(join(home, former), { recursive: true, force: true });
  }
  const making = await mkdtemp(join(home, 'making-'));
  // Worker threads find the primes, while this thread creates the database.
  const primes = Promise.all(Array.from({ length: PAIRS }, findPrimes));
  const embedded = await openEmbedded(null);
  await prepareDatabase(embedded, migrations, seed);
  for (const statement of [...slimming, ...planning]) await embedded.pool.execute(statement);
  const rows = await rowsByTable(embedded.pool);
  const archive = (await embedded.dump?.()) as Uint8Array;
  await embedded.close();
  await writeFile(join(making, 'archive.tar'), archive);
  await writeFile(join(making, 'rows.json'), JSON.stringify(rows));
  await writeFile(join(making, 'key-pairs.json'), JSON.stringify((await primes).flat()), { mode: 0o600 });
  try {
    await rename(making, directory);
  } catch (error) {
    await rm(making, { recursive: true, force: true });
    // Another run was faster.
    if (!existsSync(directory)) throw error;
  }
  return prepared;
}

const generatePrivateKey = promisify(generateKeyPair);

/** Two primes of 1,024 bits that suit the exponent 65537, as numbers in hex. */
async function findPrimes(): Promise<string[]> {
  const { privateKey } = await generatePrivateKey('rsa', { modulusLength: 2048, publicExponent: 0x10001 });
  const { p = '', q = '' } = privateKey.export({ format: 'jwk' });
  return [p, q].map((prime) => `0x${Buffer.from(prime, 'base64url').toString('hex')}`);
}

/** The hash of every source that decides the content of the prepared database. */
async function fingerprint(migrations: string): Promise<string> {
  const hash = createHash('sha256');
  const root = join(import.meta.dirname, '../../../../..');
  const files = await readdir(migrations, { recursive: true, withFileTypes: true });
  const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
  const code = [
    import.meta.filename,
    join(import.meta.dirname, '../../../src/db/seed.ts'),
    join(import.meta.dirname, '../../../src/db/preparation/migrate.ts'),
    join(import.meta.dirname, '../../../src/db/connection/open.ts'),
    join(import.meta.dirname, 'embedded-databases.ts'),
    join(root, 'node_modules/@electric-sql/pglite/package.json'),
  ];
  for (const path of [...paths.sort(), ...code]) hash.update(path).update(await readFile(path));
  return hash
    .update(JSON.stringify(builtIns(declaredPermissions(operations))))
    .digest('hex')
    .slice(0, 16);
}
