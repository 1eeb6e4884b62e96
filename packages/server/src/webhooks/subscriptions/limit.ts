import { and, count, eq, isNull } from 'drizzle-orm';
import { nodes } from '../../schema/nodes.ts';
import { fail } from '../../errors.ts';
import { webhookSubscriptions } from '../../schema/webhooks/webhook-subscription.ts';
import type { Services } from '../../services.ts';
import type { Executor, ScopedDb } from '../../kernel/scoped-db.ts';

interface LimitContext {
  readonly tx: Executor;
  readonly db: ScopedDb;
  readonly services: Pick<Services, 'config'>;
}

/** A customer of a project grant may have at most this many, even if the project may have more. */
const MAX_PER_SLICE = 5;

/**
 * Call it after the insert. It counts under the lock of the tenant node, which the mutation needs anyway, so concurrent
 * creations cannot exceed the limit together.
 *
 * @throws CONFLICT
 */
export async function assertWithinLimit({ tx, db, services }: LimitContext): Promise<void> {
  const { nodeId, grant } = db.scope;
  const { maxPerProject: maxOfProject } = services.config.webhooks;
  const maxPerProject = grant ? Math.min(MAX_PER_SLICE, maxOfProject) : maxOfProject;
  await tx.select({ id: nodes.id }).from(nodes).where(eq(nodes.id, nodeId)).for('no key update');
  const [total] = await tx
    .select({ count: count() })
    .from(webhookSubscriptions)
    .where(and(eq(webhookSubscriptions.tenantId, nodeId), isNull(webhookSubscriptions.deletedAt)));
  if ((total?.count ?? 0) <= maxPerProject) return;
  throw fail('CONFLICT', {
    details: [{ path: 'scope', code: 'limit' }],
    fix: `A project has at most ${maxPerProject} webhook subscriptions: delete one that is not needed.`,
  });
}
