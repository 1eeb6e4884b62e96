import { and, eq, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Executor } from '../kernel/scoped-db.ts';
import { mfaFactors } from '../schema/sign-in/mfa-factor.ts';

/** Whether the user has an enabled factor, so that a sign-in is complete only after a code. */
export async function isEnrolled(tx: Executor, userId: string): Promise<boolean> {
  const enabled = await tx
    .select({ id: mfaFactors.id })
    .from(mfaFactors)
    .where(and(eq(mfaFactors.userId, userId), eq(mfaFactors.isEnabled, true)))
    .limit(1);
  return enabled.length > 0;
}

/** SQL condition: the user whose id is in this column has an enabled factor. */
export const hasFactor = (userId: PgColumn): SQL<boolean> =>
  sql<boolean>`exists (select from ${mfaFactors} where ${mfaFactors.userId} = ${userId} and ${mfaFactors.isEnabled})`;
