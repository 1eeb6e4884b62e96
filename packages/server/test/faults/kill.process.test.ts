/**
 * kill -9 while writing: every acknowledged write is there after the restart, with its audit entry and its event, and
 * no write is there in part. On the embedded database, or on PostgreSQL when TEST_DATABASE_URL is set.
 */
import { sql } from 'drizzle-orm';
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import {
  buildService,
  call,
  callOrThrow,
  ServiceNotStarted,
  signUp,
  startService,
  type Service,
  type SignedUp,
} from '../../../../scripts/service.ts';
import { rowsOf } from '../../src/db/statements/rows.ts';
import { openEmbedded, openPostgres, type Database } from '../../src/db/connection/open.ts';
import { postgresDatabase, type TestDatabase } from '../support/databases/postgres.ts';

const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? 2);
const WRITERS = 8;
/** The restarts take most of the time, not the bursts; several times as long on a busy machine. */
const TIMEOUT_MS = 120_000 + ROUNDS * 6_000;

const embedded = inject('postgresUrl') === '';
let directory: string;
let postgres: TestDatabase | undefined;
let service: Service | undefined;

beforeAll(async () => {
  await buildService();
  directory = await mkdtemp(join(tmpdir(), 'doorward-kill-'));
  if (!embedded) postgres = await postgresDatabase(inject('postgresUrl'), null);
});
afterEach(async () => {
  await service?.kill();
  service = undefined;
});
afterAll(async () => {
  await postgres?.drop();
  await rm(directory, { recursive: true, force: true });
});

const start = async (dataDir: string, env: Record<string, string> = {}): Promise<Service> => {
  service = await startService({
    dataDir,
    env: {
      SECURITY_RATE_LIMIT_ENABLED: 'false',
      // The port changes with every start; the issuer of a valid token must not.
      APP_URL: 'http://doorward.test',
      JWT_ACCESS_TOKEN_EXPIRATION_MINUTES: '60',
      ...(postgres ? { DATABASE_URL: postgres.url } : {}),
      ...env,
    },
  });
  return service;
};

interface Named {
  readonly id: string;
  readonly name: string;
  readonly metadata: Record<string, unknown>;
}

/** Writes until the service is down; returns the names of acknowledged rows. */
async function writeUntilKilled({ base }: Service, { token, organizationId }: SignedUp, prefix: string) {
  const acknowledged: Record<Kind, string[]> = { tags: [], groups: [] };
  const scope = { tenant: 'organization', id: organizationId };
  // The time of the kill is counted from the first acknowledged write, so that no idle service is killed on a slow
  // machine.
  let underWay = (): void => undefined;
  const begun = new Promise<void>((resolve) => (underWay = resolve));
  const writer = async (number: number) => {
    for (let count = 0; ; count++) {
      const kind: Kind = count % 2 ? 'groups' : 'tags';
      const name = `${prefix}-${number}-${count}`;
      try {
        const body = { scope, name, metadata: { name } };
        const { status } = await call(`${base}/api/${kind}`, { token, body });
        if (status !== 201) throw new Unexpected(`${kind} answered ${status}`);
        acknowledged[kind].push(name);
        underWay();
      } catch (error) {
        if (error instanceof Unexpected) throw error;
        return;
      }
    }
  };
  await Promise.all([
    ...Array.from({ length: WRITERS }, (_, number) => writer(number)),
    begun.then(() => sleep(randomInt(200, 500))).then(() => service?.kill()),
  ]);
  return acknowledged;
}

class Unexpected extends Error {}
type Kind = 'tags' | 'groups';

/** All rows of a kind, page by page. */
async function listAll(
  { base }: Service,
  { token, organizationId }: SignedUp,
  kind: Kind,
): Promise<Map<string, Named>> {
  const all = new Map<string, Named>();
  let cursor = '';
  do {
    const query = `tenant=organization&scopeId=${organizationId}&limit=100${kind === 'groups' ? '&isSystem=false' : ''}`;
    const { items, nextCursor } = await callOrThrow<{ items: Named[]; nextCursor: string | null }>(
      `${base}/api/${kind}?${query}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      { token },
    );
    for (const item of items) all.set(item.name, item);
    cursor = nextCursor ?? '';
  } while (cursor);
  return all;
}

/** Reads the tables directly, while no service runs. */
async function openTables(): Promise<Database> {
  if (!postgres) return openEmbedded(join(directory));
  const database = openPostgres({
    url: postgres.url,
    poolMax: 1,
    acquireTimeoutMs: 5000,
    maxWaitMs: 5000,
    statementTimeoutMs: 30_000,
    onIdleError: () => undefined,
  });
  // Transactions of the killed process may still be committing or rolling back.
  for (let left = 1; left > 0; await sleep(20)) {
    const [row] = await rowsOf<{ left: number }>(
      database.pool,
      sql`select count(*)::int as left from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and application_name like 'doorward%'`,
    );
    left = row?.left ?? 0;
  }
  return database;
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

test(
  `no acknowledged write is lost in ${ROUNDS} kills, and none is there in part`,
  { timeout: TIMEOUT_MS },
  async () => {
    const ada = await signUp(await start(directory));
    const acknowledged: Record<Kind, string[]> = { tags: [], groups: [] };
    for (let round = 1; round <= ROUNDS; round++) {
      const written = await writeUntilKilled(service as Service, ada, `r${round}`);
      await start(directory);
      for (const kind of ['tags', 'groups'] as const) {
        acknowledged[kind].push(...written[kind]);
        const match = await listAll(service as Service, ada, kind);
        expect(acknowledged[kind].filter((name) => !match.has(name))).toEqual([]);
        for (const { name, metadata } of match.values()) expect(metadata).toEqual({ name });
      }
    }
    await service?.kill();

    const database = await openTables();
    try {
      const tenant = sql`tenant_id = ${ada.organizationId}::uuid`;
      const tags = await rowsOf<{ id: string }>(
        database.pool,
        sql`select id from tags where ${tenant} order by id`,
      );
      const groups = await rowsOf<{ id: string }>(
        database.pool,
        sql`select id from groups where ${tenant} order by id`,
      );
      const audited = (operation: string) =>
        rowsOf<{ id: string }>(
          database.pool,
          sql`select target->>'id' as id from audit_log where ${tenant} and operation = ${operation} order by 1`,
        );
      expect(await audited('createTag')).toEqual(tags);
      expect(await audited('createGroup')).toEqual(groups);
      const created = await rowsOf<{ id: string }>(
        database.pool,
        sql`select body->'data'->>'id' as id from events where ${tenant} and type = 'group.created' order by 1`,
      );
      expect(created).toEqual(groups);

      for (const [table, counter] of [
        ['audit_log', 'audit_sequence'],
        ['events', 'event_sequence'],
      ] as const) {
        const nodes = await rowsOf<{ last: number; sequences: number[] }>(
          database.pool,
          sql`select ${sql.raw(counter)}::int as last,
            coalesce((select json_agg(sequence order by sequence) from ${sql.raw(table)} t where t.tenant_id = n.id), '[]') as sequences
            from nodes n`,
        );
        for (const { last, sequences } of nodes) expect(sequences).toEqual(numbers(last));
      }
      const total = acknowledged.tags.length + acknowledged.groups.length;
      const kept = tags.length + groups.length;
      process.stdout.write(
        `kill -9 on ${database.mode}: ${ROUNDS} rounds, ${total} writes acknowledged, 0 lost; ${kept - total} more were committed unheard\n`,
      );
      expect(total).toBeGreaterThan(ROUNDS);
    } finally {
      await database.close();
    }
  },
);

describe.runIf(embedded)('one data directory', { timeout: 120_000 }, () => {
  const second = async () => {
    try {
      await (await startService({ dataDir: directory })).kill();
    } catch (error) {
      if (error instanceof ServiceNotStarted) return error;
      throw error;
    }
    throw new Error('it started');
  };

  test('a second process refuses to start with a reason, and does not disturb the first one', async () => {
    const first = await start(directory);
    const { exitCode, output } = await second();
    expect(exitCode).toBe(1);
    expect(output).toContain(`${directory} is in use by process ${first.pid}`);
    expect(output).toContain('DATABASE_URL');
    expect(output).not.toMatch(/^\s+at /m);
    expect((await call<never>(`${first.base}/health/ready`)).status).toBe(200);
    expect((await second()).exitCode).toBe(1);
  });

  test('the lock of a killed process is replaced, that of a stopped one is removed', async () => {
    const lock = join(directory, 'doorward.lock');
    const first = await start(directory);
    await first.kill();
    expect(existsSync(lock)).toBe(true);
    expect(await readFile(lock, 'utf8')).toContain(String(first.pid));
    const next = await start(directory);
    expect(await readFile(lock, 'utf8')).toContain(String(next.pid));
    expect(await next.stop()).toBe(0);
    expect(existsSync(lock)).toBe(false);
  });

  test('a process number that belongs to another process now does not hold the lock', async () => {
    // This test process has that number, but it was started at another time.
    await writeFile(join(directory, 'doorward.lock'), `${process.pid} 1\n`);
    const { base } = await start(directory);
    expect((await call<never>(`${base}/health/ready`)).status).toBe(200);
  });
});
