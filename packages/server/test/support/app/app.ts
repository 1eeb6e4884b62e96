import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { createApp } from '../../../src/app.ts';
import type { App } from '../../../src/running-app.ts';
import { loadConfig, type Config } from '../../../src/config/config.ts';
import { openPostgres, type Database } from '../../../src/db/connection/open.ts';
import type { PasswordCost } from '../../../src/crypto/passwords/passwords.ts';
import { PostFault } from '../../../src/outgoing/outgoing.ts';
import type { WebhookPorts } from '../../../src/webhooks/delivery/delivery.ts';
import { createLog } from '../../../src/runtime/log.ts';
import type { Clock, Delay, Mail, Mailer } from '../../../src/kernel/ports.ts';
import type { Executor } from '../../../src/kernel/scoped-db.ts';
import { createClient, type TestClient } from './client.ts';
import { embeddedDatabase, rowsByTable } from '../databases/embedded-databases.ts';
import { keepIdle, takeIdle } from './idle-apps.ts';
import { keyPairsFrom } from '../tenants/key-pairs.ts';
import { postgresDatabase, type TestDatabase } from '../databases/postgres.ts';

/** A clock that only tests can move. It runs with the real one, and `advance` adds to it. */
interface TestClock extends Clock {
  advance(milliseconds: number): void;
}

type Records = readonly string[] | null;

export interface TestApp extends TestClient {
  readonly app: App;
  readonly database: Database;
  readonly clock: TestClock;
  readonly mails: Mail[];
  /** The texts of the TXT records that there are, by name. `null`: no name server answers. */
  readonly records: Map<string, Records | Promise<Records>>;
  /** Lines that the service logged, as text. */
  readonly logs: string[];
  /** Every SQL statement, as text without values. */
  readonly statements: string[];
  /** The statements of a piece of work. The follow-up work of earlier calls is finished first and not counted. */
  readonly spent: (work: () => Promise<unknown>) => Promise<string[]>;
  readonly purge: App['purge'];
  readonly close: () => Promise<void>;
  readonly postgres: TestDatabase | null;
  /** The database as the owner of its tables, who may do what the service may not. */
  readonly owner: Executor;
}

/** Opens or ends a transaction, or sets the session identity of its next statements (decision 0018). */
export const isFraming = (statement: string): boolean => /^(begin|commit|set local role)/.test(statement);

/** Variables of every service in tests. */
const defaults = (): Record<string, string> => ({
  NODE_ENV: 'test',
  APP_URL: 'http://localhost:4000',
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  LOG_PRETTY: 'false',
  // Scheduled jobs would interfere with what a test counts or reads.
  JOBS_ENABLED: 'false',
  ...Object.fromEntries(limits.map((name) => [`SECURITY_RATE_LIMIT_${name}_MAX`, '1000000'])),
  ...(process.env['TEST_REDIS_URL'] ? { REDIS_URL: process.env['TEST_REDIS_URL'] } : {}),
  ...(process.env['TEST_POOL_MAX'] ? { DATABASE_POOL_MAX: process.env['TEST_POOL_MAX'] } : {}),
});
const limits = ['GENERAL', 'AUTH', 'REFRESH', 'EXCHANGE', 'CHECK', 'MAIL', 'EXPORT'];

/** Ports that a test replaces; `defaultPorts` has the others. */
type Ports = Partial<WebhookPorts & { readonly delay: Delay }>;

/** A hash takes 1 ms instead of 20, because tests sign in thousands of times. */
const lowCost: PasswordCost = { memoryCost: 2048, timeCost: 1, parallelism: 1 };

/**
 * The whole service on a real database: embedded, or PostgreSQL when TEST_DATABASE_URL is set. Real keys, real hashes,
 * real transactions; tests control the time, the mails and the names.
 *
 * After `close`, the next file of the worker that needs the same variables reuses this service, including its tenants.
 * A file that reads or changes state that all tenants share calls `startOwnApp` instead.
 */
export async function startApp(
  env: Record<string, string> = {},
  /** An app whose database this one uses too, as a second process would; when embedded, a copy of it. */
  beside?: TestApp,
  ports: Ports = {},
): Promise<TestApp> {
  // Calls by earlier files would count toward a limit.
  const isLimited = Object.keys(env).some((name) => name.startsWith('SECURITY_RATE_LIMIT_'));
  if (beside || isLimited) return openApp({ ...defaults(), ...env }, ports, beside);
  const settings = Object.entries({ ...defaults(), ...env }).sort(([a], [b]) => (a < b ? -1 : 1));
  const key = JSON.stringify(settings);
  const app = takeIdle<PooledApp>(key) ?? (await openApp(Object.fromEntries(settings), {}, undefined));
  app.reset(ports);
  return {
    ...app,
    async close() {
      if (!app.isReusable()) return app.close();
      // Keeps the mails and webhooks of this file out of the next one.
      await app.app.flushMails();
      await keepIdle(key, app, app.close);
    },
  };
}

/** Like `startApp`, but the service isn't shared, and `close` ends it. */
export const startOwnApp = (
  env: Record<string, string> = {},
  beside?: TestApp,
  ports: Ports = {},
  cost: PasswordCost = lowCost,
): Promise<TestApp> => openApp({ ...defaults(), ...env }, ports, beside, cost);

interface PooledApp extends TestApp {
  /** Clears the mails, logs, SQL statements and DNS records of the previous file, and resets the clock. */
  readonly reset: (ports: Ports) => void;
  /** False if another app used the same database, or the service listens on an unexpected port. */
  readonly isReusable: () => boolean;
}

/** Databases that more than one app uses. */
const shared = new WeakSet<Database>();

async function openApp(
  env: Record<string, string>,
  ownPorts: Ports,
  beside: TestApp | undefined,
  passwordCost = lowCost,
): Promise<PooledApp> {
  let ports: Required<Ports> = { ...defaultPorts, ...ownPorts };
  const dataDir = await mkdtemp(join(tmpdir(), 'doorward-test-'));
  const config = loadConfig({ ...env, DATA_DIR: dataDir });
  const onPostgres = inject('postgresUrl');
  const server = !onPostgres ? null : (beside?.postgres ?? (await postgresDatabase(onPostgres)));
  if (beside) shared.add(beside.database);
  const { database, statements } = server
    ? databaseOf(server, config)
    : await embeddedDatabase(beside && (await rowsByTable(beside.database.pool)));
  const owning = server
    ? openPostgres({
        url: server.url,
        poolMax: 1,
        acquireTimeoutMs: 5000,
        maxWaitMs: 5000,
        statementTimeoutMs: 60_000,
        onIdleError: () => undefined,
      })
    : null;
  const logs: string[] = [];
  const mails: Mail[] = [];
  const mailer: Mailer = { send: async (mail) => void mails.push(mail) };
  const clock = movableClock();
  const records: TestApp['records'] = new Map();
  const app = await createApp({
    config,
    database,
    migrations: null,
    version: '0.0.0-test',
    log: createLog('debug', { write: (text) => void logs.push(text) }),
    mailer,
    clock,
    delay: { wait: (milliseconds) => ports.delay.wait(milliseconds) },
    dns: { texts: async (name) => answered(await records.get(name)) },
    keyPairs: keyPairsFrom(inject('keyPairs')),
    passwordCost,
    webhooks: {
      resolve: (name) => ports.resolve(name),
      post: (request, signal) => ports.post(request, signal),
      random: () => ports.random(),
    },
  });
  return {
    ...createClient(app.server, mails, app.flushMails),
    app,
    database,
    clock,
    mails,
    records,
    logs,
    statements,
    async spent(work) {
      await app.flushMails();
      const before = statements.length;
      await work();
      return statements.slice(before);
    },
    purge: app.purge,
    postgres: server,
    owner: (owning ?? database).pool,
    reset(next) {
      ports = { ...defaultPorts, ...next };
      for (const list of [logs, mails, statements]) list.length = 0;
      records.clear();
      clock.reset();
    },
    isReusable: () => !shared.has(database) && isAtHome(app.server, config.appUrl),
    async close() {
      await app.close();
      await owning?.close();
      if (!beside) await server?.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Whether the service is as the next file expects it: not listening, or on the port of `url`. */
function isAtHome({ server }: App['server'], url: string): boolean {
  const address = server.address();
  return address === null || (typeof address === 'object' && new URL(url).port === String(address.port));
}

function answered(texts: readonly string[] | null = []): readonly string[] {
  if (texts === null) throw Object.assign(new Error('no name server answers'), { code: 'ETIMEOUT' });
  return texts;
}

/** Every name resolves to a public address, no request leaves this machine, and no response is delayed. */
const defaultPorts: Required<Ports> = {
  resolve: async () => ['93.184.215.14'],
  post: async () => {
    throw new PostFault('connection', 'a test sends nothing to the internet');
  },
  random: () => 0.5,
  delay: { wait: async () => undefined },
};

function databaseOf({ url }: TestDatabase, config: Config) {
  const { poolMax, acquireTimeoutMs, statementTimeoutMs } = config.database;
  const statements: string[] = [];
  const database = openPostgres({
    ...{ url, poolMax, acquireTimeoutMs, statementTimeoutMs },
    maxWaitMs: 5000,
    onIdleError: () => undefined,
    onStatement: (text) => statements.push(text),
  });
  return { database, statements };
}

function movableClock(): TestClock & { readonly reset: () => void } {
  let ahead = 0;
  return {
    now: () => new Date(Date.now() + ahead),
    advance: (milliseconds) => void (ahead += milliseconds),
    reset: () => void (ahead = 0),
  };
}
