import { and, eq, isNull, or, gt, sql } from 'drizzle-orm';
import { hashApiKeySecret } from '../../crypto/secrets.ts';
import { fail } from '../../errors.ts';
import type { Principal, Services } from '../../kernel/context.ts';
import type { RowOf } from '../../kernel/entity.ts';
import { pascalTenant, type ResolvedScope } from '../../kernel/scope.ts';
import type { Executor, ScopedDb } from '../../kernel/scoped-db.ts';
import { ApiKey, apiKeys, apiKeySecrets } from './api-key.ts';

type Row = RowOf<typeof ApiKey>;

/** The scope as a key keeps and answers it. */
export const scopeColumns = ({ tenant, id }: ResolvedScope) => ({
  scopeTenant: pascalTenant(tenant),
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
  const hash = hashApiKeySecret(services.kek.derive('api-key-pepper'), secret);
  await tx.insert(apiKeySecrets).values({ id: services.ids.next(), keyId, hash });
}

/**
 * active → revoked by one conditional update: of two that race, one wins and the other is told the new state.
 * @throws NOT_FOUND, INVALID_STATE
 */
export async function markRevoked(
  ctx: { readonly tx: Executor; readonly db: ScopedDb; readonly principal: Principal | null },
  id: string,
  reason: string | null,
): Promise<Row> {
  const { tx, db, principal } = ctx;
  const changed = await tx
    .update(apiKeys)
    .set({
      revokedAt: sql`now()`,
      revokedBy: principal?.userId ?? null,
      revokedReason: reason,
      updatedAt: sql`now()`,
    })
    .where(
      and(
        eq(apiKeys.id, id),
        eq(apiKeys.tenantId, db.scope.nodeId),
        isNull(apiKeys.deletedAt),
        isNull(apiKeys.revokedAt),
        or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, sql`now()`)),
      ),
    )
    .returning({ id: apiKeys.id });
  const row = await db.get(ApiKey, id);
  if (changed.length === 0) throw fail('INVALID_STATE', { params: { state: row.status } });
  await tx.delete(apiKeySecrets).where(eq(apiKeySecrets.keyId, id));
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
