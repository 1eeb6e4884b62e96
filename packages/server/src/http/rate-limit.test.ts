import { createClient } from 'redis';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DoorwardError } from '../errors.ts';
import { rateClasses, type RateClass } from '../kernel/operation.ts';
import { createRateLimiter, type RateLimit } from './rate-limit.ts';

const configOf = (limit: RateLimit) =>
  Object.fromEntries(rateClasses.map((cls) => [cls, limit])) as Record<RateClass, RateLimit>;

/** The error that a call throws or rejects with. */
async function refusal(call: () => unknown): Promise<DoorwardError> {
  try {
    await call();
  } catch (error) {
    if (error instanceof DoorwardError) return error;
    throw error;
  }
  throw new Error('was not refused');
}

describe('in memory', () => {
  let time = 1_000;
  const limiter = (max: number, windowSeconds: number) =>
    createRateLimiter({ config: configOf({ max, windowSeconds }), enabled: true, now: () => time });

  it('answers at once, with the headers of the contract', () => {
    const state = limiter(3, 60).consume('general', 'a');
    expect(state).not.toBeInstanceOf(Promise);
    expect(state).toMatchObject({ remaining: 2, seconds: 60 });
    expect((state as { headers(): unknown }).headers()).toEqual({
      RateLimit: '"general";r=2;t=60',
      'RateLimit-Policy': '"general";q=3;w=60',
    });
  });

  it('refuses what is over the limit, until the window ends', async () => {
    const { consume } = limiter(2, 60);
    void consume('auth', 'a');
    time += 30_500;
    void consume('auth', 'a');
    const error = await refusal(() => consume('auth', 'a'));
    expect(error).toMatchObject({ code: 'RATE_LIMITED', params: { seconds: 30 } });
    expect(error.extras.headers).toEqual({
      'Retry-After': '30',
      RateLimit: '"auth";r=0;t=30',
      'RateLimit-Policy': '"auth";q=2;w=60',
    });
    time += 29_499;
    expect((await refusal(() => consume('auth', 'a'))).params).toEqual({ seconds: 1 });
    time += 1;
    expect(consume('auth', 'a')).toMatchObject({ remaining: 1, seconds: 60 });
  });

  it('counts keys and classes apart', () => {
    const { consume } = limiter(1, 60);
    expect(consume('auth', 'a')).toMatchObject({ remaining: 0 });
    expect(consume('auth', 'b')).toMatchObject({ remaining: 0 });
    expect(consume('mail', 'a')).toMatchObject({ remaining: 0 });
  });

  it('counts a batch by its points', async () => {
    const { consume } = limiter(10, 60);
    expect(consume('check', 'a', 10)).toMatchObject({ remaining: 0 });
    expect((await refusal(() => consume('check', 'a'))).code).toBe('RATE_LIMITED');
    expect((await refusal(() => consume('check', 'b', 11))).code).toBe('RATE_LIMITED');
  });

  it('asks without counting by 0 points', async () => {
    const { consume } = limiter(1, 60);
    expect(consume('auth', 'a', 0)).toMatchObject({ remaining: 1, seconds: 60 });
    expect(consume('auth', 'a', 0)).toMatchObject({ remaining: 1 });
    void consume('auth', 'a');
    expect((await refusal(() => consume('auth', 'a', 0))).code).toBe('RATE_LIMITED');
  });

  it('loses no running window when generations turn', async () => {
    const { consume } = limiter(1, 60);
    void consume('general', 'first');
    time += 59_000;
    void consume('general', 'late');
    time += 58_000;
    void consume('general', 'other');
    expect((await refusal(() => consume('general', 'late'))).params).toEqual({ seconds: 2 });
    time += 2_000;
    expect(consume('general', 'late')).toMatchObject({ remaining: 0 });
  });

  it('forgets old keys and bounds new ones', () => {
    const { consume } = limiter(1, 60);
    for (let index = 0; index < 600_000; index++) void consume('general', `flood ${index}`);
    // The first keys gave way to the later ones.
    expect(consume('general', 'flood 0')).toMatchObject({ remaining: 0 });
  });

  it('counts nothing and says nothing while off', () => {
    const off = createRateLimiter({ config: configOf({ max: 1, windowSeconds: 1 }), enabled: false });
    for (let index = 0; index < 5; index++) {
      const state = off.consume('general', 'a');
      expect((state as { headers(): unknown }).headers()).toEqual({});
    }
  });
});

describe.skipIf(!process.env['TEST_REDIS_URL'])('with Redis', { tags: 'exhaustive' }, () => {
  const url = process.env['TEST_REDIS_URL'] ?? '';
  const open = () => createClient({ url, socket: { reconnectStrategy: false } }).on('error', () => undefined);
  const clients = [open(), open()] as const;
  beforeAll(() => Promise.all(clients.map((client) => client.connect())));
  afterAll(() => clients.forEach((client) => client.destroy()));

  const limiters = (max: number, windowSeconds: number) =>
    clients.map((redis) =>
      createRateLimiter({ config: configOf({ max, windowSeconds }), enabled: true, redis }),
    );

  it('is one atomic bucket for all processes', async () => {
    const [a, b] = limiters(50, 60);
    const key = randomUUID();
    const answers = await Promise.allSettled(
      Array.from({ length: 80 }, async (_, index) => (index % 2 ? a : b)?.consume('auth', key)),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(50);
    const error = await refusal(() => a?.consume('auth', key, 0));
    expect(error.code).toBe('RATE_LIMITED');
    expect(error.extras.headers).toMatchObject({
      'Retry-After': expect.stringMatching(/^(59|60)$/) as string,
      'RateLimit-Policy': '"auth";q=50;w=60',
    });
  });

  it('asks without counting, and ends its windows', async () => {
    const [a, b] = limiters(1, 2);
    const key = randomUUID();
    expect(await a?.consume('auth', key, 0)).toMatchObject({ remaining: 1 });
    expect(await a?.consume('auth', key)).toMatchObject({ remaining: 0 });
    const seconds = (await refusal(() => b?.consume('auth', key))).params['seconds'];
    expect([1, 2]).toContain(seconds);
    await vi.waitFor(async () => expect(await b?.consume('auth', key)).toMatchObject({ remaining: 0 }), {
      timeout: 10_000,
      interval: 50,
    });
  });

  it('keeps no address in the store', async () => {
    const [redis] = clients;
    const installation = randomUUID();
    const config = configOf({ max: 5, windowSeconds: 5 });
    const { consume } = createRateLimiter({ config, enabled: true, redis, installation });
    await consume('mail', 'ada@example.org');
    const keys = await redis.keys(`doorward:${installation}:*`);
    expect(keys).toEqual([expect.stringMatching(/:rate:mail:[A-Za-z0-9_-]{43}$/)]);
  });

  it.each([
    ['is gone', async (client: ReturnType<typeof open>) => client.destroy()],
    ['does not answer', async (client: ReturnType<typeof open>) => void (await stall(client))],
  ])('when the store %s: auth is unavailable, the others count locally', async (_name, lose) => {
    const redis = await open().connect();
    const { consume } = createRateLimiter({
      config: configOf({ max: 1, windowSeconds: 60 }),
      enabled: true,
      redis,
    });
    const key = randomUUID();
    await lose(redis);
    const error = await refusal(() => consume('auth', key));
    expect(error).toMatchObject({ code: 'UNAVAILABLE', extras: { headers: { 'Retry-After': '1' } } });
    expect(await consume('general', key)).toMatchObject({ remaining: 0 });
    expect((await refusal(() => consume('general', key))).code).toBe('RATE_LIMITED');
    if (redis.isOpen) redis.destroy();
  });

  /** Makes this one connection wait: what is sent after it stays unanswered. */
  async function stall(client: ReturnType<typeof open>): Promise<void> {
    client.blPop(randomUUID(), 30).catch(() => undefined);
  }
});
