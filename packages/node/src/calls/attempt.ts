/* One HTTP exchange, limited in time and size. It throws only `Failure`. */

import type { Fetch } from '../contracts/types.ts';

export type FailureKind = 'UNREACHABLE' | 'TIMEOUT' | 'ABORTED' | 'BAD_ANSWER';

/** Thrown if an attempt has no usable response. Contains an error code, never an address, a header or a body. */
export class Failure extends Error {
  readonly kind: FailureKind;
  /** The code of a system error, for example `ECONNREFUSED`. */
  readonly system: string | undefined;

  constructor(kind: FailureKind, system?: string) {
    super(kind);
    this.kind = kind;
    this.system = system;
  }

  /** Whether the request certainly did not arrive at the service. */
  get isUnsent(): boolean {
    return /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/.test(
      this.system ?? '',
    );
  }
}

interface Attempt {
  readonly url: string;
  readonly init: RequestInit;
  /** Time limit from sending the request until the body is read. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** If false, the caller reads the body of a success, and the time-out covers only the headers. */
  readonly readsBody: boolean;
}

export interface Answer {
  readonly response: Response;
  /** Null if the body was not read. */
  readonly text: string | null;
}

/** Twice the largest response of the service (8 MiB), so a longer body is not from the service. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/**
 * Sends a request once and, if `readsBody`, reads the body.
 *
 * @throws Failure
 */
export async function attempt(fetch: Fetch, { url, init, ...bounds }: Attempt): Promise<Answer> {
  const controller = new AbortController();
  const { signal, timeoutMs } = bounds;
  let end: (failure: Failure) => void = () => undefined;
  // A `fetch` from the caller may ignore the signal, so time-out and abort also end the attempt here.
  const ended = new Promise<never>((_, reject) => (end = reject));
  ended.catch(() => undefined);
  const stop = (failure: Failure): void => {
    end(failure);
    controller.abort();
  };
  const abort = (): void => stop(new Failure('ABORTED'));
  const timer = setTimeout(() => stop(new Failure('TIMEOUT')), timeoutMs);
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort);
  let isBodyLeft = false;
  try {
    const exchange = answerOf(fetch, url, { ...init, signal: controller.signal }, bounds.readsBody);
    exchange.catch(() => undefined);
    const answer = await Promise.race([ended, exchange]);
    isBodyLeft = answer.text === null;
    return answer;
  } catch (error) {
    throw error instanceof Failure ? error : new Failure('UNREACHABLE', codeOf(error));
  } finally {
    clearTimeout(timer);
    // If the caller reads the body, the caller's signal must still be able to stop the reading.
    if (!isBodyLeft) signal?.removeEventListener('abort', abort);
  }
}

async function answerOf(fetch: Fetch, url: string, init: RequestInit, readsBody: boolean): Promise<Answer> {
  const response = await fetch(url, init);
  return { response, text: readsBody || !response.ok ? await textOf(response) : null };
}

async function textOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    text += decoder.decode(part.value as Uint8Array, { stream: true });
    if (text.length > MAX_CHARACTERS) {
      reader?.cancel().catch(() => undefined);
      throw new Failure('BAD_ANSWER', 'TOO_LONG');
    }
  }
  return text + decoder.decode();
}

/**
 * The code of a system error, or the error's name. Messages are not used, because they can contain addresses and header
 * values.
 */
function codeOf(error: unknown): string | undefined {
  const { cause, code, name } = (error ?? {}) as {
    cause?: { code?: unknown };
    code?: unknown;
    name?: unknown;
  };
  return [cause?.code, code, name].find(
    (text): text is string => typeof text === 'string' && /^\w{1,64}$/.test(text),
  );
}
