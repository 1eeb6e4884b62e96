import { INSTALLATION_OPERATOR } from '../../access/installation-roles.ts';
import { covers } from '../../access/credentials/cidrs.ts';
import { operatorRows } from '../../access/operators.ts';
import { rowsOf } from '../../db/query/rows.ts';
import { withoutRls } from '../../db/tenancy/rls.ts';
import { fail } from '../../errors.ts';
import { callerOf, type Context } from '../../kernel/context.ts';
import { sql } from 'drizzle-orm';

/**
 * For an operation of a tenant that also touches what counts in the whole installation: its caller needs the permission of
 * the tenant, and has to be Installation Operator under the same conditions as for the operations of the installation.
 * @throws FORBIDDEN with `fix`, MFA_REQUIRED
 */
export async function assertInstallationOperator(
  { tx, services, call, principal }: Pick<Context, 'tx' | 'services' | 'call' | 'principal'>,
  fix: string,
): Promise<void> {
  const { operators } = services.config;
  const { userId, acr, type, impersonator } = callerOf({ principal });
  const rows = await withoutRls(tx, () =>
    rowsOf(
      tx,
      sql`select 1 from ${operatorRows(operators)} r
        where r.user_id = ${userId}::uuid and r.role_id = ${INSTALLATION_OPERATOR}::uuid`,
    ),
  );
  const { allowedCidrs } = operators;
  const isHere = allowedCidrs.length === 0 || covers(allowedCidrs, call.address);
  if (type !== 'session' || impersonator || !isHere || rows.length === 0) throw fail('FORBIDDEN', { fix });
  if (operators.requiresSecondFactor && acr === 'aal1') {
    throw fail('MFA_REQUIRED', {
      fix: 'Add an authenticator app at POST /api/me/mfa/factors, or sign in again with its code.',
    });
  }
}
