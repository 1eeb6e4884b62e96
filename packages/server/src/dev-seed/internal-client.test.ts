import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startApp, type TestApp } from '../../test/support/app/app.ts';
import {
  createInternalClient,
  retryWhenBusy,
  type SendDemoRequest,
  type DemoAnswer,
} from './internal-client.ts';
import { DEMO_ADDRESS } from './mailbox.ts';
import { seedDemo } from './seed.ts';

const busy = (retryAfterSeconds?: number): DemoAnswer => ({
  status: 503,
  data: {},
  code: 'UNAVAILABLE',
  retryAfterSeconds,
});

/** Records the requested waits, and does not wait. */
function noted() {
  const waits: number[] = [];
  return { waits, wait: async (ms: number) => void waits.push(ms) };
}

describe('a request that a busy service refuses', () => {
  it('is repeated after the time that the service names, for a minute in all', async () => {
    const { waits, wait } = noted();
    const ask = retryWhenBusy(async () => busy(25), wait);
    expect(await ask({ method: 'GET', path: '/me' })).toEqual(busy(25));
    expect(waits).toEqual([25_000, 25_000]);
    // Only ten seconds of the minute are left, so the next request is not repeated.
    expect(await ask({ method: 'GET', path: '/me' })).toEqual(busy(25));
    expect(waits).toHaveLength(2);
  });

  it('is not repeated when the service names no time, or refuses for another reason', async () => {
    const { waits, wait } = noted();
    for (const answer of [busy(), { ...busy(1), status: 429, code: 'RATE_LIMITED' }])
      expect(await retryWhenBusy(async () => answer, wait)({ method: 'GET', path: '/me' })).toEqual(answer);
    expect(waits).toEqual([]);
  });
});

describe('a seed of a busy service', () => {
  let app: TestApp;
  let dataDir: string;
  beforeAll(async () => {
    app = await startApp();
    dataDir = await mkdtemp(join(tmpdir(), 'doorward-seed-'));
  });
  afterAll(async () => {
    await app.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  const nextToken = () => vi.waitFor(() => app.mailedToken(DEMO_ADDRESS), { timeout: 60_000 });

  it('is whole although each of its requests is refused at first', async () => {
    const door = createInternalClient(app.server, 'localhost:4000');
    let refused = 0;
    let passes = false;
    const ask: SendDemoRequest = async (request) => {
      passes = !passes;
      if (!passes) return door(request);
      refused++;
      return busy(1);
    };
    const { waits, wait } = noted();
    const { notice } = await seedDemo({
      send: retryWhenBusy(ask, wait),
      nextToken,
      // As in an installation that has users already.
      firstUserToken: async () => null,
      dataDir,
    });
    expect(notice('http://localhost:4000')).toContain('A request that answers ALLOWED');
    expect(refused).toBeGreaterThan(10);
    expect(waits).toEqual(Array.from({ length: refused }, () => 1000));
  });
});
