import { sql } from 'drizzle-orm';
import { text } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { serverSet } from '../kernel/entity.ts';

/**
 * Whether people may change a row that a policy document manages: not if it is `locked` or `protected`. A later
 * document cannot delete a `protected` row either.
 */
export type PolicyHold = 'none' | 'protected' | 'locked';

export const managedColumns = () => ({
  /** The key of the row in the policy document; null if no document manages the row. */
  policyKey: text('policy_key'),
  policyHold: text('policy_hold', { enum: ['none', 'protected', 'locked'] }),
});

/** The field `managed`, for nouns with `managedColumns`; `managedOf` computes its value. */
export const managed = serverSet(
  z
    .enum(['policy'])
    .meta({ id: 'ManagedBy', description: 'What manages a row.' })
    .nullable()
    .describe('policy: a policy document manages it; null: it is changed by hand.'),
);
export const managedOf = (table: { readonly policyKey: unknown }) =>
  sql<'policy' | null>`case when ${table.policyKey} is not null then 'policy' end`;
