import { createClient, DoorwardError, type Api, type Client } from '@doorward/node/client';
import { common } from '../i18n/common.ts';
import { language } from '../i18n/language.ts';
import { announce } from '../ui/announcer.tsx';
import { userOfToken } from './token-user.ts';

/*
 * The session of the user. Its access token is only in memory; a new one comes with the refresh cookie, which the page
 * cannot read. Tabs renew one after the other, because each renewal replaces the cookie.
 */

type SessionState =
  /** Not known yet: the cookie is being tried. */
  | { readonly kind: 'loading' }
  | { readonly kind: 'signedOut' }
  | { readonly kind: 'secondFactor' }
  /** `missing`: what the page waits for before it goes on, because the session has ended or lacks its second factor. */
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

/** When to renew, by two clocks: the steady one may stand still while the machine sleeps, the other may be set. */
interface Token {
  readonly text: string;
  readonly steadyRenewAt: number;
  readonly renewAt: number;
}

const RENEW_AT = 0.8;
const LOCK = 'doorward-console-session';

let state: SessionState = { kind: 'loading' };
let token: Token | null = null;
/** The state of the service after the latest change of this tab, as the service names it. */
let revision: string | null = null;
let renewal: Promise<void> | null = null;
/** The browser is about to load the console again: nothing that still arrives counts. */
let isLeaving = false;
const listeners = new Set<() => void>();
const channel = new BroadcastChannel('doorward-console');

function set(next: SessionState): void {
  if (isLeaving) return;
  state = next;
  for (const listener of listeners) listener();
}

/** The current state of the session. */
export const sessionState = (): SessionState => state;
/** Calls the listener after each change of the session. Returns a function that removes it. */
export const onSessionChange = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The service is where the console came from. */
const base = import.meta.env.BASE_URL.replace(/\/console\/$/, '');
export const serviceUrl = `${location.origin}${base}`;

const clientFor = (current: string | (() => Promise<string>)): Client =>
  createClient({
    url: serviceUrl,
    token: current,
    language: language(),
    allowHttp: true,
    retries: 1,
    // For all attempts of a call together. The default of 15 s would end a call with a longer `timeoutMs` sooner.
    deadlineMs: 30_000,
    fetch: noteRevision,
  });

async function noteRevision(url: string, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  revision = response.headers.get('X-Doorward-Revision') ?? revision;
  return response;
}

/** For questions about rights: the answer knows what this tab has changed, whichever node of the service gives it. */
export const afterOwnChanges = (): { readonly minRevision?: string } =>
  revision === null ? {} : { minRevision: revision };

/** Calls without a token: sign-in and renewal. */
export const publicClient = (): Client =>
  createClient({ url: serviceUrl, language: language(), allowHttp: true, retries: 0 });

/** Calls with the token of the session, which is renewed first if it ends soon. A client serves one read or change. */
export const client = (): Client => clientFor(token && !isOld(token) ? token.text : currentToken);

const isOld = ({ steadyRenewAt, renewAt }: Token): boolean =>
  performance.now() >= steadyRenewAt || Date.now() >= renewAt;

/**
 * A call with a password or a code in it, which is sent once, because a wrong one counts. A refusal of the token looks the
 * same, and did not even look at the password: then the call goes out once more, with a new token.
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

/** Takes the tokens of a sign-in, a renewal or a second factor. */
export function acceptTokens({ accessToken, expiresIn, mfaRequired = false }: Tokens): void {
  const userId = userOfToken(accessToken);
  if (state.kind === 'signedIn' && state.userId !== userId) {
    // Another user: nothing of the former one may stay on the page.
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
 * Work that replaces the refresh cookie, in one tab after the other. It must not renew in between, because a renewal waits
 * for the same lock. Over plain http browsers have no locks.
 */
export const inTurn = async <T>(work: () => Promise<T>): Promise<T> =>
  'locks' in navigator ? navigator.locks.request(LOCK, work) : work();

/** Gets new tokens by the cookie. Without a live session the state says so. */
export function renew(): Promise<void> {
  renewal ??= inTurn(async () => acceptTokens(await publicClient().api.refreshSession({})))
    .catch((error: unknown) => {
      if (error instanceof DoorwardError && (error.status === 401 || error.status === 403)) {
        endSession();
        return;
      }
      // The service does not answer: the session may live, and the next call tries again.
      if (state.kind === 'loading') set({ kind: 'signedOut' });
      throw error;
    })
    .finally(() => {
      renewal = null;
    });
  return renewal;
}

/** Whether the service refused the credential of a call. */
export const isRefused = (error: unknown): boolean => error instanceof DoorwardError && error.status === 401;

/**
 * Calls, and once more with a new token if the first was refused: a token gets too old while the machine sleeps, and a
 * sign-in in another tab replaces its session.
 */
export async function inSession<T>(call: () => Promise<T>): Promise<T> {
  const before = token;
  try {
    return await call();
  } catch (error) {
    if (!before || !isRefused(error)) throw error;
    if (token === before) await renew();
    // The words of the service, not ours, say why.
    if (!token) throw error;
    return call();
  }
}

/** The service refused the token: the page stays, and a dialog asks for a new sign-in. */
export function endSession(): void {
  token = null;
  set(state.kind === 'signedIn' ? { ...state, missing: 'signIn' } : { kind: 'signedOut' });
}

/** The user has set up a second factor elsewhere, which this session has not given: a dialog asks for it. */
export function demandSecondFactor(): void {
  if (state.kind === 'signedIn' && state.missing === null) set({ ...state, missing: 'secondFactor' });
}

/** Ends the session at the service, and forgets everything here and in other tabs. */
export async function signOut(): Promise<void> {
  try {
    const { api } = token ? clientFor(await currentToken()) : publicClient();
    await inTurn(() => api.logout({}));
  } catch {
    // The session lives: to look signed out would leave the next person at this browser with it.
    announce(common[language()].unreachable);
    return;
  }
  channel.postMessage('signedOut');
  startOver();
}

/** A way to end the session that is left behind when the same user signs in again; null without one. */
export function formerSession(): (() => Promise<void>) | null {
  const former = token?.text;
  if (former === undefined) return null;
  // Without cookies, because the cookie belongs to the new session then.
  const calls = createClient({
    url: serviceUrl,
    token: former,
    allowHttp: true,
    retries: 0,
    // It goes on while the page is replaced.
    fetch: (url, init) => fetch(url, { ...init, credentials: 'omit', keepalive: true }),
  });
  return () =>
    calls.api.logout({}).then(
      () => undefined,
      () => undefined,
    );
}

/** A new document: nothing that was read or typed stays in memory. */
function startOver(): void {
  token = null;
  revision = null;
  set({ kind: 'loading' });
  isLeaving = true;
  location.replace(import.meta.env.BASE_URL);
}

channel.addEventListener('message', ({ data }) => {
  if (data === 'signedOut') startOver();
  // Another tab signed in: this one has the same cookie, and perhaps another user now.
  if (data === 'signedIn') void renew().catch(() => undefined);
});

/** Lets the other tabs renew their session after a sign-in in this one. */
export function noteSignIn(): void {
  channel.postMessage('signedIn');
}
