import { and, eq, inArray, isNull, sql, type SQL, getTableColumns } from 'drizzle-orm';
import type { Context } from '../../services.ts';
import type { Recording } from '../../kernel/event.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import { systemActor } from '../../people/user-node.ts';
import { projectUserRoles } from '../../schema/rights/membership.ts';
import { ApiKey, apiKeys, apiKeySecrets, statusSql } from '../../schema/machines/api-key.ts';
import type { GrantRow } from './store.ts';

/** Why keys of a slice are revoked here: the owner of the project removed their role from the grant. */
const REASON = 'roleRemovedFromGrant';

/**
 * Removes roles that a grant no longer has from all users of its slice, and revokes the keys of the slice that have
 * these roles. Takes a fixed number of statements. Call it without row-level security. Returns what to record in the
 * slice.
 */
export async function removeRoles(
  { tx, invalidate }: Pick<Context, 'tx' | 'invalidate'>,
  { id: grantId, organizationId, projectId }: GrantRow,
  roleIds: readonly string[],
): Promise<Recording[]> {
  await tx
    .delete(projectUserRoles)
    .where(and(eq(projectUserRoles.tenantId, grantId), inArray(projectUserRoles.roleId, [...roleIds])));
  const revoked = await tx
    .update(apiKeys)
    .set({ revokedAt: sql`now()`, revokedBy: null, revokedReason: REASON, updatedAt: sql`now()` })
    .where(
      and(
        eq(apiKeys.tenantId, grantId),
        inArray(apiKeys.roleId, [...roleIds]),
        isNull(apiKeys.revokedAt),
        isNull(apiKeys.deletedAt),
      ),
    )
    .returning({
      ...getTableColumns(apiKeys),
      scope: ApiKey.computed['scope'] as SQL<ScopeRef>,
      status: statusSql,
    });
  if (revoked.length === 0) return [];
  const ids = revoked.map(({ id }) => id);
  await tx.delete(apiKeySecrets).where(inArray(apiKeySecrets.keyId, ids));
  invalidate(...ids.map((id) => `credential:${id}`));
  return revoked.map((key) => {
    const { id, clientId, scope, roleId, expiresAt } = key;
    return {
      actor: systemActor,
      node: { id: grantId, scope: { tenant: 'organizationProject', id: `${organizationId}:${projectId}` } },
      event: 'api_key.revoked',
      data: key,
      target: { type: 'ApiKey', id },
      metadata: { clientId, scope, roleId, expiresAt, reason: REASON },
    };
  });
}
