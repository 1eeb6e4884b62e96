import { configError, DoorwardError } from './errors.ts';
import type { Permission, Permissions, PermissionState } from './permissions.ts';
import type { Ask } from './questions.ts';
import type { SignInOptions } from './redirect.ts';
import type { Tokens, User } from './tokens.ts';

/** Whether a user is signed in. Each change creates a new object. */
export interface Session {
  /** `loading` until `start()` has finished, and always on a server. */
  readonly status: 'loading' | 'signedIn' | 'signedOut';
  readonly user?: User;
  /** When the access token expires, in ms since 1970. It is renewed before then. */
  readonly expiresAt?: number;
  /** Why the last sign-in failed. */
  readonly error?: DoorwardError;
}

/** Sign-in, session and permissions of the page's user. The functions do not use `this`. */
export interface BrowserClient {
  readonly session: Session;
  readonly permissions: Permissions;
  /**
   * Finishes a redirect, or joins the session of another tab. Call it once when the page starts, before a router reads
   * the address. For a signed-in user it also waits for the permissions; if they cannot be loaded, `permissions.error`
   * says why, and `state` returns `unknown`.
   *
   * @throws DoorwardError if the returning sign-in failed or must not be used
   */
  readonly start: () => Promise<{ readonly returnTo?: string }>;
  /**
   * Redirects to the hosted pages. Code after it runs only if the user goes back to this page. @throws DoorwardError
   */
  readonly signIn: (options?: SignInOptions) => Promise<void>;
  /**
   * Ends the session in every tab, then at the service. The next `signIn` lets the user choose an account. With
   * `everywhere`, it then goes to a hosted page that offers to sign out of all apps of the project; that page does not
   * lead back to this one.
   *
   * @throws DoorwardError if the service could not be reached
   */
  readonly signOut: (options?: { readonly everywhere?: boolean }) => Promise<void>;
  /** Calls the listener after each change of session or permissions. Returns a function that removes it. */
  readonly subscribe: (listener: () => void) => () => void;
  readonly fetch: typeof fetch;
  /** Whether the user has the permission unconditionally. For display only: the server decides. */
  readonly can: (permission: Permission) => boolean;
  readonly state: (permission: Permission) => PermissionState;
  /** Asks the service; use it for permissions with a condition. @throws DoorwardError */
  readonly ask: Ask;
  /** Stops timers and connections to other tabs. The session stays alive in the other tabs. */
  readonly close: () => void;
}

/** Returns the session as the page sees it, without tokens. */
export function sessionOf(
  tokens: Tokens | null,
  isStarted: boolean,
  error: DoorwardError | undefined,
): Session {
  if (tokens === null) {
    if (!isStarted) return { status: 'loading' };
    return error === undefined ? { status: 'signedOut' } : { status: 'signedOut', error };
  }
  const { user, expiresAt } = tokens;
  return { status: 'signedIn', expiresAt, ...(user === undefined ? {} : { user }) };
}

/** @throws DoorwardError `CONFIG` if sign-in is not possible here */
export function assertBrowser(): void {
  if (typeof document === 'undefined')
    throw configError('Sign-in needs a browser: a server renders without a session.');
  if (!isSecureContext) throw configError('Sign-in needs a page on https, or on this machine.');
}

/** The error of a failed sign-in. A browser that blocks storage throws an error of its own, which is wrapped. */
export const signInError = (error: unknown): DoorwardError =>
  error instanceof DoorwardError
    ? error
    : new DoorwardError('CONFIG', 'The browser refused what sign-in needs.', { cause: error });
