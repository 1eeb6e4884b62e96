/*
 * Fixed windows per class and key (conventions §10), in memory or, with Redis, shared by all processes. A window starts
 * with the first call of its key. Refused calls count too.
 *
 * The in-memory limiter returns its result synchronously, because it runs on every request. It takes 0.15 µs for a
 * known key and 1.5 µs for a new one. RateLimiterMemory takes 0.4 and 4 µs, with a timer and 700 bytes per key, and
 * does not limit the number of keys.
 */

import { createHash } from 'node:crypto';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { fail } from '../errors.ts';
import type { Stages } from '../kernel/stages.ts';
import { rateClasses, type RateClass } from '../kernel/operation.ts';

/** Each key may spend `max` points in `windowSeconds`. */
export interface RateLimit {
  readonly max: number;
  readonly windowSeconds: number;
}

/** The state of a window after a call. */
export interface RateState {
  /** Points left in the window; never negative. */
  readonly remaining: number;
  /** Seconds until the window ends, rounded up; at least 1. */
  readonly seconds: number;
  /** The headers `RateLimit` and `RateLimit-Policy`; none if limits are off. Built on demand. */
  headers(): Readonly<Record<string, string>>;
}

export interface RateLimiter {
  /**
   * Spends `points` of the key. With 0 points it only checks that the window is not exhausted, for calls where only
   * failures count. Returns a promise only with Redis.
   *
   * @throws RATE_LIMITED with Retry-After; UNAVAILABLE for class `auth` while Redis is unavailable
   */
  readonly consume: (cls: RateClass, key: string, points?: number) => RateState | Promise<RateState>;
}

/** The member of a Redis client that this module reads; `rate-limiter-flexible` uses the others. */
interface RedisClient {
  readonly isReady: boolean;
}

interface RateLimiterOptions {
  readonly config: Readonly<Record<RateClass, RateLimit>>;
  readonly enabled: boolean;
  /** A connected `redis` client. Its owner handles its errors and closes it. */
  readonly redis?: RedisClient;
  /** Prefix of the keys, because several installations may share one Redis. */
  readonly installation?: string;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
}

/** Creates the limiter. It needs no notice when Redis goes down or comes back: each request detects that. */
export function createRateLimiter({
  config,
  enabled,
  redis,
  installation = '',
  now = () => performance.now(),
}: RateLimiterOptions): RateLimiter {
  if (!enabled) return { consume: () => unlimited };
  const createLimit = redis
    ? (cls: RateClass) => redisLimit(cls, config[cls], redis, installation, now)
    : (cls: RateClass) => memoryLimit(cls, config[cls], now);
  const limits = Object.fromEntries(rateClasses.map((cls) => [cls, createLimit(cls)])) as Record<
    RateClass,
    Limit
  >;
  return { consume: (cls, key, points = 1) => limits[cls](key, points) };
}

/** The limiter as a stage of a call. Adds the remaining points to the response headers. */
export const limitCalls =
  ({ consume }: RateLimiter): Stages['limit'] =>
  (cls, key, call, points) => {
    const counted = (state: RateState) => void Object.assign(call.effects.headers, state.headers());
    const state = consume(cls, key, points);
    return state instanceof Promise ? state.then(counted) : counted(state);
  };

const unlimited: RateState = { remaining: Infinity, seconds: 1, headers: () => ({}) };

type Limit = (key: string, points: number) => RateState | Promise<RateState>;

class CountedState implements RateState {
  readonly remaining: number;
  readonly seconds: number;
  readonly #cls: RateClass;
  readonly #policy: string;

  constructor(cls: RateClass, policy: string, left: number, millisecondsLeft: number) {
    this.#cls = cls;
    this.#policy = policy;
    this.remaining = Math.max(0, left);
    this.seconds = Math.max(1, Math.ceil(millisecondsLeft / 1000));
  }

  headers() {
    return {
      RateLimit: `"${this.#cls}";r=${this.remaining};t=${this.seconds}`,
      'RateLimit-Policy': this.#policy,
    };
  }
}

/**
 * Returns a function that turns the used points into a state, or throws RATE_LIMITED. The policy header is built once
 * per class.
 */
function createCheck(cls: RateClass, { max, windowSeconds }: RateLimit) {
  const policy = `"${cls}";q=${max};w=${windowSeconds}`;
  return (used: number, points: number, millisecondsLeft: number): RateState => {
    const state = new CountedState(cls, policy, max - used, millisecondsLeft);
    if (points === 0 ? used < max : used <= max) return state;
    const { seconds } = state;
    throw fail('RATE_LIMITED', {
      params: { seconds },
      headers: { 'Retry-After': String(seconds), ...state.headers() },
    });
  };
}

function memoryLimit(cls: RateClass, limit: RateLimit, now: () => number) {
  const windows = new Windows(limit.windowSeconds * 1000);
  const check = createCheck(cls, limit);
  return (key: string, points: number): RateState => {
    const time = now();
    const window = windows.take(key, points, time);
    return check(window.used, points, window.endsAt - time);
  };
}

interface Window {
  used: number;
  readonly endsAt: number;
}

// Two generations of this size take about 150 MB under a flood of new keys. Beyond this number the windows of the
// oldest keys start over.
const maxKeys = 250_000;

/**
 * Windows of one length by key, in two generations. The generations rotate once per window length, so every window in
 * the dropped generation has ended (unless `maxKeys` was reached). This needs no sweep and no timers.
 */
class Windows {
  readonly #length: number;
  #current = new Map<string, Window>();
  #previous = new Map<string, Window>();
  #rotateAt = -Infinity;

  constructor(lengthMs: number) {
    this.#length = lengthMs;
  }

  take(key: string, points: number, now: number): Window {
    if (now >= this.#rotateAt || this.#current.size >= maxKeys) {
      this.#previous = this.#current;
      this.#current = new Map();
      this.#rotateAt = now + this.#length;
    }
    let window = this.#current.get(key) ?? this.#previous.get(key);
    if (window === undefined || now >= window.endsAt) {
      window = { used: 0, endsAt: now + this.#length };
      if (points > 0) this.#current.set(key, window);
    }
    window.used += points;
    return window;
  }
}

// A Redis that does not respond within this time counts as unavailable.
const storeTimeoutMs = 500;

function redisLimit(
  cls: RateClass,
  limit: RateLimit,
  redis: RedisClient,
  installation: string,
  now: () => number,
): Limit {
  const store = new RateLimiterRedis({
    storeClient: redis,
    useRedisPackage: true,
    rejectIfRedisNotReady: true,
    keyPrefix: `doorward:${installation}:rate:${cls}`,
    points: limit.max,
    duration: limit.windowSeconds,
  });
  const check = createCheck(cls, limit);
  const local = memoryLimit(cls, limit, now);
  return async (key, points) => {
    let counted: RateLimiterRes | null;
    try {
      // Keys contain email and IP addresses, which need not be stored in Redis, so they are hashed.
      const name = createHash('sha256').update(key).digest('base64url');
      counted = await withTimeout(points === 0 ? store.get(name) : store.consume(name, points));
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) {
        // An attacker must not gain unlimited guesses by taking Redis down. For other classes a local limit is better
        // than an outage.
        if (cls === 'auth') throw fail('UNAVAILABLE', { headers: { 'Retry-After': '1' }, cause: refusal });
        return local(key, points);
      }
      counted = refusal;
    }
    return check(counted?.consumedPoints ?? 0, points, counted?.msBeforeNext ?? limit.windowSeconds * 1000);
  };
}

async function withTimeout<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The rate limit store does not answer.')), storeTimeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
