import type { Fetch } from '@doorward/node';
import { visible } from '../output/text.ts';

/** A request that may change something and has no response yet. */
interface Pending {
  readonly method: string;
  readonly path: string;
}

/**
 * Sends every request of a run. Logs requests for --verbose, and knows which ones were in flight when a run is
 * interrupted. It never logs headers, bodies or queries, and hides long path segments, because they are tokens.
 */
export class RequestLog {
  readonly #say: ((line: string) => void) | null;
  readonly #pending = new Set<Pending>();

  /** @param say prints a line; null disables logging */
  constructor(say: ((line: string) => void) | null) {
    this.#say = say;
  }

  /** Requests that may have changed something, although no response arrived. */
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
      // An aborted request may have reached the service, so it stays in the list.
      if (!init.signal?.aborted) this.#pending.delete(entry);
      throw error;
    }
  };
}

function shownPath(address: string): string {
  const { pathname } = new URL(address);
  return visible(pathname.replace(/[^/]{40,}/g, '[hidden]'));
}
