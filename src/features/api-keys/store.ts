import { and, eq, gt, isNotNull, isNull, or, sql } from 'drizzle-orm';
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core';
import { hashSecret } from '../../crypto/secrets.ts';
import { fail } from '../../errors.ts';
import type { Principal, Services } from '../../kernel/context.ts';
import type { RowOf } from '../../kernel/entity.ts';
import { pascalTenant, type ResolvedScope } from '../../kernel/scope.ts';
import type { Executor, ScopedDb } from '../../kernel/scoped-db.ts';
import type { keyTenants } from './api-key.ts';
import { ApiKey, apiKeys, apiKeySecrets } from './api-key.ts';

type Row = RowOf<typeof ApiKey>;

/** The scope as a key keeps and answers it: keys are made in scopes of projects only. */
export const scopeColumns = ({ tenant, id }: ResolvedScope) => ({
  scopeTenant: pascalTenant(tenant) as (typeof keyTenants)[number],
  scopeId: id,
});

/**
 * Keys of the HMAC under which secrets are stored, the current one first: without them a stolen table cannot even be
 * tested. The older ones are those of `ENCRYPTION_KEYS_OLD`, so that keys outlive a change of the encryption key.
 */
export const peppersOf = ({ kek }: Pick<Services, 'kek'>): readonly Buffer[] =>
  kek.deriveAll('api-key-pepper');

export async function storeSecret(
  { tx, services }: { readonly tx: Executor; readonly services: Services },
  keyId: string,
  secret: string,
): Promise<void> {
  const hash = hashSecret(services.kek.derive('api-key-pepper'), secret);
  await tx.insert(apiKeySecrets).values({ id: services.ids.next(), keyId, hash });
}

/** A key that can be exchanged, as far as its own row tells. */
export const isActive = (id: string) =>
  and(
    eq(apiKeys.id, id),
    isNull(apiKeys.deletedAt),
    isNull(apiKeys.revokedAt),
    or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, sql`now()`)),
  );

interface InScope {
  readonly tx: Executor;
  readonly db: ScopedDb;
}

/** Moves an active key on by one conditional update: of two that race, one wins and the other is told the new state. */
async function move({ tx, db }: InScope, id: string, set: PgUpdateSetSource<typeof apiKeys>): Promise<Row> {
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
 * active → revoked.
 * @throws NOT_FOUND, INVALID_STATE
 */
export async function markRevoked(
  ctx: InScope & { readonly principal: Principal | null },
  id: string,
  reason: string | null,
): Promise<Row> {
  const revokedBy = ctx.principal?.userId ?? null;
  const row = await move(ctx, id, { revokedAt: sql`now()`, revokedBy, revokedReason: reason });
  await ctx.tx.delete(apiKeySecrets).where(eq(apiKeySecrets.keyId, id));
  return row;
}

interface Rotation {
  readonly clientSecret: string;
  readonly graceSeconds: number;
  readonly allowedCidrs: readonly string[];
}

/**
 * Gives an active key another secret. The one that was current works for `graceSeconds` more, 0 ends it at once; what
 * an earlier rotation left over ends now, so that never more than two are good.
 * @throws NOT_FOUND, INVALID_STATE
 */
export async function replaceSecret(
  ctx: InScope & { readonly services: Services },
  id: string,
  { clientSecret, graceSeconds, allowedCidrs }: Rotation,
): Promise<Row> {
  const until = graceSeconds > 0 ? sql`now() + make_interval(secs => ${graceSeconds})` : null;
  // First the key's row: its lock puts rotations, and the exchanges beside them, in an order.
  const moved = { rotatedAt: sql`now()`, previousSecretExpiresAt: until, allowedCidrs: [...allowedCidrs] };
  const row = await move(ctx, id, moved);
  const ofKey = eq(apiKeySecrets.keyId, id);
  await ctx.tx.delete(apiKeySecrets).where(until ? and(ofKey, isNotNull(apiKeySecrets.expiresAt)) : ofKey);
  if (until) await ctx.tx.update(apiKeySecrets).set({ expiresAt: until }).where(ofKey);
  await storeSecret(ctx, id, clientSecret);
  return row;
}

/** Removes the row for good; its audit entries stay. */
export async function hardDelete(tx: Executor, id: string): Promise<void> {
  await tx.delete(apiKeys).where(eq(apiKeys.id, id));
}

/** What the audit log keeps of a key beside its id (spec: "with scope metadata"). */
export const auditMetadata = ({ clientId, scope, roleId, expiresAt }: Row): Record<string, unknown> => ({
  clientId,
  scope,
  roleId,
  expiresAt,
});
