/*
 * The redirect to the hosted pages and back: authorization code with PKCE (RFC 7636) and issuer (RFC 9207). Until the
 * browser returns, the verifier is in `sessionStorage`, which other tabs and origins cannot read.
 */

import { configError, DoorwardError } from './errors.ts';
import type { Settings } from './options.ts';

/** Options of a sign-in. */
export interface SignInOptions {
  /** Where the user continues after the sign-in: an address of this origin. Default: the current address. */
  readonly returnTo?: string;
  /** The provider to start with, such as `github`. Default: the user chooses. */
  readonly provider?: string;
  /** Id or slug of the organization that the user signs in to. Default: their only organization, or they choose. */
  readonly organization?: string;
}

/** A sign-in that was started in this tab and has not returned yet. */
interface Pending {
  readonly state: string;
  readonly verifier: string;
  readonly returnTo: string;
}

/** The response of the hosted pages, after this page has checked it. */
export interface Callback {
  readonly code: string;
  readonly verifier: string;
  readonly returnTo: string;
}

/**
 * The storage key of a flag: the user signed out of this app in this browser. The next sign-in then asks which account
 * to use, because the hosted pages may still be signed in, through another app or as another person on this computer.
 */
const signedOutKey = (settings: Settings): string => `${keyOf(settings)}:signed-out`;

export const rememberSignOut = (settings: Settings): void =>
  localStorage.setItem(signedOutKey(settings), '1');

export const forgetSignOut = (settings: Settings): void => localStorage.removeItem(signedOutKey(settings));

const keyOf = ({ issuer, clientId }: Settings): string => `doorward:${issuer}:${clientId}`;

/**
 * Returns the path, query and fragment of an address of this origin. Refuses paths that begin with two slashes, because
 * a router would read such a path as an address of another origin.
 *
 * @throws DoorwardError `CONFIG`
 */
function ownPath(address: string): string {
  const { origin, pathname, search, hash } = new URL(address, location.href);
  if (origin !== location.origin || pathname.startsWith('//'))
    throw configError('returnTo: must be an address of this origin');
  return pathname + search + hash;
}

/** Stores the sign-in in this tab, and returns the query string for the authorization endpoint. */
export async function beginSignIn(settings: Settings, options: SignInOptions): Promise<URLSearchParams> {
  const { clientId, redirectUri, scopes } = settings;
  if (new URL(redirectUri).origin !== location.origin)
    throw configError('redirectUri: must be of the origin of this page');
  const returnTo = ownPath(options.returnTo ?? (isCallback(settings) ? '/' : location.href));
  const pending: Pending = { state: randomText(), verifier: randomText(), returnTo };
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(pending.verifier));
  sessionStorage.setItem(keyOf(settings), JSON.stringify(pending));
  return new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state: pending.state,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
    ...(scopes === undefined ? {} : { scope: scopes.join(' ') }),
    ...(options.provider === undefined ? {} : { provider: options.provider }),
    ...(options.organization === undefined ? {} : { organization: options.organization }),
    ...(localStorage.getItem(signedOutKey(settings)) === null ? {} : { prompt: 'select_account' }),
  });
}

const isCallback = ({ redirectUri }: Settings): boolean => {
  const { origin, pathname } = new URL(redirectUri);
  return origin === location.origin && pathname === location.pathname;
};

/**
 * Removes the response of the hosted pages from the page's address and returns it, so that no link, history entry or
 * later request contains the code. Returns undefined if the page was opened in any other way.
 *
 * @throws DoorwardError if the response must not be used
 */
export function takeCallback(settings: Settings): Callback | undefined {
  const url = new URL(location.href);
  const answer = (name: string) => url.searchParams.get(name);
  const [code, state, issuer, error] = ['code', 'state', 'iss', 'error'].map(answer);
  if (!isCallback(settings) || !(code || error)) return undefined;
  const description = answer('error_description');
  for (const name of ['code', 'state', 'iss', 'error', 'error_description', 'error_uri'])
    url.searchParams.delete(name);
  history.replaceState(history.state, '', url);

  const pending = readPending(settings);
  // A response to a request that this tab never sent may carry an attacker's code. The pending sign-in of this tab, if
  // any, stays valid.
  if (pending === undefined || state !== pending.state)
    throw new DoorwardError('STATE', 'This tab did not start the sign-in that came back.', {
      fix: 'Start the sign-in again, in this tab.',
    });
  sessionStorage.removeItem(keyOf(settings));
  if (issuer !== settings.issuer)
    throw new DoorwardError('ISSUER', 'Another server answered the sign-in.', {
      fix: 'Compare the option issuer with the issuer of the project.',
    });
  if (error) throw new DoorwardError(error, description ?? 'The user did not sign in.');
  return { code: code ?? '', verifier: pending.verifier, returnTo: ownPath(pending.returnTo) };
}

function readPending(settings: Settings): Pending | undefined {
  try {
    return (JSON.parse(sessionStorage.getItem(keyOf(settings)) ?? 'null') as Pending | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/** 256 random bits in 43 characters, as RFC 7636 §4.1 recommends for a verifier. */
const randomText = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)));

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes)).replace(/[+/=]/g, (char) => ({ '+': '-', '/': '_' })[char] ?? '');
