import { DoorwardError } from './errors.ts';
import type { Service } from './service.ts';
import { openTabs, type Tabs } from './tabs.ts';
import { isNewer, readTokens, type Tokens } from './tokens.ts';

/**
 * The tokens of this tab. After 80 % of their life one tab renews them: the first one that gets the lock. The other
 * tabs wait for the lock, see that the tokens have changed, and release it.
 */
export interface TokenStore {
  readonly current: () => Tokens | null;
  /** Stores the tokens of a sign-in, and shares them with other tabs. */
  start(tokens: Tokens): void;
  /** Joins the session of another tab, if there is one. */
  join(): Promise<void>;
  /** Returns a valid access token, or null without a session. @throws DoorwardError if it cannot be renewed now */
  accessToken(): Promise<string | null>;
  /** Replaces a refused access token; returns null if the session has ended. @throws DoorwardError */
  replace(accessToken: string): Promise<string | null>;
  /** Ends the session in every tab, and returns its tokens. */
  end(): Tokens | null;
  /** Renews the tokens if they are due, because timers are late in background tabs and after the computer slept. */
  wake(): void;
  close(): void;
}

/** Tokens are renewed after this fraction of their life. */
const RENEWAL = 0.8;
/**
 * An access token that expires sooner than this is renewed first, because it may expire before it reaches the server.
 */
const MARGIN_MS = 5000;
const RETRY_MS = 1000;
const MAX_RETRY_MS = 30_000;

/** Creates the store. It contacts other tabs only after `start` or `join`. */
export function createTokenStore(service: Service, name: string, onChange: () => void): TokenStore {
  let tokens: Tokens | null = null;
  /** Ended sessions. A renewal that was in progress in another tab must not bring such a session back. */
  const ended = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let renewal: Promise<void> | undefined;
  let failures = 0;

  function take(candidate: Tokens): boolean {
    if (ended.has(candidate.session) || !isNewer(candidate, tokens)) return false;
    tokens = candidate;
    failures = 0;
    schedule(renewalTime(candidate) - Date.now());
    onChange();
    return true;
  }

  function drop(session: string): void {
    ended.add(session);
    if (tokens?.session !== session) return;
    tokens = null;
    clearTimeout(timer);
    onChange();
  }

  let opened: Tabs | undefined;
  const tabs = (): Tabs => (opened ??= openTabs(name, { tokens: () => tokens, onTokens: take, onEnd: drop }));

  function end(): Tokens | null {
    const former = tokens;
    if (former === null) return null;
    tabs().end(former.session);
    drop(former.session);
    return former;
  }

  function schedule(delay: number): void {
    clearTimeout(timer);
    // If no call waits for this renewal, its error is ignored; the next call that needs the token tries again.
    timer = setTimeout(() => void renew().catch(() => undefined), Math.max(0, delay));
  }

  const renew = (): Promise<void> =>
    (renewal ??= renewUnlessRenewed(tokens).finally(() => (renewal = undefined)));

  /** If the tokens change while this tab waits for the lock, another tab has renewed them, so nothing is left to do. */
  async function renewUnlessRenewed(before: Tokens | null): Promise<void> {
    if (before !== null) await navigator.locks.request(name, () => renewLocked(before));
  }

  async function renewLocked(before: Tokens): Promise<void> {
    if (tokens !== before) return;
    // The tab that had the lock before has shared its tokens, but they may not have arrived yet.
    await tabs().sync();
    if (tokens !== before) return;
    try {
      const fields = { grant_type: 'refresh_token', refresh_token: before.refreshToken };
      const renewed = await readTokens(service, await service.post('token', fields), before);
      if (take(renewed)) tabs().share(renewed);
    } catch (error) {
      if (tokens !== before) return;
      if (isFinal(error)) end();
      else schedule(Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** failures++));
      throw error;
    }
  }

  async function replace(accessToken: string): Promise<string | null> {
    if (tokens?.accessToken === accessToken) {
      await renew().catch((error: unknown) => {
        if (tokens !== null) throw error;
      });
    }
    return tokens?.accessToken ?? null;
  }

  return {
    current: () => tokens,
    start(candidate) {
      take(candidate);
      tabs().share(candidate);
    },
    join: () => tabs().sync(),
    async accessToken() {
      if (tokens === null || Date.now() < tokens.expiresAt - MARGIN_MS) return tokens?.accessToken ?? null;
      return replace(tokens.accessToken);
    },
    replace,
    end,
    wake() {
      if (tokens !== null && Date.now() >= renewalTime(tokens)) schedule(0);
    },
    close() {
      clearTimeout(timer);
      opened?.close();
    },
  };
}

const renewalTime = ({ issuedAt, expiresAt }: Tokens): number => issuedAt + RENEWAL * (expiresAt - issuedAt);

/** Whether the service has refused the refresh token, so that no later attempt can succeed. */
const isFinal = (error: unknown): boolean =>
  error instanceof DoorwardError && (error.status === 400 || error.status === 401 || error.status === 403);
