import { and, count, eq, isNull, sql } from 'drizzle-orm';
import { nodes } from '../../schema/nodes.ts';
import { fail } from '../../errors.ts';
import type { Run } from '../../services.ts';
import type { MembershipRun } from '../../members/role-assignment.ts';
import {
  grantStatus,
  liveStates,
  projectGrants,
  type GrantStatus,
} from '../../schema/tenants/project-grant.ts';

/** The maximum number of offers of a project that wait for an answer. */
const MAX_PENDING = 100;

/** Call it after the insert. It counts under the lock of the project's node. @throws CONFLICT */
export async function assertWithinLimits({
  tx,
  scope,
  services,
}: Run & Pick<MembershipRun, 'scope'>): Promise<void> {
  const { maxPerProject } = services.config.projectGrants;
  await tx.select({ id: nodes.id }).from(nodes).where(eq(nodes.id, scope.nodeId)).for('no key update');
  const status = grantStatus(services.clock.now());
  const counts = await tx
    .select({ status, count: count() })
    .from(projectGrants)
    .where(and(eq(projectGrants.tenantId, scope.nodeId), isNull(projectGrants.deletedAt)))
    .groupBy(sql`1`);
  const countOf = (states: readonly GrantStatus[]) =>
    counts.reduce((sum, row) => sum + (states.includes(row.status) ? row.count : 0), 0);
  const refuse = (fix: string) => fail('CONFLICT', { details: [{ path: 'scope', code: 'limit' }], fix });
  if (countOf(['pending']) > MAX_PENDING)
    throw refuse(`A project has at most ${MAX_PENDING} pending offers: revoke one, or wait for an answer.`);
  if (countOf(['pending', ...liveStates]) > maxPerProject)
    throw refuse(
      `A project has at most ${maxPerProject} live grants and pending offers together (PROJECT_GRANTS_MAX).`,
    );
}
