import { createContext, useContext } from 'react';
import { DoorwardError } from '@doorward/node/client';
import { useRead } from '../api/use-api.ts';
import { canOf } from './held.ts';
import { afterOwnChanges } from '../session/session.ts';
import type { Scope } from './scope.ts';

export const ScopeContext = createContext<Scope | null>(null);

/** Returns the scope in the URL. Only works inside the page of a scope. */
export function useScope(): Scope {
  const scope = useContext(ScopeContext);
  if (!scope) throw new Error('There is no scope here.');
  return scope;
}

export interface Rights {
  readonly isLoading: boolean;
  /** Why the permissions aren't known. null once they are known, even if reading them again fails. */
  readonly error: Error | null;
  readonly readAgain: () => unknown;
  /** Whether the scope doesn't exist, or the user doesn't belong to it. */
  readonly isForeign: boolean;
  /** Whether the user has a permission such as `Role:Create`. A permission under a condition counts too. */
  readonly can: (permission: string) => boolean;
}

/** Reads the permissions of the user in a scope. The console doesn't offer what isn't among them. */
export function useRights(scope: Scope | null): Rights {
  const { data, error, isPending, refetch } = useRead(
    ['rights', scope],
    (api, signal) => api.myPermissions({ ...(scope ? { scope } : {}), ...afterOwnChanges() }, { signal }),
    // The permissions in the previous scope must not count in this one.
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
