import { INSTALLATION_OPERATOR } from '../access/installation-roles.ts';
import { assertOperatorFactor, isOperatorNetwork } from '../access/operators.ts';
import { withoutRls } from '../db/tenancy/rls.ts';
import { fail } from '../errors.ts';
import { callerOf, isBound } from '../kernel/context.ts';
import type { Context } from '../services.ts';
import { isOperator } from './operators.ts';

/**
 * Asserts that the caller is an Installation Operator, under the same conditions as for the operations of the
 * installation. For operations of a tenant that also affect the whole installation; the caller needs the tenant's
 * permission as well.
 *
 * @throws FORBIDDEN with `fix`, MFA_REQUIRED
 */
export async function assertInstallationOperator(
  { tx, services, call, principal }: Pick<Context, 'tx' | 'services' | 'call' | 'principal'>,
  fix: string,
): Promise<void> {
  const { operators } = services.config;
  const caller = callerOf({ principal });
  // A bound session does not count: otherwise an organization's provider could act as the operator.
  const hasOwnSession = caller.type === 'session' && !caller.impersonator && !isBound(caller);
  const may =
    hasOwnSession &&
    isOperatorNetwork(operators, call.address) &&
    (await withoutRls(tx, () => isOperator(tx, operators, caller.userId, INSTALLATION_OPERATOR)));
  if (!may) throw fail('FORBIDDEN', { fix });
  assertOperatorFactor(operators, caller);
}
