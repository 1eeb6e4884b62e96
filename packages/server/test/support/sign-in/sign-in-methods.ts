import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { authenticationMethods } from '../../../src/schema/sign-in/authentication-method.ts';
import type { TestApp } from '../app/app.ts';
import { unique } from '../app/client.ts';

/** Gives a user so many accounts at GitHub that they have this number of sign-in methods. */
export async function fillMethods({ database }: TestApp, userId: string, count: number): Promise<void> {
  const existing = await database.pool
    .select()
    .from(authenticationMethods)
    .where(eq(authenticationMethods.userId, userId));
  const more = Array.from({ length: count - existing.length }, () => ({
    ...{ id: randomUUID(), userId, provider: 'github' as const, providerId: unique(), label: unique() },
    ...{ isVerified: true, isPrimary: false, claims: false },
  }));
  await database.pool.insert(authenticationMethods).values(more);
}
