import type { Clock } from '../../kernel/ports.ts';
import type { attemptErrors } from '../webhook-subscriptions/delivery.ts';
import { PostFault, type Answered, type Post } from './outgoing.ts';
import { signedHeaders } from '../../crypto/webhook-signature.ts';
import { NameNotResolved, TargetRefused, type TargetGuard } from '../webhook-targets/target-guard.ts';

/** One attempt: judge the target, sign, send, and say in a word what came of it. */
export interface Message {
  readonly url: string;
  /** `evt_<uuid>` */
  readonly id: string;
  readonly body: string;
  /** The newest first. */
  readonly secrets: readonly Buffer[];
}

export interface Outcome {
  readonly attemptedAt: Date;
  readonly latencyMs: number;
  readonly statusCode: number | null;
  /** Null: delivered. */
  readonly error: (typeof attemptErrors)[number] | null;
  /** Text that the database takes, `KEPT_CHARACTERS` at most. */
  readonly responseBody: string | null;
  readonly retryAfter: string | null;
}

/**
 * Rejects only with the reason of `stop` once it is aborted (then nothing is known of the attempt), and when there is no
 * secret to sign with.
 */
export type Send = (message: Message, stop: AbortSignal) => Promise<Outcome>;

const USER_AGENT = 'Doorward-Webhooks/1';
const KEPT_CHARACTERS = 1000;

export interface SenderOptions {
  readonly guard: Pick<TargetGuard, 'addressesOf'>;
  readonly post: Post;
  readonly clock: Clock;
  /** For all of an attempt: name, connection, headers, body. */
  readonly timeoutMs: number;
}

export function createSend({ guard, post, clock, timeoutMs }: SenderOptions): Send {
  return async ({ url: target, id, body, secrets }, stop) => {
    if (secrets.length === 0) throw new Error('there is nothing to sign a webhook with');
    const attemptedAt = clock.now();
    const began = performance.now();
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([stop, timeout]);
    const ended = (what: Pick<Outcome, 'error'> & Partial<Outcome>): Outcome => ({
      attemptedAt,
      latencyMs: Math.round(performance.now() - began),
      statusCode: null,
      responseBody: null,
      retryAfter: null,
      ...what,
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
      return ended({
        error: errorOf(answer),
        statusCode: answer.status,
        responseBody: kept(answer.body),
        retryAfter: answer.retryAfter,
      });
    } catch (error) {
      stop.throwIfAborted();
      if (timeout.aborted) return ended({ error: 'timeout' });
      if (error instanceof TargetRefused) return ended({ error: 'blocked' });
      if (error instanceof NameNotResolved) return ended({ error: 'dns' });
      return ended({ error: error instanceof PostFault ? error.error : 'connection' });
    }
  };
}

/** Redirects are not followed: where they lead was judged by nobody. */
function errorOf({ status }: Answered): Outcome['error'] {
  if (status >= 200 && status <= 299) return null;
  return status >= 300 && status <= 399 ? 'redirect' : 'status';
}

/** Bytes that are no text become U+FFFD, and PostgreSQL keeps no NUL. */
function kept(body: Buffer): string | null {
  const characters = [...body.toString('utf8').replaceAll('\0', '\uFFFD')];
  return characters.length === 0 ? null : characters.slice(0, KEPT_CHARACTERS).join('');
}

/** A name server that hangs cannot be hung up on; it is no longer waited for. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
