import { and, eq, isNotNull } from 'drizzle-orm';
import { fail } from '../../errors.ts';
import type { AnyEntity } from '../../kernel/entity.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { column } from './entity-columns.ts';
import type { PolicyHold } from '../../schema/managed.ts';

/**
 * Refuses a manual change of a row that a policy document manages. Applying a policy document skips this check.
 *
 * @throws INVALID_STATE, DELETION_NOT_ALLOWED if the policy document protects the row from manual changes
 */
export async function assertChangeableByHand(tx: Executor, entity: AnyEntity, id: string): Promise<void> {
  const [row] = (await tx
    .select({ hold: column(entity, 'policyHold') })
    .from(entity.table)
    .where(and(eq(column(entity, 'id'), id), isNotNull(column(entity, 'policyKey'))))) as {
    hold: PolicyHold;
  }[];
  if (row?.hold === 'protected')
    throw fail('DELETION_NOT_ALLOWED', {
      details: [{ path: 'id', code: 'not_allowed' }],
      fix: 'Its policy document protects it: apply one without `protect` first.',
    });
  if (row?.hold === 'locked')
    throw fail('INVALID_STATE', {
      params: { state: 'managed' },
      fix: 'Change it in the policy document of the project, and apply that.',
    });
}
