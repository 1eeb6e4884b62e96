import { and, count, eq, gt, isNotNull, isNull, or, sql } from 'drizzle-orm';
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core';
import { nodes } from '../../schema/nodes.ts';
import { hashSecret } from '../../crypto/tokens/secrets.ts';
import { fail } from '../../errors.ts';
import type { Principal } from '../../kernel/context.ts';
import type { Services } from '../../services.ts';
import type { RowOf } from '../../kernel/entity.ts';
import { pascalTenant, type ResolvedScope } from '../../kernel/scope.ts';
import type { Executor, ScopedDb } from '../../kernel/scoped-db.ts';
import { type keyTenants, ApiKey, apiKeys, apiKeySecrets } from '../../schema/machines/api-key.ts';

type Row = RowOf<typeof ApiKey>;

/** Returns the columns of a key that store its scope, in the spelling of responses. */
export const scopeColumns = ({ tenant, id }: ResolvedScope) => ({
  scopeTenant: pascalTenant(tenant) as (typeof keyTenants)[number],
  scopeId: id,
});

/** Stores the HMAC of a key's new current secret. */
export async function storeSecret(
  { tx, services }: { readonly tx: Executor; readonly services: Services },
  keyId: string,
  secret: string,
): Promise<void> {
  const hash = hashSecret(services.kek.derive('api-key-pepper'), secret);
  await tx.insert(apiKeySecrets).values({ id: services.ids.next(), keyId, hash });
}

/** SQL condition: the key is neither deleted, revoked nor expired. */
const isActive = (id: string) =>
  and(
    eq(apiKeys.id, id),
    isNull(apiKeys.deletedAt),
    isNull(apiKeys.revokedAt),
    or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, sql`now()`)),
  );

interface StoreContext {
  readonly tx: Executor;
  readonly db: ScopedDb;
}

/**
 * Changes a key only while it is active, by one conditional update. A change that loses a race fails.
 * @throws NOT_FOUND, INVALID_STATE with the current status
 */
async function updateActiveKey(
  { tx, db }: StoreContext,
  id: string,
  set: PgUpdateSetSource<typeof apiKeys>,
): Promise<Row> {
  const changed = await tx
    .update(apiKeys)
    .set({ ...set, updatedAt: sql`now()` })
    .where(and(isActive(id), eq(apiKeys.tenantId, db.scope.nodeId)))
    .returning({ id: apiKeys.id });
  const row = await db.get(ApiKey, id);
  if (changed.length === 0) throw fail('INVALID_STATE', { params: { state: row.status } });
  return row;
}

/**
 * Revokes an active key and deletes its secrets.
 * @throws NOT_FOUND, INVALID_STATE
 */
export async function markRevoked(
  ctx: StoreContext & { readonly principal: Principal | null },
  id: string,
  reason: string | null,
): Promise<Row> {
  const revokedBy = ctx.principal?.userId ?? null;
  const row = await updateActiveKey(ctx, id, { revokedAt: sql`now()`, revokedBy, revokedReason: reason });
  await ctx.tx.delete(apiKeySecrets).where(eq(apiKeySecrets.keyId, id));
  return row;
}

interface Rotation {
  readonly clientSecret: string;
  readonly graceSeconds: number;
  readonly allowedCidrs: readonly string[];
}

/**
 * Replaces the secret of an active key. The previous secret stays valid for another `graceSeconds`; 0 ends it
 * immediately. Older ones end immediately too, so that at most two secrets are valid.
 * @throws NOT_FOUND, INVALID_STATE
 */
export async function replaceSecret(
  ctx: StoreContext & { readonly services: Services },
  id: string,
  { clientSecret, graceSeconds, allowedCidrs }: Rotation,
): Promise<Row> {
  const until = graceSeconds > 0 ? sql`now() + make_interval(secs => ${graceSeconds})` : null;
  // Update the key's row first: its lock orders concurrent rotations and exchanges.
  const rotationColumns = {
    rotatedAt: sql`now()`,
    previousSecretExpiresAt: until,
    allowedCidrs: [...allowedCidrs],
  };
  const row = await updateActiveKey(ctx, id, rotationColumns);
  const secretsOfKey = eq(apiKeySecrets.keyId, id);
  await ctx.tx
    .delete(apiKeySecrets)
    .where(until ? and(secretsOfKey, isNotNull(apiKeySecrets.expiresAt)) : secretsOfKey);
  if (until) await ctx.tx.update(apiKeySecrets).set({ expiresAt: until }).where(secretsOfKey);
  await storeSecret(ctx, id, clientSecret);
  return row;
}

/** Deletes the row permanently; its audit entries stay. */
export async function hardDelete(tx: Executor, id: string): Promise<void> {
  await tx.delete(apiKeys).where(eq(apiKeys.id, id));
}

/** Returns the metadata of an audit entry about a key. */
export const auditMetadata = ({ clientId, scope, roleId, expiresAt }: Row): Record<string, unknown> => ({
  clientId,
  scope,
  roleId,
  expiresAt,
});

/** Maximum number of keys of a customer in a granted project; deleted and revoked keys do not count. */
const MAX_PER_SLICE = 100;

/**
 * Asserts that a granted scope does not have too many keys. Call it after the insert of a key. It counts under the lock
 * of the slice's node, which the mutation needs anyway, so concurrent creations cannot exceed the limit together.
 * @throws CONFLICT
 */
export async function assertWithinSliceLimit({ tx, db }: StoreContext): Promise<void> {
  const { nodeId, grant } = db.scope;
  if (!grant) return;
  await tx.select({ id: nodes.id }).from(nodes).where(eq(nodes.id, nodeId)).for('no key update');
  const [total] = await tx
    .select({ count: count() })
    .from(apiKeys)
    .where(and(eq(apiKeys.tenantId, nodeId), isNull(apiKeys.deletedAt), isNull(apiKeys.revokedAt)));
  if ((total?.count ?? 0) <= MAX_PER_SLICE) return;
  throw fail('CONFLICT', {
    details: [{ path: 'scope', code: 'limit' }],
    fix: `A granted project has at most ${MAX_PER_SLICE} keys of one customer: revoke one that is not needed.`,
  });
}
