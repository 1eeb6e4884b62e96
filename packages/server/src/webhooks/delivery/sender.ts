import type { Clock } from '../../kernel/ports.ts';
import type { attemptErrors } from '../../schema/webhooks/webhook-delivery.ts';
import { PostFault, type PostAnswer, type Post } from '../../outgoing/outgoing.ts';
import { signedHeaders } from '../../crypto/tokens/webhook-signature.ts';
import { NameNotResolved, TargetRefused, type TargetGuard } from '../../outgoing/target-guard.ts';

/** A message to send to a receiver. */
export interface Message {
  readonly url: string;
  /** `evt_<uuid>` */
  readonly id: string;
  readonly body: string;
  /** The signing secrets, the newest first. */
  readonly secrets: readonly Buffer[];
}

export interface Outcome {
  readonly attemptedAt: Date;
  readonly latencyMs: number;
  readonly statusCode: number | null;
  /** Null if the message was delivered. */
  readonly error: (typeof attemptErrors)[number] | null;
  /** Text that PostgreSQL can store, at most `STORED_CHARACTERS`. */
  readonly responseBody: string | null;
  readonly retryAfter: string | null;
}

/**
 * Makes one attempt. Rejects only if there is no secret to sign with, or with the reason of `stop` once that is
 * aborted: then the result is unknown.
 */
export type Send = (message: Message, stop: AbortSignal) => Promise<Outcome>;

const USER_AGENT = 'Doorward-Webhooks/1';
const STORED_CHARACTERS = 1000;

interface SenderOptions {
  readonly guard: Pick<TargetGuard, 'addressesOf'>;
  readonly post: Post;
  readonly clock: Clock;
  /** Time limit of the whole attempt: name lookup, connection, headers and body. */
  readonly timeoutMs: number;
}

export function createSend({ guard, post, clock, timeoutMs }: SenderOptions): Send {
  return async ({ url: target, id, body, secrets }, stop) => {
    if (secrets.length === 0) throw new Error('there is nothing to sign a webhook with');
    const attemptedAt = clock.now();
    const startedAt = performance.now();
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([stop, timeout]);
    const outcomeOf = (result: Pick<Outcome, 'error'> & Partial<Outcome>): Outcome => ({
      attemptedAt,
      latencyMs: Math.round(performance.now() - startedAt),
      statusCode: null,
      responseBody: null,
      retryAfter: null,
      ...result,
    });
    try {
      const url = new URL(target);
      const addresses = await unlessAborted(guard.addressesOf(url), signal);
      const headers = {
        'content-type': 'application/json',
        'user-agent': USER_AGENT,
        accept: '*/*',
        'accept-encoding': 'identity',
        ...signedHeaders({ id, body }, secrets, attemptedAt),
      };
      const answer = await post({ url, addresses, headers, body }, signal);
      return outcomeOf({
        error: errorOf(answer),
        statusCode: answer.status,
        responseBody: storedText(answer.body),
        retryAfter: answer.retryAfter,
      });
    } catch (error) {
      stop.throwIfAborted();
      if (timeout.aborted) return outcomeOf({ error: 'timeout' });
      if (error instanceof TargetRefused) return outcomeOf({ error: 'blocked' });
      if (error instanceof NameNotResolved) return outcomeOf({ error: 'dns' });
      return outcomeOf({ error: error instanceof PostFault ? error.error : 'connection' });
    }
  };
}

/**
 * Returns why the response is a failure; null if it is not. Redirects are not followed, because their targets were not
 * checked.
 */
function errorOf({ status }: PostAnswer): Outcome['error'] {
  if (status >= 200 && status <= 299) return null;
  return status >= 300 && status <= 399 ? 'redirect' : 'status';
}

/** Returns the text to store: invalid UTF-8 becomes U+FFFD, and so does NUL, which PostgreSQL rejects. */
function storedText(body: Buffer): string | null {
  const characters = [...body.toString('utf8').replaceAll('\0', '\uFFFD')];
  return characters.length === 0 ? null : characters.slice(0, STORED_CHARACTERS).join('');
}

/** Rejects as soon as the signal is aborted, because a name lookup cannot be cancelled. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
