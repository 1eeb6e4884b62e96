import type { Settings } from './options.ts';
import type { TokenStore } from './token-store.ts';

interface FetchParts {
  readonly settings: Settings;
  readonly store: TokenStore;
  /** Resolves when it is known whether there is a session. */
  readonly ready: () => Promise<unknown> | undefined;
  /** Called when the user's permissions may have changed. */
  readonly onRefusal: () => void;
}

/**
 * Tokens younger than this are not renewed after a 401: a server that refuses such a token would refuse the next one
 * too.
 */
const YOUNG_MS = 10_000;

/**
 * Creates a `fetch` that adds the access token, but only for the listed origins. Browsers remove it on a redirect to
 * another origin (Fetch standard, "HTTP-redirect fetch"). After a 401 the request is sent once more with a new token.
 */
export function createFetch({ settings, store, ready, onRefusal }: FetchParts): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    if (!settings.origins.has(new URL(request.url).origin) || request.headers.has('authorization'))
      return fetch(request);
    await ready();
    const token = await store.accessToken();
    if (token === null) return fetch(request);
    const repetition = request.clone();
    const response = await fetch(withToken(request, token));
    if (response.status === 401 && Date.now() - (store.current()?.issuedAt ?? 0) > YOUNG_MS) {
      const next = await store.replace(token).catch(() => null);
      if (next !== null && next !== token) return fetch(withToken(repetition, next));
    } else if (response.status === 401 || response.status === 403) onRefusal();
    return response;
  };
}

function withToken(request: Request, token: string): Request {
  const headers = new Headers(request.headers);
  headers.set('authorization', `Bearer ${token}`);
  return new Request(request, { headers });
}
