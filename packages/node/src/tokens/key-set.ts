import { importJWK, type CryptoKey, type JWK } from 'jose';
import type { Clock, Transport } from '../calls/transport.ts';
import { jsonOf } from '../calls/transport.ts';
import { momentOf, sinceMs, type Moment } from '../calls/moment.ts';
import { delay } from '../calls/wait.ts';
import { ConnectionError, DoorwardError } from '../contracts/errors.ts';

const UNKNOWN_KID_MS = 30_000;
const GRACE_MS = 3_600_000;
/**
 * The pause after a failed read. Until it ends, keys past their `max-age` are used without a new read, and a token with
 * an unknown key gets the error of the failed read.
 */
const FAILURE_PAUSE_MS = 5000;
/** How long after their `max-age` keys are still used without waiting for the next read. */
const SHORTLY_MS = 60_000;
/**
 * How long a token waits for the next read if its key is even older. The key may have been revoked, so the token waits;
 * the service may hang, so it does not wait longer.
 */
const PATIENCE_MS = 1000;

interface HeldKeys {
  readonly byKid: ReadonlyMap<string, CryptoKey>;
  readonly readAt: Moment;
  readonly maxAgeMs: number;
}

interface Failure {
  /** Time on the monotonic clock. */
  readonly at: number;
  readonly error: unknown;
}

/**
 * The public keys of one issuer (packages §3). They are cached for their `max-age`, and up to an hour longer while the
 * service can't be reached. For an unknown `kid`, the keys are read again, but at most once in 30 s, so that forged
 * tokens cause no load.
 */
export class KeySet {
  readonly #transport: Transport;
  readonly #path: string;
  readonly #clock: Clock;
  #held: HeldKeys | null = null;
  #flight: Promise<HeldKeys> | null = null;
  #lastUnknown = -Infinity;
  /** The error of the last read, if it failed. */
  #failure: Failure | null = null;

  constructor(transport: Transport, path: string, clock: Clock) {
    this.#transport = transport;
    this.#path = path;
    this.#clock = clock;
  }

  /** Returns the key with this id, or undefined. @throws DoorwardError if there are no usable keys */
  async key(kid: string): Promise<CryptoKey | undefined> {
    const held = this.#held;
    const overdueMs = held ? sinceMs(this.#clock, held.readAt) - held.maxAgeMs : Infinity;
    if (!held || overdueMs >= GRACE_MS) return (await this.#read()).byKid.get(kid);
    if (!held.byKid.has(kid)) return this.#unknownKey(kid);
    if (overdueMs >= 0) await this.#renew(overdueMs);
    // The renewal drops the keys if the service refused to send any.
    return (this.#held ?? (await this.#read())).byKid.get(kid);
  }

  async #unknownKey(kid: string): Promise<CryptoKey | undefined> {
    // The keys that are being read may include this key.
    if (this.#flight) return (await this.#flight).byKid.get(kid);
    const now = this.#clock.monotonic();
    const failure = this.#recentFailure(now);
    if (failure) throw failure.error;
    if (now - this.#lastUnknown < UNKNOWN_KID_MS) return undefined;
    const { byKid } = await this.#read();
    // Set only after a successful read: a network failure says nothing about the key.
    this.#lastUnknown = now;
    return byKid.get(kid);
  }

  /** Reads keys again after their `max-age`. The token that needs them waits at most `PATIENCE_MS`. */
  async #renew(overdueMs: number): Promise<void> {
    if (this.#recentFailure(this.#clock.monotonic())) return;
    const isExpectedToFail = this.#failure !== null;
    const read = this.#read().catch(() => undefined);
    if (overdueMs >= SHORTLY_MS && !isExpectedToFail)
      await Promise.race([read, delay(PATIENCE_MS, undefined, true)]);
  }

  #recentFailure(now: number): Failure | null {
    return this.#failure && now - this.#failure.at < FAILURE_PAUSE_MS ? this.#failure : null;
  }

  #read(): Promise<HeldKeys> {
    return (this.#flight ??= this.#readOnce().finally(() => (this.#flight = null)));
  }

  async #readOnce(): Promise<HeldKeys> {
    const readAt = momentOf(this.#clock);
    try {
      const { response, text } = await this.#transport.send({
        operation: 'jwks',
        method: 'GET',
        target: this.#path,
        token: 'none',
        isRepeatable: true,
        readsBody: true,
      });
      const byKid = await importKeys(jsonOf(text));
      this.#failure = null;
      return (this.#held = { byKid, readAt, maxAgeMs: maxAgeOf(response.headers) });
    } catch (error) {
      this.#failure = { at: this.#clock.monotonic(), error };
      if (!isOutage(error)) this.#held = null;
      throw error;
    }
  }
}

/**
 * Whether the service could not be reached or cannot respond now. Any other failure means that the issuer has no keys.
 */
const isOutage = (error: unknown): boolean =>
  error instanceof ConnectionError || (error instanceof DoorwardError && error.retryable);

async function importKeys(body: unknown): Promise<Map<string, CryptoKey>> {
  const keys = (body as { keys?: unknown } | undefined)?.keys;
  if (!Array.isArray(keys))
    throw new ConnectionError('BAD_ANSWER', 'The answer is not a key set.', { operation: 'jwks' });
  const byKid = new Map<string, CryptoKey>();
  for (const jwk of keys as JWK[]) {
    if (jwk?.kty !== 'RSA' || typeof jwk.kid !== 'string' || (jwk.use ?? 'sig') !== 'sig') continue;
    if ((jwk.alg ?? 'RS256') !== 'RS256') continue;
    const { kty, n, e } = jwk;
    // Imports only the public numbers, and ignores all other members of the JWK.
    const key = await importJWK({ kty, n, e } as JWK, 'RS256').catch(() => undefined);
    if (key && !(key instanceof Uint8Array)) byKid.set(jwk.kid, key);
  }
  return byKid;
}

function maxAgeOf(headers: Headers): number {
  const seconds = Number(/\bmax-age=(\d{1,9})\b/.exec(headers.get('cache-control') ?? '')?.[1] ?? 300);
  return Math.min(seconds, 86_400) * 1000;
}
