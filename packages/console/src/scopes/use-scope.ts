import { createContext, useContext } from 'react';
import { DoorwardError } from '@doorward/node/client';
import { useRead } from '../api/use-api.ts';
import { canOf } from './held.ts';
import { afterOwnChanges } from '../session/session.ts';
import type { Scope } from './scope.ts';

export const ScopeContext = createContext<Scope | null>(null);

/** The scope of the address, below the frame. */
export function useScope(): Scope {
  const scope = useContext(ScopeContext);
  if (!scope) throw new Error('There is no scope here.');
  return scope;
}

export interface Rights {
  readonly isLoading: boolean;
  /** Why they are not known; a failure to read them again changes nothing that is shown. */
  readonly error: Error | null;
  readonly readAgain: () => unknown;
  /** Whether the scope is not the user's, or does not exist. */
  readonly isForeign: boolean;
  /** Whether the user holds a permission such as `Role:Create`; under a condition counts too. */
  readonly can: (permission: string) => boolean;
}

/** What the user may do in a scope, as the service says. What it does not list is not offered. */
export function useRights(scope: Scope | null): Rights {
  const { data, error, isPending, refetch } = useRead(
    ['rights', scope],
    (api, signal) => api.myPermissions({ ...(scope ? { scope } : {}), ...afterOwnChanges() }, { signal }),
    // The rights of the former scope are none of this one.
    { isEnabled: scope !== null, keepsFormer: false },
  );
  const isForeign =
    !data && error instanceof DoorwardError && (error.code === 'FORBIDDEN' || error.status === 404);
  return {
    isLoading: isPending,
    error: data ? null : error,
    readAgain: () => refetch(),
    isForeign,
    can: canOf(data?.permissions),
  };
}
