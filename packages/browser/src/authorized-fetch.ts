import type { Settings } from './options.ts';
import type { TokenStore } from './token-store.ts';

interface FetchParts {
  readonly settings: Settings;
  readonly store: TokenStore;
  /** Resolves when it is clear whether there is a session. */
  readonly ready: () => Promise<unknown> | undefined;
  /** Called when the rights of the user may have changed. */
  readonly onRefusal: () => void;
}

/** Tokens that are younger than this are not renewed for a server that refuses them: it would refuse the next ones too. */
const YOUNG_MS = 10_000;

/**
 * `fetch` with the access token, which is added for listed origins only. Browsers remove it when an answer redirects to
 * another origin (Fetch standard, "HTTP-redirect fetch"). A request that was refused with 401 is sent once more with a
 * new token.
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
