import { and, eq, isNull } from 'drizzle-orm';
import { users, type UserRow } from '../schema/people/user.ts';
import type { Run } from '../services.ts';

/**
 * Locks the user's row until commit; returns undefined for a deleted user. Lock order: users, then other rows, then
 * nodes. `share` is for a caller that adds something that is deleted together with the user; `no key update` waits for
 * such callers, but not for inserts that only reference the user.
 */
export async function lockUser(
  { tx }: Pick<Run, 'tx'>,
  id: string,
  strength: 'update' | 'no key update' | 'share' = 'update',
): Promise<UserRow | undefined> {
  const [user] = await tx
    .select()
    .from(users)
    .where(and(eq(users.id, id), isNull(users.deletedAt)))
    .for(strength);
  return user;
}
