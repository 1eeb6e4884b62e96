import type { Fetch } from '@doorward/node';
import { visible } from '../output/text.ts';

/** A change that was sent, for the message of an interrupted run. */
interface Pending {
  readonly method: string;
  readonly path: string;
}

/**
 * Every request of a run passes here: for --verbose, and to know what was in flight when it was interrupted. It shows
 * neither headers nor bodies, and no query; a long text in a path is a token.
 */
export class RequestLog {
  readonly #say: ((line: string) => void) | null;
  readonly #pending = new Set<Pending>();

  /** @param say null: prints nothing */
  constructor(say: ((line: string) => void) | null) {
    this.#say = say;
  }

  /** Changes without an answer. */
  get unanswered(): readonly string[] {
    return [...this.#pending].map(({ method, path }) => `${method} ${path}`);
  }

  readonly fetch: Fetch = async (input, init) => {
    const method = init.method ?? 'GET';
    const path = shownPath(input);
    const startedAt = performance.now();
    const entry = { method, path };
    if (method !== 'GET' && !/^\/api\/auth\//.test(path)) this.#pending.add(entry);
    const tell = (outcome: string, requestId: string | null): void => {
      const time = `${Math.round(performance.now() - startedAt)} ms`;
      this.#say?.([method, path, outcome, time, ...(requestId ? [visible(requestId)] : [])].join('  '));
    };
    try {
      const response = await globalThis.fetch(input, init);
      tell(String(response.status), response.headers.get('x-request-id'));
      this.#pending.delete(entry);
      return response;
    } catch (error) {
      tell('no answer', null);
      // An aborted request may have arrived.
      if (!init.signal?.aborted) this.#pending.delete(entry);
      throw error;
    }
  };
}

function shownPath(address: string): string {
  const { pathname } = new URL(address);
  return visible(pathname.replace(/[^/]{40,}/g, '[hidden]'));
}
