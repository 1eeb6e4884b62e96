'use client';

import type { BrowserClient, Context, Permission } from '@doorward/browser';
import { useEffect, type ReactNode } from 'react';
import { ClientContext, useDoorward } from './context.ts';
import { useCan, type Allowance } from './use-can.ts';
import { useSession } from './use-session.ts';

export { useCan, useDoorward, useSession };
export type { Allowance };

export interface DoorwardProviderProps {
  /** A single client for the lifetime of the page, created outside components. */
  readonly client: BrowserClient;
  readonly children?: ReactNode;
}

/**
 * Provides the client to the components inside, and starts it. If a sign-in fails, `useSession().error` contains the
 * error.
 *
 * @example
 * <DoorwardProvider client={doorward}>
 *   <SignedIn><Can permission="order:read"><Orders /></Can></SignedIn>
 *   <SignedOut><SignInButton /></SignedOut>
 * </DoorwardProvider>
 */
export function DoorwardProvider({ client, children }: DoorwardProviderProps): ReactNode {
  useEffect(() => {
    client.start().catch(() => undefined);
  }, [client]);
  return <ClientContext.Provider value={client}>{children}</ClientContext.Provider>;
}

export interface SessionProps {
  readonly children?: ReactNode;
  /** Shown while the session is loading, and on a server. */
  readonly pending?: ReactNode;
}

/** Shows its children if a user is signed in. */
export function SignedIn({ children, pending = null }: SessionProps): ReactNode {
  const { status } = useSession();
  return status === 'loading' ? pending : status === 'signedIn' ? children : null;
}

/** Shows its children if no user is signed in. */
export function SignedOut({ children, pending = null }: SessionProps): ReactNode {
  const { status } = useSession();
  return status === 'loading' ? pending : status === 'signedOut' ? children : null;
}

export interface CanProps {
  readonly permission: Permission;
  /** The resource whose attributes a condition reads. */
  readonly context?: Context;
  readonly children?: ReactNode;
  /** Shown if the user doesn't have the permission, or the decision failed. */
  readonly fallback?: ReactNode;
  /** Shown until there is a decision, and on a server. */
  readonly pending?: ReactNode;
}

/**
 * Shows its children if the user has the permission; not while the decision is pending, and not if it failed.
 */
export function Can({ permission, context, children, fallback = null, pending = null }: CanProps): ReactNode {
  const answer = useCan(permission, context);
  if (answer.pending) return pending;
  return answer.allowed ? children : fallback;
}
