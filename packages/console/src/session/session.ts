import { createClient, DoorwardError, type Api, type Client } from '@doorward/node/client';
import { common } from '../i18n/common.ts';
import { language } from '../i18n/language.ts';
import { announce } from '../ui/announcer.tsx';
import { userOfToken } from './token-user.ts';

/*
 * The session of the user. Its access token is only in memory. New tokens are requested with the refresh cookie,
 * which the page can't read. Only one tab at a time renews, because each renewal replaces the cookie.
 */

type SessionState =
  /** Not known yet, because the first renewal with the cookie is still running. */
  | { readonly kind: 'loading' }
  | { readonly kind: 'signedOut' }
  | { readonly kind: 'secondFactor' }
  /**
   * `missing`: what the user must provide before the page continues, because the session has ended or lacks a factor.
   */
  | {
      readonly kind: 'signedIn';
      readonly userId: string;
      readonly missing: 'signIn' | 'secondFactor' | null;
    };

interface Tokens {
  readonly accessToken: string;
  readonly expiresIn: number;
  readonly mfaRequired?: boolean;
}

/** When to renew the token, by two clocks: the monotonic one may stop during sleep, the system clock may be changed. */
interface Token {
  readonly text: string;
  readonly steadyRenewAt: number;
  readonly renewAt: number;
}

const RENEW_AT = 0.8;
const LOCK = 'doorward-console-session';

let state: SessionState = { kind: 'loading' };
let token: Token | null = null;
/** The revision of the latest change that was made in this tab. */
let revision: string | null = null;
let renewal: Promise<void> | null = null;
/** The browser is about to reload the console, so later responses must be ignored. */
let isLeaving = false;
const listeners = new Set<() => void>();
const channel = new BroadcastChannel('doorward-console');

function set(next: SessionState): void {
  if (isLeaving) return;
  state = next;
  for (const listener of listeners) listener();
}

/** Returns the current state of the session. */
export const sessionState = (): SessionState => state;
/** Calls the listener after each change of the session. Returns a function that removes the listener. */
export const onSessionChange = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The service is at the URL from which the console was loaded. */
const base = import.meta.env.BASE_URL.replace(/\/console\/$/, '');
export const serviceUrl = `${location.origin}${base}`;

const clientFor = (current: string | (() => Promise<string>)): Client =>
  createClient({
    url: serviceUrl,
    token: current,
    language: language(),
    allowHttp: true,
    retries: 1,
    // Applies to all attempts of a call together. The default of 15 s would cut off calls with a longer `timeoutMs`.
    deadlineMs: 30_000,
    fetch: noteRevision,
  });

async function noteRevision(url: string, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  revision = response.headers.get('X-Doorward-Revision') ?? revision;
  return response;
}

/** Input for reading rights. Whichever node responds, the result then includes the changes of this tab. */
export const afterOwnChanges = (): { readonly minRevision?: string } =>
  revision === null ? {} : { minRevision: revision };

/** Returns a client without a token, for sign-in and renewal. */
export const publicClient = (): Client =>
  createClient({ url: serviceUrl, language: language(), allowHttp: true, retries: 0 });

/** Returns a client with the token of the session, renewed if it is about to expire. Use a new client for each call. */
export const client = (): Client => clientFor(token && !isOld(token) ? token.text : currentToken);

const isOld = ({ steadyRenewAt, renewAt }: Token): boolean =>
  performance.now() >= steadyRenewAt || Date.now() >= renewAt;

/**
 * Makes a call that contains a password or code, without retries, because wrong ones are counted. A rejected token
 * causes the same error without the password being checked. In that case the call is made once more, with a new
 * token.
 */
export async function withProof<T>(call: (api: Api) => Promise<T>): Promise<T> {
  const { api } = clientFor(await currentToken());
  try {
    return await call(api);
  } catch (error) {
    if (!isRefused(error) || !(await refusesToken(api))) throw error;
    await renew();
    return call(clientFor(await currentToken()).api);
  }
}

const refusesToken = (api: Api): Promise<boolean> => api.me({}).then(() => false, isRefused);

async function currentToken(): Promise<string> {
  if (token && isOld(token)) await renew();
  if (!token) throw new DoorwardError('UNAUTHENTICATED', 'No session.', { status: 401 });
  return token.text;
}

/** Stores the tokens of a sign-in, a renewal or a second factor. */
export function acceptTokens({ accessToken, expiresIn, mfaRequired = false }: Tokens): void {
  const userId = userOfToken(accessToken);
  if (state.kind === 'signedIn' && state.userId !== userId) {
    // Another user has signed in, so nothing of the previous one may stay on the page.
    startOver();
    return;
  }
  const renewAfterMs = expiresIn * 1000 * RENEW_AT;
  token = {
    text: accessToken,
    steadyRenewAt: performance.now() + renewAfterMs,
    renewAt: Date.now() + renewAfterMs,
  };
  if (state.kind === 'signedIn') set({ ...state, missing: mfaRequired ? 'secondFactor' : null });
  else set(mfaRequired ? { kind: 'secondFactor' } : { kind: 'signedIn', userId, missing: null });
}

/**
 * Runs work that replaces the refresh cookie, in one tab at a time. The work must not call `renew`, which waits for
 * the same lock. Over plain http browsers have no locks.
 */
export const withSessionLock = async <T>(work: () => Promise<T>): Promise<T> =>
  'locks' in navigator ? navigator.locks.request(LOCK, work) : work();

/** Requests new tokens with the cookie. If the session has ended, sets the state accordingly instead of throwing. */
export function renew(): Promise<void> {
  renewal ??= withSessionLock(async () => acceptTokens(await publicClient().api.refreshSession({})))
    .catch((error: unknown) => {
      if (error instanceof DoorwardError && (error.status === 401 || error.status === 403)) {
        endSession();
        return;
      }
      // The service can't be reached. The session may still be valid, and the next call tries again.
      if (state.kind === 'loading') set({ kind: 'signedOut' });
      throw error;
    })
    .finally(() => {
      renewal = null;
    });
  return renewal;
}

/** Whether the service refused the credentials of a call. */
export const isRefused = (error: unknown): boolean => error instanceof DoorwardError && error.status === 401;

/**
 * Makes a call and, if the token was refused, makes it once more with a new token. A token can expire while the
 * machine sleeps, and a sign-in in another tab replaces its session.
 */
export async function inSession<T>(call: () => Promise<T>): Promise<T> {
  const before = token;
  try {
    return await call();
  } catch (error) {
    if (!before || !isRefused(error)) throw error;
    if (token === before) await renew();
    // The message of the service explains the reason better than one of ours.
    if (!token) throw error;
    return call();
  }
}

/** Called when the service refused the token. The page stays, and a dialog asks the user to sign in again. */
export function endSession(): void {
  token = null;
  set(state.kind === 'signedIn' ? { ...state, missing: 'signIn' } : { kind: 'signedOut' });
}

/** Called when the user has set up a second factor elsewhere that this session lacks. A dialog asks for it. */
export function demandSecondFactor(): void {
  if (state.kind === 'signedIn' && state.missing === null) set({ ...state, missing: 'secondFactor' });
}

/** Ends the session at the service, and discards everything in this tab and the others. */
export async function signOut(): Promise<void> {
  try {
    const { api } = token ? clientFor(await currentToken()) : publicClient();
    await withSessionLock(() => api.logout({}));
  } catch {
    // The session is still valid. If the user seemed signed out, the next person at this browser would get the
    // session.
    announce(common[language()].unreachable);
    return;
  }
  channel.postMessage('signedOut');
  startOver();
}

/** Returns a function that ends the present session, to be called after a new sign-in; null without a session. */
export function prepareSessionEnd(): (() => Promise<void>) | null {
  const former = token?.text;
  if (former === undefined) return null;
  // Without cookies, because by then the cookie belongs to the new session.
  const calls = createClient({
    url: serviceUrl,
    token: former,
    allowHttp: true,
    retries: 0,
    // With `keepalive`, the request continues while the page is replaced.
    fetch: (url, init) => fetch(url, { ...init, credentials: 'omit', keepalive: true }),
  });
  return () =>
    calls.api.logout({}).then(
      () => undefined,
      () => undefined,
    );
}

/** Reloads the console, so that nothing that was read or typed stays in memory. */
function startOver(): void {
  token = null;
  revision = null;
  set({ kind: 'loading' });
  isLeaving = true;
  location.replace(import.meta.env.BASE_URL);
}

channel.addEventListener('message', ({ data }) => {
  if (data === 'signedOut') startOver();
  // Another tab has signed in. This tab has the same cookie, and may now have another user.
  if (data === 'signedIn') void renew().catch(() => undefined);
});

/** Lets other tabs renew their sessions after a sign-in in this tab. */
export function noteSignIn(): void {
  channel.postMessage('signedIn');
}
