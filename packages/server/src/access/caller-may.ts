import { evaluate } from '@doorward/decision/evaluate';
import { fail } from '../errors.ts';
import type { CallerRights } from '../kernel/context.ts';

/**
 * For a permission that only some calls of an operation need, or that one needs besides its `access`. No row is decided
 * about, so a condition that reads one is not met.
 * @throws FORBIDDEN
 */
export function assertCallerMay({ grants }: CallerRights, permission: `${string}:${string}`): void {
  const [resource = '', action = ''] = permission.split(':');
  const { authorized, reason } = evaluate(grants, { resource, action });
  if (!authorized) throw fail('FORBIDDEN', { reason });
}

/** Whether the scope does not exist for the caller, which checks answer like a scope that never existed. */
export const isForeignScope = (at: { readonly scope?: unknown; readonly rights?: CallerRights }): boolean =>
  !at.scope || !at.rights || at.rights.grants.membership === 'outside';
