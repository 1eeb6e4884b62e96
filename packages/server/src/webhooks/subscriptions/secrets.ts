import { and, eq, isNotNull, isNull } from 'drizzle-orm';
import { randomBytes } from 'node:crypto';
import type { Services } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { webhookSecrets } from '../../schema/webhooks/webhook-subscription.ts';

/*
 * Signing secrets of subscriptions. A secret allows its holder to impersonate this service to the receiver, so it is
 * shown once and stored encrypted.
 */

interface SecretContext {
  readonly tx: Executor;
  readonly services: Pick<Services, 'ids' | 'kek' | 'clock'>;
}
interface SubscriptionRef {
  readonly id: string;
  readonly tenantId: string;
}

/** `whsec_` and 32 random bytes in base64, the format of Standard Webhooks libraries. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

const sealContextOf = (id: string): string => `webhook_secrets:${id}`;

const belongsTo = ({ id, tenantId }: SubscriptionRef) =>
  and(eq(webhookSecrets.tenantId, tenantId), eq(webhookSecrets.subscriptionId, id));

/** Stores the secrets as the current ones of their subscriptions, in one statement. */
export async function storeSecrets(
  { tx, services }: SecretContext,
  secrets: readonly { readonly subscription: SubscriptionRef; readonly secret: string }[],
): Promise<void> {
  if (secrets.length === 0) return;
  const rows = secrets.map(({ subscription, secret }) => {
    const id = services.ids.next();
    const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64');
    return {
      id,
      tenantId: subscription.tenantId,
      subscriptionId: subscription.id,
      sealed: services.kek.seal(bytes, sealContextOf(id)),
      createdAt: services.clock.now(),
    };
  });
  await tx.insert(webhookSecrets).values(rows);
}

/**
 * Replaces the current secret. The former one signs too until the given time; null deletes it immediately. An even
 * older one is deleted now, so at most two secrets sign.
 */
export async function replaceSecret(
  ctx: SecretContext,
  subscription: SubscriptionRef,
  secret: string,
  until: Date | null,
) {
  const { tx } = ctx;
  await tx
    .delete(webhookSecrets)
    .where(
      until ? and(belongsTo(subscription), isNotNull(webhookSecrets.expiresAt)) : belongsTo(subscription),
    );
  if (until) {
    await tx
      .update(webhookSecrets)
      .set({ expiresAt: until })
      .where(and(belongsTo(subscription), isNull(webhookSecrets.expiresAt)));
  }
  await storeSecrets(ctx, [{ subscription, secret }]);
}
