import { createFetch } from './authorized-fetch.ts';
import { assertBrowser, sessionOf, signInError, type BrowserClient, type Session } from './client.ts';
import { DoorwardError } from './errors.ts';
import { checkedOptions, type BrowserClientOptions } from './options.ts';
import {
  createPermissionList,
  type Call,
  type Permission,
  type Permissions,
  type PermissionState,
} from './permissions.ts';
import { createAsk, type Ask, type Context, type Decision } from './questions.ts';
import {
  beginSignIn,
  forgetSignOut,
  rememberSignOut,
  takeCallback,
  type Callback,
  type SignInOptions,
} from './redirect.ts';
import { createService } from './service.ts';
import { createTokenStore } from './token-store.ts';
import { readTokens, type User } from './tokens.ts';

export { DoorwardError };
export type { Ask, BrowserClient, BrowserClientOptions, Context, Decision };
export type { Permission, Permissions, PermissionState, Session, SignInOptions, User };

/**
 * Creates the client of an app in this page. It does nothing before `start()`, so that a server can create it too.
 *
 * @example
 * const doorward = createBrowserClient({ issuer, clientId, redirectUri, scopes: ['order:read'] });
 * await doorward.start();
 * if (doorward.session.status === 'signedOut') await doorward.signIn({ returnTo: location.pathname });
 *
 * @throws DoorwardError `CONFIG`, which names the invalid option
 */
export function createBrowserClient(options: BrowserClientOptions): BrowserClient {
  const settings = checkedOptions(options);
  const service = createService(settings);
  const listeners = new Set<() => void>();
  const events = new AbortController();
  let session: Session = { status: 'loading' };
  let starting: ReturnType<BrowserClient['start']> | undefined;
  let isStarted = false;
  let failure: DoorwardError | undefined;
  let sessionName: string | undefined;

  const store = createTokenStore(service, `doorward:${settings.issuer}:${settings.clientId}`, update);
  const call: Call = async (path, init) => {
    const token = await store.accessToken();
    if (token === null) return null;
    const answer = await service.call(path, token, init);
    if (answer.status !== 401) return answer;
    const next = await store.replace(token);
    return next === null ? null : service.call(path, next, init);
  };
  const permissions = createPermissionList(call, notify);

  function update(): void {
    const tokens = store.current();
    if (tokens !== null) failure = undefined;
    if (tokens?.session !== sessionName) {
      sessionName = tokens?.session;
      permissions.clear();
      if (tokens !== null) {
        permissions.load();
        // Loads the endpoints early: if the page closes right after `signOut`, there is no time to load them then.
        service.endpoints().catch(() => undefined);
      }
    }
    session = sessionOf(tokens, isStarted, failure);
    notify();
  }

  function notify(): void {
    for (const listener of listeners) {
      try {
        listener();
      } catch (error) {
        reportError(error);
      }
    }
  }

  async function begin(): ReturnType<BrowserClient['start']> {
    assertBrowser();
    for (const [target, type] of [
      [document, 'visibilitychange'],
      [window, 'focus'],
      [window, 'online'],
    ] as const)
      target.addEventListener(type, wake, { signal: events.signal });
    let returnTo: string | undefined;
    try {
      const callback = takeCallback(settings);
      if (callback === undefined) await store.join();
      else ({ returnTo } = await finish(callback));
    } catch (error) {
      failure = signInError(error);
      await store.join();
    }
    const refused = failure;
    // Waits, so that `can()` knows the permissions right after `await start()`.
    if (store.current() !== null) await permissions.loaded();
    isStarted = true;
    update();
    if (refused !== undefined) throw refused;
    return returnTo === undefined ? {} : { returnTo };
  }

  async function finish({ code, verifier, returnTo }: Callback): Promise<Callback> {
    const grant = { grant_type: 'authorization_code', code, code_verifier: verifier };
    const answer = await service.post('token', { ...grant, redirect_uri: settings.redirectUri });
    const tokens = await readTokens(service, answer);
    forgetSignOut(settings);
    try {
      // Sets the address first, because the page may read it when it renders for the signed-in user.
      settings.navigate(returnTo);
    } finally {
      store.start(tokens);
    }
    return { code, verifier, returnTo };
  }

  function wake(): void {
    if (document.visibilityState === 'hidden' || store.current() === null) return;
    store.wake();
    permissions.load();
  }

  return {
    get session() {
      return session;
    },
    get permissions() {
      return permissions.current();
    },
    start: () => (starting ??= begin()),
    async signIn(options = {}) {
      assertBrowser();
      const { authorization } = await service.endpoints();
      const query = await beginSignIn(settings, options);
      location.assign(`${authorization}?${query.toString()}`);
      // Never resolves while the browser leaves the page, so that code after `signIn` does not run. If the user goes
      // back and the browser restores this page, it resolves.
      await new Promise<void>((resolve) =>
        addEventListener('pageshow', ({ persisted }) => persisted && resolve(), { signal: events.signal }),
      );
    },
    async signOut({ everywhere = false } = {}) {
      rememberSignOut(settings);
      const former = store.end();
      // Revokes the access token, because it identifies the session even if another tab has just replaced the refresh
      // token.
      if (former !== null) await service.post('revocation', { token: former.accessToken });
      if (!everywhere) return;
      const { endSession } = await service.endpoints();
      const query = new URLSearchParams({ client_id: settings.clientId });
      location.assign(`${endSession}?${query.toString()}`);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    fetch: createFetch({
      settings,
      store,
      ready: () => starting?.catch(() => undefined),
      onRefusal: permissions.load,
    }),
    can: (permission) => permissions.state(permission) === 'yes',
    state: permissions.state,
    ask: createAsk(call),
    close() {
      events.abort();
      permissions.clear();
      store.close();
      listeners.clear();
    },
  };
}
