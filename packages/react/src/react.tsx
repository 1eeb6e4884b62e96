'use client';

import type { BrowserClient, Context, Permission } from '@doorward/browser';
import { useEffect, type ReactNode } from 'react';
import { ClientContext, useDoorward } from './context.ts';
import { useCan, type Allowance } from './use-can.ts';
import { useSession } from './use-session.ts';

export { useCan, useDoorward, useSession };
export type { Allowance };

export interface DoorwardProviderProps {
  /** One client for the life of the page, created outside of components. */
  readonly client: BrowserClient;
  readonly children?: ReactNode;
}

/**
 * Makes the client available to the components below, and starts it. A failed sign-in is in `useSession().error`.
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
  /** Shown until it is clear whether a user is signed in, and on a server. */
  readonly pending?: ReactNode;
}

/** Shows its children to a signed-in user. */
export function SignedIn({ children, pending = null }: SessionProps): ReactNode {
  const { status } = useSession();
  return status === 'loading' ? pending : status === 'signedIn' ? children : null;
}

/** Shows its children when no user is signed in. */
export function SignedOut({ children, pending = null }: SessionProps): ReactNode {
  const { status } = useSession();
  return status === 'loading' ? pending : status === 'signedOut' ? children : null;
}

export interface CanProps {
  readonly permission: Permission;
  /** What a condition may read. */
  readonly context?: Context;
  readonly children?: ReactNode;
  /** Shown to a user who may not, and when there is no answer. */
  readonly fallback?: ReactNode;
  /** Shown until there is an answer, and on a server. */
  readonly pending?: ReactNode;
}

/** Shows its children to a user who may do something: never while the answer is pending, and never after an error. */
export function Can({ permission, context, children, fallback = null, pending = null }: CanProps): ReactNode {
  const answer = useCan(permission, context);
  if (answer.pending) return pending;
  return answer.allowed ? children : fallback;
}
