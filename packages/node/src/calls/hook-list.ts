import type { Hooks } from '../contracts/hooks.ts';

type HookName = keyof Hooks;
type EventOf<N extends HookName> = Parameters<NonNullable<Hooks[N]>>[0];

/** Headers that only the client sets. Hooks cannot set them. */
const reserved =
  /^(?:authorization|cookie|host|content-.*|accept.*|idempotency-key|if-none-match|connection|transfer-encoding)$/i;

/** The hooks of a client. Hooks cannot change a call, except by headers that `onRequest` returns. */
export class HookList {
  readonly #all = new Set<{ readonly hooks: Hooks }>();

  add(hooks: Hooks): () => void {
    const entry = { hooks };
    this.#all.add(entry);
    return () => void this.#all.delete(entry);
  }

  emit<N extends HookName>(name: N, event: EventOf<N>): Record<string, string> {
    const headers: Record<string, string> = {};
    for (const { hooks } of this.#all) {
      try {
        const hook = hooks[name] as ((event: EventOf<N>) => unknown) | undefined;
        const result = hook?.call(hooks, event);
        if (result instanceof Promise) result.catch(ignore);
        else if (name === 'onRequest' && result) Object.assign(headers, headersOf(result));
      } catch {
        // A broken log or metric must not break a call.
      }
    }
    return headers;
  }
}

const ignore = (): void => undefined;

const headersOf = (result: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(result).filter(
      ([name, value]) =>
        /^[\w-]+$/.test(name) &&
        !reserved.test(name) &&
        typeof value === 'string' &&
        /^[\x20-\x7e]*$/.test(value),
    ),
  );
