import type { Credential } from '../calls/credential.ts';
import type { Clock } from '../calls/transport.ts';
import { ConnectionError, DoorwardError } from '../contracts/errors.ts';
import { isTokenText } from './token-text.ts';

/** Exchanges the key for a token. */
export type Exchange = () => Promise<{ readonly accessToken: string; readonly expiresIn: number }>;

interface HeldToken {
  readonly text: string;
  /** Time on the monotonic clock, like `expiresAt`. */
  readonly renewAt: number;
  readonly expiresAt: number;
}

/**
 * After a failure, the time until the next renewal in the background. After a refusal, calls that need a token also
 * fail during this time, because the cause of a refusal does not disappear by itself.
 */
const PAUSE_MS = 5000;

/**
 * The token of an API key (packages §2). The key is exchanged when a token is first needed; all waiting calls share one
 * exchange. The token is renewed in the background when about a fifth of its life is left. While the service cannot be
 * reached, the token is used until it expires.
 */
export class KeyToken implements Credential {
  readonly isGiven = false;
  readonly #exchange: Exchange;
  readonly #clock: Clock;
  #held: HeldToken | null = null;
  #flight: Promise<HeldToken> | null = null;
  #refusal: Error | null = null;
  #pausedUntil = -Infinity;

  constructor(exchange: Exchange, clock: Clock) {
    this.#exchange = exchange;
    this.#clock = clock;
  }

  async token(): Promise<string> {
    const now = this.#clock.monotonic();
    const held = this.#held;
    if (!held || held.expiresAt <= now) return (await this.#renew()).text;
    // The held token is still valid, so a failure of this renewal is ignored. A later call tries again.
    if (held.renewAt <= now && this.#pausedUntil <= now) this.#renew().catch(() => undefined);
    return held.text;
  }

  refuse(token: string): boolean {
    // Another call may have renewed the token in the meantime.
    if (this.#held?.text === token) this.#held = null;
    return true;
  }

  #renew(): Promise<HeldToken> {
    if (this.#refusal && this.#pausedUntil > this.#clock.monotonic()) return Promise.reject(this.#refusal);
    return (this.#flight ??= this.#exchangeOnce().finally(() => (this.#flight = null)));
  }

  async #exchangeOnce(): Promise<HeldToken> {
    const startedAt = this.#clock.monotonic();
    try {
      const { accessToken, expiresIn } = await this.#exchange();
      if (!isTokenText(accessToken) || !(expiresIn > 0)) throw badAnswer();
      const lifeMs = expiresIn * 1000;
      // The renewal is due when 15 to 25 % of the life is left. The randomness spreads the renewals of processes that
      // started together.
      const left = 0.15 + 0.1 * this.#clock.random();
      const renewAt = startedAt + lifeMs * (1 - left);
      this.#refusal = null;
      return (this.#held = { text: accessToken, renewAt, expiresAt: startedAt + lifeMs });
    } catch (error) {
      // An outage may end at any time, so the next call that needs a token tries again.
      this.#refusal = error instanceof DoorwardError && !error.retryable ? error : null;
      this.#pausedUntil = this.#clock.monotonic() + PAUSE_MS;
      throw error;
    }
  }
}

const badAnswer = (): ConnectionError =>
  new ConnectionError('BAD_ANSWER', 'The answer to the exchange has no token.', {
    operation: 'exchangeApiKey',
  });
