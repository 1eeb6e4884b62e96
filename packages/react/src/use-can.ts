'use client';

import type { Context, Permission, Permissions } from '@doorward/browser';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { useDoorward } from './context.ts';
import { useSession } from './use-session.ts';

/** Whether the user has a permission. For display only: the server decides. */
export interface Allowance {
  /** False while `pending`, and if there is an `error`. */
  readonly allowed: boolean;
  readonly pending: boolean;
  /** Why there is no decision; null if there is no error. */
  readonly error: unknown;
}

interface Answer {
  readonly key: string;
  readonly allowed: boolean;
  readonly error: unknown;
}

const notLoaded: Permissions = { version: null };
const no: Allowance = { allowed: false, pending: false, error: null };
const yes: Allowance = { ...no, allowed: true };
const pending: Allowance = { ...no, pending: true };

/**
 * Returns whether the user has a permission, and keeps the result up to date. Asks the service only if the user has the
 * permission under a condition and `context` is given; without a context, a condition counts as not met. Contexts are
 * compared by content, so you can pass a new object on each render.
 */
export function useCan(permission: Permission, context?: Context): Allowance {
  const client = useDoorward();
  const session = useSession();
  const permissions = useSyncExternalStore(
    client.subscribe,
    () => client.permissions,
    () => notLoaded,
  );
  // While React hydrates HTML from a server, the client may already have data that the HTML does not show yet.
  const state = permissions === notLoaded ? 'unknown' : client.state(permission);
  const question = { permission, context, user: session.user?.id, version: permissions.version };
  const key =
    state === 'conditional' && session.status === 'signedIn' && context !== undefined
      ? JSON.stringify(question)
      : null;
  const [answer, setAnswer] = useState<Answer | null>(null);

  useEffect(() => {
    if (key === null) return undefined;
    let isCurrent = true;
    const show = (allowed: boolean, error: unknown = null) => {
      if (isCurrent) setAnswer({ key, allowed, error });
    };
    const { permission, context } = JSON.parse(key) as typeof question;
    client.ask(permission, context).then(
      ({ authorized }) => show(authorized),
      (error: unknown) => show(false, error),
    );
    return () => {
      isCurrent = false;
    };
  }, [client, key]);

  if (session.status === 'loading') return pending;
  if (session.status === 'signedOut' || state === 'no') return no;
  if (state === 'yes') return yes;
  if (state === 'unknown') return permissions.error ? { ...no, error: permissions.error } : pending;
  if (key === null) return no;
  // The answer to another question never counts, not even for one render.
  return answer?.key === key ? { allowed: answer.allowed, pending: false, error: answer.error } : pending;
}
