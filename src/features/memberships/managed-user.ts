import { and, eq, isNull, notExists, sql } from 'drizzle-orm';
import { nodes } from '../../db/nodes.ts';
import { withoutRls } from '../../db/rls.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { projector } from '../../kernel/project.ts';
import { User, users } from '../users/user.ts';
import type { MembershipRun } from './giving-roles.ts';
import { organizationMembers, projectUsers } from './membership.ts';

/**
 * A managed user has no sign-in of his own: he exists for the tenants that he is in. Deletes him, and records
 * `user.deleted`, when he is in none any more; everybody else stays whom he is.
 */
export async function endManagedUser(
  { tx, record, touch }: Pick<MembershipRun, 'tx' | 'record' | 'touch'>,
  userId: string,
): Promise<void> {
  // Leaving an organization waits for whoever takes him out of one of its projects, so the last of the two sees it.
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
        ),
      )
      .returning(),
  );
  if (!row) return;
  touch(`user:${userId}`);
  record({
    event: 'user.deleted',
    data: projector(User.schema)({ ...row, metadata: {} }) as Record<string, unknown>,
    target: { type: 'User', id: userId },
  });
}

const memberships = (tx: Executor, table: typeof organizationMembers | typeof projectUsers, userId: string) =>
  tx
    .select({ id: table.userId })
    .from(table)
    .innerJoin(nodes, and(eq(nodes.id, table.tenantId), isNull(nodes.deletedAt)))
    .where(eq(table.userId, userId));
