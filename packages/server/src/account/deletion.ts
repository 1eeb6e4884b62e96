import { eq } from 'drizzle-orm';
import { z } from 'zod';
import { purgeFrom } from '../db/tenancy/tenant-tree.ts';
import { fail } from '../errors.ts';
import { callerOf } from '../kernel/context.ts';
import { iso, uuid } from '../kernel/input/values.ts';
import { lockUser } from '../people/lock-user.ts';
import { deleteUser } from '../members/delete-user.ts';
import { assertOperatorRemains, isOperator, lockOperators } from '../people/operators.ts';
import { users } from '../schema/people/user.ts';
import type { OwnRun } from './profile.ts';

export const DeletedMe = z
  .object({
    id: uuid.describe('Id of the user.'),
    deletedAt: iso.describe('When the user was deleted.'),
    purgeAt: iso.meta({ description: 'When all personal data is removed permanently.' }),
  })
  .meta({ id: 'DeletedMe', description: 'The deleted user.' });

const DAY_MS = 86_400_000;

/**
 * Deletes the calling user. With `hardDelete` a purge starts after the commit. If the process dies before it, a later
 * purge does the work, because the rows are marked as due.
 * @throws UNAUTHENTICATED if another request deleted the user; LAST_OWNER of an organization, or as the last
 * Installation Operator
 */
export async function deleteSelf(ctx: OwnRun, hardDelete: boolean): Promise<z.output<typeof DeletedMe>> {
  const { tx, services } = ctx;
  const user = await lockUser(ctx, callerOf(ctx).userId, 'no key update');
  if (!user) throw fail('UNAUTHENTICATED');
  const rules = services.config.operators;
  if (await isOperator(tx, rules, user.id)) {
    await lockOperators(tx);
    await assertOperatorRemains(tx, rules, user.id);
  }
  const { deletedAt, nodeIds } = await deleteUser(ctx, user);
  ctx.setCookies({ refreshCookie: 'clear' });
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
