import { configError, DoorwardError } from './errors.ts';
import type { Permission, Permissions, PermissionState } from './permissions.ts';
import type { Ask } from './questions.ts';
import type { SignInOptions } from './redirect.ts';
import type { Tokens, User } from './tokens.ts';

/** Whether a user is signed in. Each change makes a new object. */
export interface Session {
  /** `loading` until `start()` is done, and always on a server. */
  readonly status: 'loading' | 'signedIn' | 'signedOut';
  readonly user?: User;
  /** When the access token ends, in ms. It is renewed before. */
  readonly expiresAt?: number;
  /** Why the last sign-in did not succeed. */
  readonly error?: DoorwardError;
}

/** Sign-in, session and rights of the user of a page. Its functions need no `this`. */
export interface BrowserClient {
  readonly session: Session;
  readonly permissions: Permissions;
  /**
   * Finishes a redirect, or joins the session of another tab. Call it once when the page starts, before a router reads
   * the address. For a signed-in user it ends once the permissions are loaded, or could not be: then `permissions.error`
   * says why, and `state` is `unknown`. @throws DoorwardError when a sign-in came back that failed or must not be used
   */
  readonly start: () => Promise<{ readonly returnTo?: string }>;
  /** Leaves for the hosted pages. Nothing after it runs, unless the user goes back to this page. @throws DoorwardError */
  readonly signIn: (options?: SignInOptions) => Promise<void>;
  /**
   * Ends the session in every tab, then at the service; the next `signIn` asks who signs in. `everywhere`: leaves for a hosted
   * page that asks whether to sign out of all apps of the project, and does not return. @throws DoorwardError when the service was not reached
   */
  readonly signOut: (options?: { readonly everywhere?: boolean }) => Promise<void>;
  /** Calls the function after each change of session or permissions; returns the function that ends this. */
  readonly subscribe: (listener: () => void) => () => void;
  readonly fetch: typeof fetch;
  /** Whether the user holds the permission without a condition. For display only: the server decides. */
  readonly can: (permission: Permission) => boolean;
  readonly state: (permission: Permission) => PermissionState;
  /** Asks the service, for permissions with a condition. @throws DoorwardError */
  readonly ask: Ask;
  /** Ends timers and connections to other tabs. The session stays alive in those. */
  readonly close: () => void;
}

/** The session that a page sees: without a token. */
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

/** @throws DoorwardError `CONFIG` where no sign-in is possible */
export function assertBrowser(): void {
  if (typeof document === 'undefined')
    throw configError('Sign-in needs a browser: a server renders without a session.');
  if (!isSecureContext) throw configError('Sign-in needs a page on https, or on this machine.');
}

/** What ended a sign-in; a browser that blocks storage throws an error of its own. */
export const signInError = (error: unknown): DoorwardError =>
  error instanceof DoorwardError
    ? error
    : new DoorwardError('CONFIG', 'The browser refused what sign-in needs.', { cause: error });
