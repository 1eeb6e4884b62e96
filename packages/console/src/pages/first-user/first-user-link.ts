import { useSyncExternalStore } from 'react';
import type { Scope } from '../../scopes/scope.ts';

/*
 * The link that the service prints at its first start: `/console/first-user#token=…&passwordMinLength=12`. The page
 * takes the token out of the address immediately, so neither the browser's history nor a copied address contains it,
 * and keeps it only in memory.
 */

interface FirstUserLink {
  /** Null: the page was opened without the link, or loaded again. */
  readonly token: string | null;
  readonly passwordMinLength: number;
}

const path = `${import.meta.env.BASE_URL}first-user`;
const DEFAULT_MIN_LENGTH = 12;

let link: FirstUserLink = { token: null, passwordMinLength: DEFAULT_MIN_LENGTH };
let account: Scope | null = null;
const listeners = new Set<() => void>();

/** Whether the address is that of the page for the first user. */
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
// A link that is pasted over the same page loads nothing: only the fragment changes.
addEventListener('hashchange', takeLink);

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The link with which the page was opened, as React state. */
export const useFirstUserLink = (): FirstUserLink => useSyncExternalStore(subscribe, () => link);

/** The first user exists: the link is worth nothing, and the console goes on with their account. */
export function settleFirstUser(scope: Scope | null): void {
  link = { ...link, token: null };
  account = scope;
}

/** The account of the first user; null until they exist. */
export const accountOfFirstUser = (): Scope | null => account;
