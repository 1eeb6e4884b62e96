import { createHash } from 'node:crypto';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { fail } from '../errors.ts';
import type { Stages } from '../kernel/stages.ts';
import { rateClasses, type RateClass } from '../kernel/operation.ts';

/**
 * Fixed windows per class and key (conventions §10), in this process or, with Redis, shared by all of them. A window
 * starts with the first call of its key. Refused calls count too.
 *
 * In memory the answer is synchronous, because this stands before every request: 0.15 µs for a known key and
 * 1.5 µs for a new one, against 0.4 and 4 µs (a timer and 700 bytes each) of RateLimiterMemory, which bounds no keys.
 */

/** `max` points in `windowSeconds`, for each key. */
export interface RateLimit {
  readonly max: number;
  readonly windowSeconds: number;
}

/** What a counted call has left. */
export interface RateState {
  /** Points left in the window, 0 or more. */
  readonly left: number;
  /** Until the window ends, rounded up, 1 or more. */
  readonly seconds: number;
  /** `RateLimit` and `RateLimit-Policy`; none while limits are off. Written when asked for, not before. */
  headers(): Readonly<Record<string, string>>;
}

export interface RateLimiter {
  /**
   * Counts `points` against the key. With 0 points nothing is counted, and an exhausted window is refused already:
   * for calls of which only failures count. Returns a promise only where a store is asked.
   *
   * @throws RATE_LIMITED with Retry-After; UNAVAILABLE for class `auth` while the store is lost.
   */
  readonly consume: (cls: RateClass, key: string, points?: number) => RateState | Promise<RateState>;
}

/** The part of a redis client that is looked at here; the library speaks with the rest. */
export interface RedisClient {
  readonly isReady: boolean;
}

interface RateLimiterOptions {
  readonly config: Readonly<Record<RateClass, RateLimit>>;
  readonly enabled: boolean;
  /** A connected client of `redis`; its owner listens to its errors and closes it. */
  readonly redis?: RedisClient;
  /** Keeps installations apart that share one Redis. */
  readonly installation?: string;
  /** Milliseconds that never run backwards. */
  readonly now?: () => number;
}

/** Limits by the configuration; a lost store is noticed by itself, and so is its return. */
export function createRateLimiter({
  config,
  enabled,
  redis,
  installation = '',
  now = () => performance.now(),
}: RateLimiterOptions): RateLimiter {
  if (!enabled) return { consume: () => unlimited };
  const make = redis
    ? (cls: RateClass) => sharedLimit(cls, config[cls], redis, installation, now)
    : (cls: RateClass) => localLimit(cls, config[cls], now);
  const limits = Object.fromEntries(rateClasses.map((cls) => [cls, make(cls)])) as Record<RateClass, Limit>;
  return { consume: (cls, key, points = 1) => limits[cls](key, points) };
}

/** The limiter as a stage of a call: what is left of a limit stands in the headers of the answer. */
export const limitCalls =
  ({ consume }: RateLimiter): Stages['limit'] =>
  (cls, key, call, points) => {
    const counted = (state: RateState) => void Object.assign(call.effects.headers, state.headers());
    const state = consume(cls, key, points);
    return state instanceof Promise ? state.then(counted) : counted(state);
  };

const unlimited: RateState = { left: Infinity, seconds: 1, headers: () => ({}) };

type Limit = (key: string, points: number) => RateState | Promise<RateState>;

class CountedState implements RateState {
  readonly left: number;
  readonly seconds: number;
  readonly #cls: RateClass;
  readonly #policy: string;

  constructor(cls: RateClass, policy: string, left: number, millisecondsLeft: number) {
    this.#cls = cls;
    this.#policy = policy;
    this.left = Math.max(0, left);
    this.seconds = Math.max(1, Math.ceil(millisecondsLeft / 1000));
  }

  headers() {
    return { RateLimit: `"${this.#cls}";r=${this.left};t=${this.seconds}`, 'RateLimit-Policy': this.#policy };
  }
}

/** The state after a call, or RATE_LIMITED; what a class and its quota say is written once. */
function judge(cls: RateClass, { max, windowSeconds }: RateLimit) {
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

function localLimit(cls: RateClass, limit: RateLimit, now: () => number) {
  const windows = new Windows(limit.windowSeconds * 1000);
  const verdict = judge(cls, limit);
  return (key: string, points: number): RateState => {
    const time = now();
    const window = windows.take(key, points, time);
    return verdict(window.used, points, window.endsAt - time);
  };
}

interface Window {
  used: number;
  readonly endsAt: number;
}

// Two generations of these are about 150 MB under a flood of new keys; beyond it the oldest keys start anew.
const maxKeys = 250_000;

/**
 * Windows of one length by key, in two generations. A window that began before the last turn has ended by the next one,
 * so whole generations are dropped: no sweep, no timers, and never a window that still runs (below `maxKeys`).
 */
class Windows {
  readonly #length: number;
  #young = new Map<string, Window>();
  #old = new Map<string, Window>();
  #turnsAt = -Infinity;

  constructor(lengthMs: number) {
    this.#length = lengthMs;
  }

  take(key: string, points: number, now: number): Window {
    if (now >= this.#turnsAt || this.#young.size >= maxKeys) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#turnsAt = now + this.#length;
    }
    let window = this.#young.get(key) ?? this.#old.get(key);
    if (window === undefined || now >= window.endsAt) {
      window = { used: 0, endsAt: now + this.#length };
      if (points > 0) this.#young.set(key, window);
    }
    window.used += points;
    return window;
  }
}

// A store that does not answer is as lost as one that is gone; callers do not wait longer than this.
const storeTimeoutMs = 500;

function sharedLimit(
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
  const verdict = judge(cls, limit);
  const local = localLimit(cls, limit, now);
  return async (key, points) => {
    let counted: RateLimiterRes | null;
    try {
      // Keys hold addresses of people, which the store does not need to know.
      const name = createHash('sha256').update(key).digest('base64url');
      counted = await withTimeout(points === 0 ? store.get(name) : store.consume(name, points));
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) {
        // Guessing must not become free by taking Redis down; for the rest an own count is better than an outage.
        if (cls === 'auth') throw fail('UNAVAILABLE', { headers: { 'Retry-After': '1' }, cause: refusal });
        return local(key, points);
      }
      counted = refusal;
    }
    return verdict(counted?.consumedPoints ?? 0, points, counted?.msBeforeNext ?? limit.windowSeconds * 1000);
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
