import { useSyncExternalStore } from 'react';
import type { Scope } from '../../scopes/scope.ts';

/**
 * The link that the service prints at its first start: `/console/first-user#token=…&passwordMinLength=12`. The token is
 * taken from the address at once, so that neither the history of the browser nor a copied address has it, and is in memory
 * only.
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

export const useFirstUserLink = (): FirstUserLink => useSyncExternalStore(subscribe, () => link);

/** The first user exists: the link is worth nothing, and the console goes on with their account. */
export function settleFirstUser(scope: Scope | null): void {
  link = { ...link, token: null };
  account = scope;
}

export const accountOfFirstUser = (): Scope | null => account;
