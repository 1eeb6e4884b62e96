import { evaluate } from '@doorward/decision/evaluate';
import type { DecisionReason } from '@doorward/decision/reasons';
import { fail, type DoorwardError } from '../errors.ts';
import type { CallerRights } from '../kernel/call/caller-rights.ts';

/** The permissions of operations are public, so a refusal may name the one that is missing. */
export const forbidden = (reason: DecisionReason, permission: string): DoorwardError =>
  fail('FORBIDDEN', {
    reason,
    ...(reason === 'NO_PERMISSION' && {
      fix: `Ask an administrator of this scope for a role that holds ${permission}.`,
    }),
  });

/**
 * For a permission that only some calls of an operation need, or that one needs besides its `access`. No row is decided
 * about, so a condition that reads one is not met. Undefined: the caller has it.
 */
export function refusalOf(
  { grants }: CallerRights,
  permission: `${string}:${string}`,
): DoorwardError | undefined {
  const [resource = '', action = ''] = permission.split(':');
  const { authorized, reason } = evaluate(grants, { resource, action });
  return authorized ? undefined : forbidden(reason, permission);
}

/** As `refusalOf`. @throws FORBIDDEN */
export function assertCallerMay(rights: CallerRights, permission: `${string}:${string}`): void {
  const refusal = refusalOf(rights, permission);
  if (refusal) throw refusal;
}

/** Whether the scope does not exist for the caller, which checks answer like a scope that never existed. */
export const isForeignScope = (at: { readonly scope?: unknown; readonly rights?: CallerRights }): boolean =>
  !at.scope || !at.rights || at.rights.grants.membership === 'outside';
