import { and, eq, isNotNull, isNull } from 'drizzle-orm';
import { randomBytes } from 'node:crypto';
import type { Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { webhookSecrets } from './subscription.ts';

/**
 * The secrets of a subscription. Whoever holds one can speak to its receiver in the name of this service, so it is
 * shown once and kept sealed.
 */
interface Keeping {
  readonly tx: Executor;
  readonly services: Pick<Services, 'ids' | 'kek' | 'clock'>;
}
interface Owner {
  readonly id: string;
  readonly tenantId: string;
}

/** `whsec_` and 32 random bytes in base64, as receivers' libraries take it. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

const sealedAs = (id: string): string => `webhook_secrets:${id}`;

const ofOwner = ({ id, tenantId }: Owner) =>
  and(eq(webhookSecrets.tenantId, tenantId), eq(webhookSecrets.subscriptionId, id));

/** Makes it the current one. */
export async function storeSecret({ tx, services }: Keeping, owner: Owner, secret: string): Promise<void> {
  const id = services.ids.next();
  const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64');
  await tx.insert(webhookSecrets).values({
    id,
    tenantId: owner.tenantId,
    subscriptionId: owner.id,
    sealed: services.kek.seal(bytes, sealedAs(id)),
    createdAt: services.clock.now(),
  });
}

/**
 * Makes another one the current one. The one before signs too until then, null ends it at once; what an earlier rotation
 * left over ends now, so that there are never more than two.
 */
export async function replaceSecret(ctx: Keeping, owner: Owner, secret: string, until: Date | null) {
  const { tx } = ctx;
  await tx
    .delete(webhookSecrets)
    .where(until ? and(ofOwner(owner), isNotNull(webhookSecrets.expiresAt)) : ofOwner(owner));
  if (until) {
    await tx
      .update(webhookSecrets)
      .set({ expiresAt: until })
      .where(and(ofOwner(owner), isNull(webhookSecrets.expiresAt)));
  }
  await storeSecret(ctx, owner, secret);
}
