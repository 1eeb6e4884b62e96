import { DoorwardError } from './errors.ts';
import type { Service } from './service.ts';
import { openTabs, type Tabs } from './tabs.ts';
import { isNewer, readTokens, type Tokens } from './tokens.ts';

/**
 * The tokens of this tab. At 80 % of their life one tab renews them: the one that gets the lock first. The others
 * wait for the lock, see that the tokens have changed, and release it.
 */
export interface TokenStore {
  readonly current: () => Tokens | null;
  /** Takes the tokens of a sign-in, and shares them. */
  start(tokens: Tokens): void;
  /** Takes the session of another tab, if there is one. */
  join(): Promise<void>;
  /** An access token that still lives, or null without a session. @throws DoorwardError while it cannot be renewed */
  accessToken(): Promise<string | null>;
  /** Replaces an access token that was refused; null: the session has ended. @throws DoorwardError */
  replace(accessToken: string): Promise<string | null>;
  /** Ends the session in every tab, and returns the tokens that it had. */
  end(): Tokens | null;
  /** Renews if it is time: timers of a tab in the background, or of a computer that slept, are late. */
  wake(): void;
  close(): void;
}

/** The part of their life after which tokens are renewed. */
const RENEWAL = 0.8;
/** An access token that ends sooner than this may end on its way. */
const MARGIN_MS = 5000;
const RETRY_MS = 1000;
const MAX_RETRY_MS = 30_000;

/** It reaches other tabs only after `start` or `join`. */
export function createTokenStore(service: Service, name: string, onChange: () => void): TokenStore {
  let tokens: Tokens | null = null;
  /** A renewal that another tab had under way must not bring an ended session back. */
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
    // The error of a renewal that no call waits for is seen by the call that needs the token.
    timer = setTimeout(() => void renew().catch(() => undefined), Math.max(0, delay));
  }

  const renew = (): Promise<void> =>
    (renewal ??= renewUnlessRenewed(tokens).finally(() => (renewal = undefined)));

  /** Tokens that came while this tab waited for the lock are those of the tab that had it: they count as renewed. */
  async function renewUnlessRenewed(before: Tokens | null): Promise<void> {
    if (before !== null) await navigator.locks.request(name, () => renewLocked(before));
  }

  async function renewLocked(before: Tokens): Promise<void> {
    if (tokens !== before) return;
    // The tab that had the lock has sent its tokens, which may still be on their way.
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

/** Whether the service has refused the refresh token: no later try can succeed. */
const isFinal = (error: unknown): boolean =>
  error instanceof DoorwardError && (error.status === 400 || error.status === 401 || error.status === 403);
