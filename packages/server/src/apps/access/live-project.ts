import { and, eq, isNull } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { nodes } from '../../schema/nodes.ts';
import { projects } from '../../schema/tenants/project.ts';
import { fail } from '../../errors.ts';
import type { Executor } from '../../kernel/scoped-db.ts';

/**
 * Returns the settings of the project that exists under exactly this owner.
 * @throws NOT_FOUND
 */
export async function liveProject(
  db: Executor,
  kind: 'account' | 'organization',
  ownerId: string,
  projectId: string,
): Promise<Pick<typeof projects.$inferSelect, 'dynamicRegistration'>> {
  const owner = alias(nodes, 'owner');
  const [project] = await db
    .select({ dynamicRegistration: projects.dynamicRegistration })
    .from(projects)
    .innerJoin(nodes, eq(nodes.id, projects.id))
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
  if (!project) throw fail('NOT_FOUND');
  return project;
}
