import { fail, type DoorwardError } from '../../errors.ts';
import type { Authentication, Principal } from '../context.ts';
import type { NamedOperation } from '../operation.ts';

/**
 * Asserts that the caller has a valid token and, for a session, its second factor, unless the operation is public. REST
 * calls this before it reads a body.
 *
 * @throws IMPERSONATION_NOT_ALLOWED, UNAUTHENTICATED, MFA_REQUIRED
 */
export function assertAuthenticated(op: NamedOperation, authentication: Authentication): void {
  if (authentication.ok && authentication.principal.impersonator && op.refusesImpersonation)
    throw fail('IMPERSONATION_NOT_ALLOWED');
  if (op.access === 'public') return;
  if (!authentication.ok) throw unauthenticated(authentication.reason);
  if (authentication.principal.mfaPending && !op.admits?.includes('pending-mfa')) throw fail('MFA_REQUIRED');
}

/** Returns the caller; null for an anonymous call of a public operation. @throws like `assertAuthenticated` */
export function authenticatedPrincipal(op: NamedOperation, authentication: Authentication): Principal | null {
  assertAuthenticated(op, authentication);
  return authentication.ok ? authentication.principal : null;
}

function unauthenticated(reason: Exclude<Authentication, { ok: true }>['reason']): DoorwardError {
  const expired = reason === 'expired' ? ', error_description="expired"' : '';
  const challenge = reason === 'missing' ? 'Bearer' : `Bearer error="invalid_token"${expired}`;
  return fail('UNAUTHENTICATED', { headers: { 'WWW-Authenticate': challenge } });
}
