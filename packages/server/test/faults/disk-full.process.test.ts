/**
 * The disk of the database is full: writers get UNAVAILABLE with the advice to retry, no request gets a 500, no
 * acknowledged write is lost, operations without writes succeed, and when there is space again all operations do.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import {
  buildService,
  call,
  callOrThrow,
  signUp,
  startService,
  type Service,
  type SignedUp,
} from '../../../../scripts/service.ts';
import { ownPostgres, serverBinaries, type OwnPostgres } from '../support/databases/own-postgres.ts';
import { smallDisk, type SmallDisk } from '../support/databases/small-disk.ts';

let disk: SmallDisk | null = null;
let postgres: OwnPostgres | null = null;
let service: Service | null = null;
beforeAll(() => buildService());
afterEach(async () => {
  await service?.kill();
  await postgres?.remove();
  await disk?.remove();
  service = null;
  postgres = null;
  disk = null;
});

/** Names of acknowledged rows, and the count of each status. */
interface Mentioned {
  readonly acknowledged: string[];
  readonly statuses: Map<number, number>;
}

/** Writes rows of some size, eight at a time, until `enough`; too many fail the test. */
async function write(
  { base }: Service,
  { token, organizationId }: SignedUp,
  reported: Mentioned,
  prefix: string,
  enough: () => boolean,
) {
  const scope = { tenant: 'organization', id: organizationId };
  // Random, because repetitive text is compressed.
  const metadata = { filling: randomBytes(4000).toString('base64') };
  const worker = async (number: number): Promise<void> => {
    for (let count = 0; !enough() && count < 500; count++) {
      const name = `${prefix} ${number} ${count}`;
      const { status } = await call(`${base}/api/tags`, { token, body: { scope, name, metadata } });
      reported.statuses.set(status, (reported.statuses.get(status) ?? 0) + 1);
      if (status === 201) reported.acknowledged.push(name);
      else await sleep(10);
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, number) => worker(number)));
}

const count = (reported: Mentioned, status: number): number => reported.statuses.get(status) ?? 0;
const summary = ({ statuses }: Mentioned): string =>
  [...statuses].map(([status, times]) => `${times} × ${status}`).join(', ');

async function lost(
  { base }: Service,
  { token, organizationId }: SignedUp,
  names: readonly string[],
): Promise<string[]> {
  const missing: string[] = [];
  for (const name of names) {
    const url = `${base}/api/tags?tenant=organization&scopeId=${organizationId}&limit=1&search=${encodeURIComponent(name)}`;
    const { totalCount } = await callOrThrow<{ totalCount: number }>(url, { token });
    if (totalCount === 0) missing.push(name);
  }
  return missing;
}

/** An uncached decision: it is read from the database and needs no space. */
async function decides({ base }: Service, { token, organizationId }: SignedUp): Promise<void> {
  const scope = { tenant: 'organization', id: organizationId };
  const question = { scope, permission: { resource: 'Tag', action: 'Create' } };
  const { authorized } = await callOrThrow<{ authorized: boolean }>(`${base}/api/auth/is-authorized`, {
    token,
    body: question,
  });
  expect(authorized).toBe(true);
}

/**
 * Fills the disk of a running service and frees it again; `mend`: what an administrator does in addition. The same
 * process serves all the time.
 */
async function fillUnder(
  full: SmallDisk,
  env: Record<string, string>,
  dataDir?: string,
  mend?: () => Promise<void>,
) {
  disk = full;
  // Mails are files too, and not the subject of this test.
  const elsewhere = await mkdtemp(join(tmpdir(), 'doorward-mail-'));
  service = await startService({
    ...(dataDir === undefined ? {} : { dataDir }),
    env: {
      SECURITY_RATE_LIMIT_ENABLED: 'false',
      LOG_LEVEL: 'fatal',
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      MAIL_FILE_DIR: elsewhere,
      ...env,
    },
  });
  try {
    const ada = await signUp({ ...service, mailDir: elsewhere });
    const reported: Mentioned = { acknowledged: [], statuses: new Map() };
    await write(service, ada, reported, 'before', () => reported.acknowledged.length >= 20);
    await full.fill();
    await write(service, ada, reported, 'full', () => count(reported, 503) >= 40);
    expect(count(reported, 503)).toBeGreaterThanOrEqual(40);
    expect((await call(`${service.base}/health/live`)).status).toBe(200);
    // A server that stopped for lack of space answers no reads either; decisions are refused, never allowed.
    if (!mend) {
      await decides(service, ada);
      expect(await lost(service, ada, reported.acknowledged)).toEqual([]);
    }
    await full.makeRoom();
    await mend?.();
    const before = reported.acknowledged.length;
    await write(service, ada, reported, 'after', () => reported.acknowledged.length >= before + 20);
    await decides(service, ada);
    expect(await lost(service, ada, reported.acknowledged)).toEqual([]);
    expect([...reported.statuses.keys()].sort()).toEqual([201, 503]);
    return summary(reported);
  } finally {
    await rm(elsewhere, { recursive: true, force: true });
  }
}

const report = (where: string, reported: string): void =>
  void process.stdout.write(
    `disk full under ${where}: ${reported}; 0 acknowledged lost, at work again in the same process\n`,
  );

const binaries = await serverBinaries();

describe.runIf(inject('postgresUrl') && binaries)('PostgreSQL', () => {
  test.each(process.env['DISK_FULL'] ? (['tables', 'log'] as const) : (['tables'] as const))(
    'has no room for its %s',
    { timeout: 180_000 },
    async (what) => {
      const small = await smallDisk(what === 'tables' ? 80 : 40);
      if (!small) return;
      disk = small;
      const server = await ownPostgres(binaries ?? '', { [what]: small.path });
      postgres = server;
      // Without space for its log the server stops, and its administrator starts it again.
      const mend = what === 'log' ? () => server.start().catch(() => undefined) : undefined;
      report(
        `the ${what} of PostgreSQL`,
        await fillUnder(small, { DATABASE_URL: server.url }, undefined, mend),
      );
    },
  );
});

test.runIf(!inject('postgresUrl') && process.env['DISK_FULL'])(
  'the embedded database has no room',
  { timeout: 180_000 },
  async () => {
    const small = await smallDisk(150);
    if (!small) return;
    report('the embedded database', await fillUnder(small, {}, join(small.path, 'data')));
  },
);
