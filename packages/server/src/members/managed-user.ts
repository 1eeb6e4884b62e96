import { and, eq, isNull, notExists, sql } from 'drizzle-orm';
import { nodes } from '../schema/nodes.ts';
import { withoutRls } from '../db/tenancy/rls.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { projector } from '../kernel/output/projector.ts';
import { User, users } from '../schema/people/user.ts';
import type { MembershipRun } from './role-assignment.ts';
import { accountServiceUsers, organizationMembers, projectUsers } from '../schema/rights/membership.ts';

/**
 * Deletes a managed user who has no membership left, and records `user.deleted`; does nothing for other users. A
 * managed user cannot sign in, and exists only for the tenants in which they are a member.
 */
export async function endManagedUser(
  { tx, record, invalidate }: Pick<MembershipRun, 'tx' | 'record' | 'invalidate'>,
  userId: string,
): Promise<void> {
  // The update waits for a concurrent removal of the same user from another tenant, so that the later one sees that no
  // membership is left.
  const [row] = await withoutRls(tx, async () =>
    tx
      .update(users)
      .set({ deletedAt: sql`now()`, updatedAt: sql`now()` })
      .where(
        and(
          eq(users.id, userId),
          eq(users.isManaged, true),
          isNull(users.deletedAt),
          notExists(memberships(tx, organizationMembers, userId)),
          notExists(memberships(tx, projectUsers, userId)),
          notExists(memberships(tx, accountServiceUsers, userId)),
        ),
      )
      .returning(),
  );
  if (!row) return;
  invalidate(`user:${userId}`);
  record({
    event: 'user.deleted',
    data: projector(User.schema)({ ...row, metadata: {} }) as Record<string, unknown>,
    target: { type: 'User', id: userId },
  });
}

const memberships = (
  tx: Executor,
  table: typeof organizationMembers | typeof projectUsers | typeof accountServiceUsers,
  userId: string,
) =>
  tx
    .select({ id: table.userId })
    .from(table)
    .innerJoin(nodes, and(eq(nodes.id, table.tenantId), isNull(nodes.deletedAt)))
    .where(eq(table.userId, userId));
