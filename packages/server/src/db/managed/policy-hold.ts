import { and, eq, isNotNull, sql } from 'drizzle-orm';
import { text } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { fail } from '../../errors.ts';
import { serverSet, type AnyEntity } from '../../kernel/entity.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { column } from '../query/columns.ts';

/*
 * Rows that a policy document manages. The document decides whether they can be changed by hand; its application writes
 * them without these checks.
 */

/** Whether a managed row may be changed by hand. `protected`: the next document cannot delete it either. */
export type PolicyHold = 'none' | 'protected' | 'locked';

export const managedColumns = () => ({
  /** The key of the row in the policy document; null if none manages it. */
  policyKey: text('policy_key'),
  policyHold: text('policy_hold', { enum: ['none', 'protected', 'locked'] }),
});

/** The field and the computed value of nouns with `managedColumns`. */
export const managed = serverSet(
  z
    .enum(['policy'])
    .meta({ id: 'ManagedBy', description: 'What manages a row.' })
    .nullable()
    .describe('policy: a policy document manages it; null: it is changed by hand.'),
);
export const managedOf = (table: { readonly policyKey: unknown }) =>
  sql<'policy' | null>`case when ${table.policyKey} is not null then 'policy' end`;

/** @throws INVALID_STATE, DELETION_NOT_ALLOWED if the policy document keeps the row from changes by hand */
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
