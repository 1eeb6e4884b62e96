import { sql } from 'drizzle-orm';
import { text } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { serverSet } from '../kernel/entity.ts';

/** Whether a row that a policy document manages may be changed by hand. `protected`: the next document cannot delete it either. */
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
