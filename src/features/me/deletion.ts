import { eq } from 'drizzle-orm';
import { z } from 'zod';
import { purgeFrom } from '../../db/tenant-tree.ts';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import { iso, uuid } from '../../values.ts';
import { lockUser } from '../identity/verification.ts';
import { endUser } from '../memberships/end-of-user.ts';
import { users } from '../users/user.ts';
import type { OwnRun } from './profile.ts';

export const DeletedMe = z
  .object({
    id: uuid.describe('Id of the user.'),
    deletedAt: iso.describe('When it was deleted.'),
    purgeAt: iso.meta({ description: 'When everything that is personal is removed for good.' }),
  })
  .meta({ id: 'DeletedMe', description: 'What became of the user.' });

const DAY_MS = 86_400_000;

/**
 * The caller deletes himself (`endUser`). With `hardDelete` the purge follows before the answer; a process that dies in
 * between leaves it to the next one, since what was deleted is marked as due.
 * @throws UNAUTHENTICATED when he was deleted meanwhile, LAST_OWNER
 */
export async function deleteSelf(ctx: OwnRun, hardDelete: boolean): Promise<z.output<typeof DeletedMe>> {
  const { tx, call, services } = ctx;
  const user = await lockUser(ctx, callerOf(ctx).userId, 'no key update');
  if (!user) throw fail('UNAUTHENTICATED');
  const { deletedAt, nodeIds } = await endUser(ctx, user);
  ctx.afterCommit(() => {
    call.effects.refreshCookie = 'clear';
  });
  const { id } = user;
  if (!hardDelete) {
    const retentionMs = services.config.retention.deletionDays * DAY_MS;
    return { id, deletedAt, purgeAt: new Date(deletedAt.getTime() + retentionMs) };
  }
  await tx.update(users).set({ purgeAt: deletedAt }).where(eq(users.id, id));
  await purgeFrom(tx, nodeIds, deletedAt);
  ctx.afterCommit(() => services.purgeUrgent());
  return { id, deletedAt, purgeAt: deletedAt };
}
