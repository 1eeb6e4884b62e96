import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildService, startService, type Service } from '../../../../../scripts/service.ts';
import { openPostgres, type Database } from '../../../src/db/connection/open.ts';
import { postgresDatabase } from '../databases/postgres.ts';
import { silentPostgres, type SilentPostgres } from '../databases/silent-postgres.ts';

/** Two real processes on one PostgreSQL, which share only the database. */
export interface TwoServices {
  readonly here: Service;
  /** Reaches the database through `link`. */
  readonly there: Service;
  /** The proxy over which `there` receives changes; it can be cut and silenced. */
  readonly link: SilentPostgres;
  /** The tables, as their owner sees them. */
  readonly database: Database;
  readonly stop: () => Promise<void>;
}

export async function startTwoServices(
  adminUrl: string,
  env: Readonly<Record<string, string>> = {},
): Promise<TwoServices> {
  await buildService();
  const directory = await mkdtemp(join(tmpdir(), 'doorward-two-'));
  const postgres = await postgresDatabase(adminUrl, null);
  const link = await silentPostgres(postgres.url, 'doorward changes');
  const start = (name: string, url: string) =>
    startService({
      dataDir: join(directory, name),
      env: {
        SECURITY_RATE_LIMIT_ENABLED: 'false',
        APP_URL: 'http://doorward.test',
        // A thousand rounds take longer than a token lives by default.
        JWT_ACCESS_TOKEN_EXPIRATION_MINUTES: '60',
        ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
        DATABASE_URL: url,
        ...env,
      },
    });
  const here = await start('here', postgres.url);
  const there = await start('there', link.url);
  const database = openPostgres({
    url: postgres.url,
    poolMax: 1,
    acquireTimeoutMs: 5000,
    maxWaitMs: 5000,
    statementTimeoutMs: 60_000,
    onIdleError: () => undefined,
  });
  return {
    here,
    there,
    link,
    database,
    async stop() {
      await Promise.all([here.stop(), there.stop()]);
      await database.close();
      await link.close();
      await postgres.drop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Median, 99th percentile, and maximum, in milliseconds. */
export function figures(waits: readonly number[]): string {
  const sorted = waits.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;
  return `p50 ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms, slowest ${at(1).toFixed(1)} ms`;
}
