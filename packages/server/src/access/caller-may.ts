import { evaluate } from '@doorward/decision/evaluate';
import type { DecisionReason } from '@doorward/decision/reasons';
import { fail, type DoorwardError } from '../errors.ts';
import type { CallerRights } from '../kernel/call/caller-rights.ts';

/** A refusal may name the missing permission, because the permissions of operations are public. */
export const forbidden = (reason: DecisionReason, permission: string): DoorwardError =>
  fail('FORBIDDEN', {
    reason,
    ...(reason === 'NO_PERMISSION' && {
      fix: `Ask an administrator of this scope for a role that holds ${permission}.`,
    }),
  });

/**
 * Checks a permission that an operation needs only in some calls, or in addition to its `access`. No resource is
 * passed, so a condition that reads one is not met. Returns undefined if the caller has the permission, else the
 * refusal.
 */
export function refusalOf(
  { grants }: CallerRights,
  permission: `${string}:${string}`,
): DoorwardError | undefined {
  const [resource = '', action = ''] = permission.split(':');
  const { authorized, reason } = evaluate(grants, { resource, action });
  return authorized ? undefined : forbidden(reason, permission);
}

/** Like `refusalOf`, but throws the refusal. @throws FORBIDDEN */
export function assertCallerMay(rights: CallerRights, permission: `${string}:${string}`): void {
  const refusal = refusalOf(rights, permission);
  if (refusal) throw refusal;
}

/** Whether the scope is foreign to the caller. Checks then respond as if the scope did not exist. */
export const isForeignScope = (at: { readonly scope?: unknown; readonly rights?: CallerRights }): boolean =>
  !at.scope || !at.rights || at.rights.grants.membership === 'outside';
