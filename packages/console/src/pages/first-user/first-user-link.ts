import { useSyncExternalStore } from 'react';
import type { Scope } from '../../scopes/scope.ts';

/*
 * The link that the service prints when it starts for the first time:
 * `/console/first-user#token=…&passwordMinLength=12`. The page immediately removes the token from the URL, so that
 * neither the browser's history nor a copied URL contains it, and keeps it only in memory.
 */

interface FirstUserLink {
  /** null if the page was opened without the link, or was reloaded. */
  readonly token: string | null;
  readonly passwordMinLength: number;
}

const path = `${import.meta.env.BASE_URL}first-user`;
const DEFAULT_MIN_LENGTH = 12;

let link: FirstUserLink = { token: null, passwordMinLength: DEFAULT_MIN_LENGTH };
let account: Scope | null = null;
const listeners = new Set<() => void>();

/** Whether the URL is that of the page for the first user. */
export const isFirstUserPage = (): boolean => location.pathname.replace(/\/$/, '') === path;

function takeLink(): void {
  if (!isFirstUserPage() || location.hash === '') return;
  const fragment = new URLSearchParams(location.hash.slice(1));
  history.replaceState(null, '', path);
  link = {
    token: fragment.get('token'),
    passwordMinLength: Number(fragment.get('passwordMinLength')) || DEFAULT_MIN_LENGTH,
  };
  for (const listener of listeners) listener();
}

takeLink();
// Pasting a link on this page doesn't load the page again, because only the fragment of the URL changes.
addEventListener('hashchange', takeLink);

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Returns the link with which the page was opened, as React state. */
export const useFirstUserLink = (): FirstUserLink => useSyncExternalStore(subscribe, () => link);

/** Called when the first user exists. Forgets the token, which is now useless, and remembers the user's account. */
export function settleFirstUser(scope: Scope | null): void {
  link = { ...link, token: null };
  account = scope;
}

/** Returns the account of the first user; null until the user exists. */
export const accountOfFirstUser = (): Scope | null => account;
