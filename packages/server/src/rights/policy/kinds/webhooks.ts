import { sql } from 'drizzle-orm';
import { isAnyOf } from '../../../db/statements/rows.ts';
import { healthy } from '../../../webhooks/delivery/health.ts';
import { cancelDeliveries, resumeDeliveries } from '../../../webhooks/delivery/queue.ts';
import { assertWithinLimit } from '../../../webhooks/subscriptions/limit.ts';
import { newWebhookSecret, storeSecrets } from '../../../webhooks/subscriptions/secrets.ts';
import type { Services } from '../../../services.ts';
import type { ResolvedScope } from '../../../kernel/scope.ts';
import type { Executor, ScopedDb } from '../../../kernel/scoped-db.ts';
import { webhookSubscriptions } from '../../../schema/webhooks/webhook-subscription.ts';
import type { NewSecret } from '../outputs.ts';
import type { WrittenChange } from '../write.ts';

interface WebhookContext {
  readonly tx: Executor;
  readonly db: ScopedDb;
  readonly scope: ResolvedScope;
  readonly services: Services;
  readonly afterCommit: (work: () => void) => void;
}

/**
 * Completes changes to webhooks as the operations for single webhooks do: a new webhook gets its secret, a reactivated
 * webhook sends its waiting deliveries, and the deliveries of a deleted webhook are canceled.
 *
 * @throws CONFLICT if the project would have too many webhooks
 */
export async function settleWebhooks(
  ctx: WebhookContext,
  written: readonly WrittenChange[],
): Promise<NewSecret[]> {
  const { tx, scope, services } = ctx;
  const tenantId = scope.nodeId;
  const changes = written.filter(({ kind }) => kind === 'webhooks');
  const idsOf = (matches: (change: WrittenChange) => boolean): string[] =>
    changes.filter(matches).map(({ id }) => id);

  const secrets = changes.flatMap(({ action, id, key }) =>
    action === 'create' ? [{ key, subscription: { id, tenantId }, secret: newWebhookSecret() }] : [],
  );
  await storeSecrets(ctx, secrets);
  if (secrets.length > 0) await assertWithinLimit(ctx);

  const gone = idsOf(({ action }) => action === 'delete');
  if (gone.length > 0) await cancelDeliveries(tx, { tenantId, ids: gone }, services.clock.now());

  const resumed = idsOf(
    ({ action, fields }) => action !== 'create' && action !== 'delete' && fields['active']?.to === true,
  );
  if (resumed.length > 0) {
    await tx
      .update(webhookSubscriptions)
      .set({ ...healthy, updatedAt: sql`now()` })
      .where(isAnyOf(webhookSubscriptions.id, resumed));
    await resumeDeliveries(tx, { tenantId, ids: resumed }, services.clock.now());
    ctx.afterCommit(() => services.webhooksDue());
  }
  return secrets.map(({ key, secret }) => ({ kind: 'webhooks', key, secret }));
}
