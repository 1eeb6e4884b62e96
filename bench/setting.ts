import { signUp, startService, type Service, type SignedUp } from '../scripts/service.ts';
import { postgresDatabase, type TestDatabase } from '../test/support/postgres.ts';
import { openTables, postAs, type Post, type Tables } from './fill.ts';
import { say, type Pace } from './measure.ts';
import type { Row, Series } from './report.ts';

/** A service under measurement, and where what is found goes. */
export interface Setting {
  readonly service: Service;
  readonly ada: SignedUp;
  /** As Ada. */
  readonly post: Post;
  readonly pace: Pace;
  /** Null on the embedded database. */
  readonly database: { readonly url: string; readonly tables: Tables } | null;
  readonly wanted: (row: string) => boolean;
  readonly found: (row: Row) => void;
  readonly foundSeries: (series: Series) => void;
}

export const ENVIRONMENT = {
  NODE_ENV: 'production',
  APP_URL: 'http://doorward.test',
  APP_URL_ALLOW_HTTP: 'true',
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  SECURITY_RATE_LIMIT_ENABLED: 'false',
  // What is shed, and when, is measured by itself (bench/overload.ts).
  OVERLOAD_DELAY_MS: '0',
  OVERLOAD_WAIT_MS: '0',
  JWT_ACCESS_TOKEN_EXPIRATION_MINUTES: '60',
  LOG_LEVEL: 'warn',
  LOG_PRETTY: 'false',
} as const;

export const start = (
  url: string | undefined,
  more: Parameters<typeof startService>[0] = {},
): Promise<Service> =>
  startService({
    ...more,
    env: { ...ENVIRONMENT, ...(url === undefined ? {} : { DATABASE_URL: url }), ...more.env },
  });

type Found = Pick<Setting, 'pace' | 'wanted' | 'found' | 'foundSeries'>;

/** A new database, a service on it, and Ada, who owns an organization; all of it is gone afterwards. */
export async function inSetting(
  database: TestDatabase | null,
  found: Found,
  nodeOptions: readonly string[],
  work: (setting: Setting) => Promise<void>,
): Promise<void> {
  try {
    const service = await start(database?.url, { nodeOptions });
    const tables = database && (await openTables(database.url));
    try {
      const ada = await signUp(service);
      await work({
        ...found,
        service,
        ada,
        post: postAs(service, ada),
        database: database && tables && { url: database.url, tables },
      });
    } finally {
      await tables?.close();
      await service.stop();
    }
  } finally {
    await database?.drop();
  }
}

/** Null when no PostgreSQL answers; then its rows are left out. */
export async function newDatabase(): Promise<TestDatabase | null> {
  const url =
    process.env['DATABASE_URL'] ??
    process.env['TEST_DATABASE_URL'] ??
    'postgres://postgres@127.0.0.1:5432/postgres';
  try {
    return await postgresDatabase(url, null);
  } catch (error) {
    say(`PostgreSQL is left out: ${(error as Error).message || 'it does not answer'}`);
    return null;
  }
}
