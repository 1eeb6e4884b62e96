import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import {
  buildService,
  callOrThrow,
  signUp,
  startService,
  type Service,
  type SignedUp,
} from '../../../../scripts/service.ts';
import { ownPostgres, serverBinaries, type OwnPostgres } from '../support/databases/own-postgres.ts';

/**
 * PostgreSQL stops under load and returns: callers get the advice to retry, no request gets a 500 or waits without
 * end, the service becomes ready again without help, and every acknowledged write is there.
 */
const ROUNDS = Number(process.env['POSTGRES_RESTARTS'] ?? 1);
const WORKERS = 20;
/** Twice what a response takes at most: 2 s for a connection, 5 s for a statement, and 1 s until the client gives up. */
const HANG_MS = 16_000;

const binaries = await serverBinaries();

describe.runIf(inject('postgresUrl') && binaries)('PostgreSQL restarts', () => {
  let postgres: OwnPostgres;
  let service: Service;
  let ada: SignedUp;
  beforeAll(async () => {
    postgres = await ownPostgres(binaries ?? '');
    await buildService();
    service = await startService({
      env: { DATABASE_URL: postgres.url, SECURITY_RATE_LIMIT_ENABLED: 'false', LOG_LEVEL: 'fatal' },
    });
    ada = await signUp(service);
  }, 120_000);
  afterAll(async () => {
    working = false;
    await service.stop();
    await postgres.remove();
  });

  const statuses = new Map<number, number>();
  const slowest = { ms: 0 };
  const acknowledged: string[] = [];
  let working = true;

  /** One request after the other; the client waits longer than any request may take. */
  async function work(worker: number): Promise<void> {
    const headers = { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' };
    const scope = { tenant: 'organization', id: ada.organizationId };
    for (let count = 0; working; count++) {
      const name = `tag ${worker} ${count}`;
      const writes = count % 2 === 0;
      const began = performance.now();
      const answer = await fetch(
        writes
          ? `${service.base}/api/tags`
          : `${service.base}/api/tags?tenant=organization&scopeId=${scope.id}&limit=1`,
        {
          headers,
          signal: AbortSignal.timeout(HANG_MS),
          ...(writes ? { method: 'POST', body: JSON.stringify({ scope, name }) } : {}),
        },
      );
      await answer.arrayBuffer();
      slowest.ms = Math.max(slowest.ms, performance.now() - began);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (answer.status === 201) acknowledged.push(name);
      if (answer.status === 503) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
  }

  const isReady = async () => (await fetch(`${service.base}/health/ready`)).status === 200;
  async function until(what: () => boolean | Promise<boolean>): Promise<number> {
    const began = performance.now();
    while (!(await what())) {
      if (performance.now() - began > 30_000) throw new Error('it never came to that');
      await new Promise((resolve) => setImmediate(resolve));
    }
    return performance.now() - began;
  }

  test(
    `${ROUNDS} times each, in order and at once`,
    async () => {
      const workers = Array.from({ length: WORKERS }, (_, worker) => work(worker));
      const back: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        for (const mode of ['fast', 'immediate'] as const) {
          const enough = acknowledged.length + 50;
          await until(() => acknowledged.length >= enough);
          await postgres.stop(mode);
          expect((await fetch(`${service.base}/health/live`)).status).toBe(200);
          await until(async () => !(await isReady()));
          await postgres.start();
          back.push(await until(isReady));
          const before = acknowledged.length;
          await until(() => acknowledged.length > before);
        }
      }
      working = false;
      await Promise.all(workers);

      const reported = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
      process.stdout.write(
        `PostgreSQL restarted ${2 * ROUNDS} times under load: ${reported}; ready again after at most ` +
          `${Math.round(Math.max(...back))} ms, slowest answer ${Math.round(slowest.ms)} ms\n`,
      );
      expect([...statuses.keys()].sort()).toEqual([200, 201, 503]);

      const missing: string[] = [];
      const url = `${service.base}/api/tags?tenant=organization&scopeId=${ada.organizationId}&limit=1`;
      for (const name of acknowledged.slice(-200)) {
        const page = await callOrThrow<{ totalCount: number }>(`${url}&search=${encodeURIComponent(name)}`, {
          token: ada.token,
        });
        if (page.totalCount === 0) missing.push(name);
      }
      expect(missing).toEqual([]);
    },
    120_000 + ROUNDS * 60_000,
  );
});
