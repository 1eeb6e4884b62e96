import { and, eq, isNull } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { nodes } from '../../db/tenancy/nodes.ts';
import { fail } from '../../errors.ts';
import type { Executor } from '../../kernel/scoped-db.ts';

/**
 * Asserts that the project exists under exactly this owner.
 * @throws NOT_FOUND
 */
export async function assertLiveProject(
  db: Executor,
  kind: 'account' | 'organization',
  ownerId: string,
  projectId: string,
): Promise<void> {
  const owner = alias(nodes, 'owner');
  const rows = await db
    .select({ id: nodes.id })
    .from(nodes)
    .innerJoin(owner, and(eq(owner.id, nodes.parentId), isNull(owner.deletedAt)))
    .where(
      and(
        eq(nodes.id, projectId),
        eq(nodes.kind, 'project'),
        isNull(nodes.deletedAt),
        eq(owner.id, ownerId),
        eq(owner.kind, kind),
      ),
    );
  if (rows.length === 0) throw fail('NOT_FOUND');
}
