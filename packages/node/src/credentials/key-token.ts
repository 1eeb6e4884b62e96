import type { Credential } from '../calls/credential.ts';
import type { Clock } from '../calls/transport.ts';
import { ConnectionError, DoorwardError } from '../contracts/errors.ts';
import { isTokenText } from './token-text.ts';

/** Exchanges the key for a token. */
export type Exchange = () => Promise<{ readonly accessToken: string; readonly expiresIn: number }>;

interface HeldToken {
  readonly text: string;
  /** Of the monotonic clock. */
  readonly renewAt: number;
  readonly expiresAt: number;
}

/** The pause after a refused exchange, whose cause does not go away by itself, and after a renewal that failed. */
const PAUSE_MS = 5000;

/**
 * The token of an API key (packages §2). It is exchanged at the first need, once for all calls that wait for it; renewed in
 * the background when a fifth of its life is left; and used to its end while the service is not reached.
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
    // If this renewal fails, the first call after the expiry throws the error.
    if (held.renewAt <= now && this.#pausedUntil <= now) this.#renew().catch(() => undefined);
    return held.text;
  }

  refuse(token: string): boolean {
    // Another call may have renewed it meanwhile.
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
      // The renewal comes when 15 to 25 % of the life is left, so that processes that started together do not renew
      // together.
      const left = 0.15 + 0.1 * this.#clock.random();
      const renewAt = startedAt + lifeMs * (1 - left);
      this.#refusal = null;
      return (this.#held = { text: accessToken, renewAt, expiresAt: startedAt + lifeMs });
    } catch (error) {
      // An outage may end at any time: the next call that needs a token tries again.
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
