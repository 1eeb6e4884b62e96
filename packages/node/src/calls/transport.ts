import type { ConnectionError, DoorwardError } from '../contracts/errors.ts';
import type { Fetch } from '../contracts/types.ts';
import { attempt, Failure, type Answer } from './attempt.ts';
import { apiError, connectionError } from './call-error.ts';
import type { Credential } from './credential.ts';
import type { HookList } from './hook-list.ts';
import type { RetryBudget } from './retry-budget.ts';
import { backoffMs, delay, retryAfterOf } from './wait.ts';

interface TransportOptions {
  /** Has no slash at the end. */
  readonly url: string;
  readonly fetch: Fetch;
  readonly credential: Credential;
  readonly timeoutMs: number;
  readonly deadlineMs: number;
  readonly retries: number;
  readonly maxRetryAfterMs: number;
  readonly language: string | undefined;
  readonly hooks: HookList;
  readonly budget: RetryBudget;
  /** Called with the headers of every successful response, before the hooks and the caller see it. */
  readonly onSuccess: (headers: Headers) => void;
  /** Whether `close()` was called. */
  readonly isClosed: () => boolean;
  readonly clock: Clock;
}

export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock, which changes of the system time do not affect. */
  readonly monotonic: () => number;
  readonly random: () => number;
}

export interface Sending {
  readonly operation: string;
  readonly method: string;
  /** Path and query, below `url`. */
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** `own`: the token of this client. `none`: no token. `text`: this token. */
  readonly token: 'own' | 'none' | { readonly text: string };
  /** Whether the request may be sent again although the service may have processed an earlier attempt. */
  readonly isRepeatable: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** These two replace the client's settings, for background work that has its own limits. */
  readonly deadlineMs?: number;
  readonly retries?: number;
  /** If false, the body of a success is not read. */
  readonly readsBody: boolean;
  /** If true, an error response is returned, not thrown. */
  readonly returnsErrors?: boolean;
}

export interface Sent extends Answer {
  readonly attempts: number;
}

const repeatedStatuses = new Set([429, 502, 503, 504]);

/**
 * Sends calls: attaches the token, limits the time of each attempt and of the whole call, and repeats calls that can be
 * repeated (packages §4). Runs wherever there is a `fetch`.
 */
export class Transport {
  readonly #options: TransportOptions;
  /**
   * Shared by all transports: a client's transport for the key exchange reports to the same hooks, so ids must not
   * repeat.
   */
  static #lastId = 0;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  get url(): string {
    return this.#options.url;
  }

  async send(sending: Sending): Promise<Sent> {
    const { clock, budget } = this.#options;
    const deadlineMs = sending.deadlineMs ?? this.#options.deadlineMs;
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), deadlineMs);
    const call = new Call(this.#options, sending, ++Transport.#lastId, clock.monotonic());
    try {
      budget.countCall();
      return await call.run(deadline.signal);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The state of one call across its attempts. */
class Call {
  readonly #options: TransportOptions;
  readonly #sending: Sending;
  readonly #id: number;
  readonly #startedAt: number;
  #attempts = 0;
  #repetitions = 0;
  #hasRenewed = false;

  constructor(options: TransportOptions, sending: Sending, id: number, startedAt: number) {
    this.#options = options;
    this.#sending = sending;
    this.#id = id;
    this.#startedAt = startedAt;
  }

  async run(deadline: AbortSignal): Promise<Sent> {
    for (;;) {
      if (this.#options.isClosed()) throw this.#failed(new Failure('ABORTED', 'CLOSED'));
      const token = await this.#token(deadline);
      const result = await this.#attempt(token);
      if (!(result instanceof Failure) && isSuccess(result)) return { ...result, attempts: this.#attempts };
      if (await this.#renews(result, token)) continue;
      const error = this.#errorOf(result);
      const waitMs = this.#waitBefore(error);
      if (waitMs === undefined) {
        if (this.#sending.returnsErrors && !(result instanceof Failure))
          return { ...result, attempts: this.#attempts };
        throw error;
      }
      this.#options.hooks.emit('onRetry', { ...this.#event(), ...outcomeOf(result, error), waitMs });
      await this.#wait(waitMs, deadline);
    }
  }

  /** Gets the token for the next attempt, and stops waiting for it when the call ends. */
  async #token(deadline: AbortSignal): Promise<string | undefined> {
    const { token, signal } = this.#sending;
    if (token === 'none') return undefined;
    if (token !== 'own') return token.text;
    const ends = new AbortController();
    const end = (): void => ends.abort();
    for (const source of [deadline, signal]) {
      if (source?.aborted) end();
      source?.addEventListener('abort', end);
    }
    try {
      const aborted = new Promise<never>((_, reject) => {
        const fail = (): void => reject(this.#failed(new Failure(signal?.aborted ? 'ABORTED' : 'TIMEOUT')));
        if (ends.signal.aborted) fail();
        ends.signal.addEventListener('abort', fail);
      });
      aborted.catch(() => undefined);
      return await Promise.race([aborted, this.#options.credential.token(ends.signal)]);
    } finally {
      for (const source of [deadline, signal]) source?.removeEventListener('abort', end);
    }
  }

  async #attempt(token: string | undefined): Promise<Answer | Failure> {
    const { fetch, hooks, language, url, timeoutMs, onSuccess } = this.#options;
    const { method, target, headers, body, signal, readsBody } = this.#sending;
    const remaining = this.#remainingMs();
    this.#attempts += 1;
    const added = hooks.emit('onRequest', this.#event());
    const init: RequestInit = {
      method,
      // A redirect must not carry the token to another address.
      redirect: 'manual',
      headers: {
        accept: 'application/json',
        ...(language === undefined ? {} : { 'accept-language': language }),
        ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
        ...headers,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...added,
      },
      ...(body === undefined ? {} : { body }),
    };
    const bounds = {
      timeoutMs: Math.min(this.#sending.timeoutMs ?? timeoutMs, remaining),
      signal,
      readsBody,
    };
    const result = await attempt(fetch, { url: `${url}${target}`, init, ...bounds }).catch(
      (failure: unknown) => (failure instanceof Failure ? failure : new Failure('UNREACHABLE')),
    );
    const success = !(result instanceof Failure) && isSuccess(result) ? result.response : null;
    // Before the hooks, so that whatever a hook or the caller does next sees the change that this call made.
    if (success) onSuccess(success.headers);
    const outcome = success ? { status: success.status } : outcomeOf(result, this.#errorOf(result));
    hooks.emit('onResponse', { ...this.#event(), ...outcome });
    return result;
  }

  /** After a 401, reports the refused token and returns whether to send the call once more with a new one. */
  async #renews(result: Answer | Failure, token: string | undefined): Promise<boolean> {
    if (result instanceof Failure || result.response.status !== 401 || this.#hasRenewed) return false;
    if (this.#sending.token !== 'own' || token === undefined) return false;
    this.#hasRenewed = true;
    return this.#options.credential.refuse(token);
  }

  /** How long to wait before the next attempt; undefined if there is none. */
  #waitBefore(error: DoorwardError): number | undefined {
    const { maxRetryAfterMs, budget, clock } = this.#options;
    const retries = this.#sending.retries ?? this.#options.retries;
    if (!error.retryable || this.#repetitions >= retries || error.code === 'ABORTED') return undefined;
    const waitMs = error.retryAfterMs ?? backoffMs(this.#repetitions + 1, clock.random);
    if (error.retryAfterMs !== undefined && waitMs > maxRetryAfterMs) return undefined;
    if (waitMs >= this.#remainingMs() || !budget.take()) return undefined;
    this.#repetitions += 1;
    return waitMs;
  }

  async #wait(waitMs: number, deadline: AbortSignal): Promise<void> {
    const { signal } = this.#sending;
    await delay(waitMs, signal);
    if (signal?.aborted) throw this.#failed(new Failure('ABORTED'));
    if (deadline.aborted) throw this.#failed(new Failure('TIMEOUT'));
  }

  #remainingMs(): number {
    const { clock } = this.#options;
    const deadlineMs = this.#sending.deadlineMs ?? this.#options.deadlineMs;
    return Math.max(1, deadlineMs - (clock.monotonic() - this.#startedAt));
  }

  #errorOf(result: Answer | Failure): DoorwardError {
    if (result instanceof Failure) return this.#failed(result);
    const { status, headers } = result.response;
    const { operation, isRepeatable } = this.#sending;
    const retryAfterMs = retryAfterOf(headers, this.#options.clock.now);
    const isBusy = status === 429 || (isRepeatable && repeatedStatuses.has(status));
    const body = jsonOf(result.text);
    // An earlier attempt of this call is still running.
    const isRunning = (body as { code?: unknown } | undefined)?.code === 'IDEMPOTENCY_IN_PROGRESS';
    const retryable = isBusy || (isRepeatable && isRunning);
    const facts = { operation, attempts: this.#attempts, retryable, retryAfterMs };
    const bad = () => connectionError(new Failure('BAD_ANSWER', `status ${status}`), { ...facts, status });
    return apiError(status, body, facts) ?? bad();
  }

  #failed(failure: Failure): ConnectionError {
    const { operation, isRepeatable } = this.#sending;
    const mayHelp = failure.kind === 'UNREACHABLE' || failure.kind === 'TIMEOUT';
    const retryable = mayHelp && (isRepeatable || failure.isUnsent);
    return connectionError(failure, { operation, attempts: this.#attempts, retryable });
  }

  #event() {
    const { operation } = this.#sending;
    const durationMs = this.#options.clock.monotonic() - this.#startedAt;
    return { id: this.#id, operation, attempt: this.#attempts, durationMs };
  }
}

/** A 304 is a success. A redirect is not, because the client's operations never redirect. */
const isSuccess = ({ response }: Answer): boolean => response.ok || response.status === 304;

const outcomeOf = (result: Answer | Failure, error: DoorwardError) => ({
  ...(result instanceof Failure ? {} : { status: result.response.status }),
  code: error.code,
});

/** The parsed JSON, or undefined. */
export function jsonOf(text: string | null): unknown {
  try {
    return text === null ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}
