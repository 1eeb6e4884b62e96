import { and, getTableColumns, inArray, sql, type SQL } from 'drizzle-orm';
import { candidatesFor, type Grants } from '@doorward/decision/evaluate';
import { heldPairs } from '@doorward/decision/questions/held-pairs';
import type { Effective } from '../../access/grants/effective.ts';
import { grantsOfUsers } from '../../access/dry-run/grants-of-many.ts';
import { difference } from '../../access/dry-run/impact.ts';
import { missingPermissions, type WantedPermission } from '../../access/delegation/escalation.ts';
import type { Recording } from '../../kernel/event.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { ApiKey, apiKeys, apiKeySecrets, statusSql } from '../../schema/machines/api-key.ts';
import { systemActor } from '../../people/user-node.ts';
import { keysOfOthers, isLive, type KeyOfAnother } from './keys-of-others.ts';

const REASON = 'userRightsGrew';

/**
 * Revokes the keys whose users now have rights that the keys' creators do not hold, and returns what to record. It
 * calls `invalidate` for their tokens.
 */
type EndExcessKeys = (invalidate: (topic: string) => void) => Promise<Recording[]>;

/**
 * Reads the rights of the users whose keys someone else created, at the node and in the projects below it. Call it
 * before the change, without row-level security (`withoutRls`), and call the returned function after it.
 *
 * A key that one user created for another user, or for a service user, acts with that user's current rights. Its
 * creator, who may have kept the secret, would gain rights together with that user. So when a mutation gives the user a
 * right that the creator doesn't hold at that time, it revokes the key.
 */
export async function watchForExcessKeys(
  tx: Executor,
  nouns: ReadonlySet<string>,
  nodeId: string,
): Promise<EndExcessKeys> {
  const keys = await keysOfOthers(tx, nodeId);
  if (keys.length === 0) return () => Promise.resolve([]);
  const loadGrants = () => grantsOfUsers(tx, keys, nouns);
  const before = (await loadGrants()).map(withoutTerms);
  return async (invalidate) => {
    const after = await loadGrants();
    const makers = await grantsOfUsers(
      tx,
      keys.map(({ scope, makerId }) => ({ scope, userId: makerId })),
      nouns,
    );
    const excessKeys = keys.filter((_, at) => {
      const gained = gainsOf(before[at] as Effective[], after[at] as Grants);
      return missingPermissions(makers[at] as Grants, gained).length > 0;
    });
    excessKeys.forEach(({ id }) => invalidate(`credential:${id}`));
    return revoke(tx, excessKeys);
  };
}

/** Terms are left out, because gains don't depend on them and digesting them is slow. */
const withoutTerms = (grants: Grants): Effective[] =>
  heldPairs(grants).map(({ resource, action, conditional }) => ({
    resource,
    action,
    conditional,
    terms: '',
  }));

/** The permissions that a dry run would report as gained, once for each condition under which they are held. */
function gainsOf(before: readonly Effective[], after: Grants): WantedPermission[] {
  const { gains } = difference(before, withoutTerms(after));
  return gains.flatMap(({ resource, action, conditional }) =>
    [true, false].flatMap((management) => {
      const candidates = candidatesFor(after, { management, resource, action: action.toLowerCase() });
      if (!candidates || conditional === (candidates.allowed !== undefined)) return [];
      const conditions = conditional ? candidates.conditional.map(({ condition }) => condition) : [null];
      return conditions.map((condition) => ({ resource, action, managementPlane: management, condition }));
    }),
  );
}

async function revoke(tx: Executor, keys: readonly KeyOfAnother[]): Promise<Recording[]> {
  if (keys.length === 0) return [];
  const ids = keys.map(({ id }) => id);
  const revoked = await tx
    .update(apiKeys)
    .set({ revokedAt: sql`now()`, revokedBy: null, revokedReason: REASON, updatedAt: sql`now()` })
    .where(and(inArray(apiKeys.id, ids), isLive))
    .returning({
      ...getTableColumns(apiKeys),
      scope: ApiKey.computed['scope'] as SQL<ScopeRef>,
      status: statusSql,
    });
  await tx.delete(apiKeySecrets).where(inArray(apiKeySecrets.keyId, ids));
  const homes = new Map(keys.map(({ id, home }) => [id, home]));
  return revoked.flatMap((key) => {
    const node = homes.get(key.id);
    if (!node) return [];
    const { clientId, scope, roleId, expiresAt } = key;
    return {
      actor: systemActor,
      node,
      event: 'api_key.revoked',
      data: key,
      target: { type: 'ApiKey', id: key.id },
      metadata: { clientId, scope, roleId, expiresAt, reason: REASON },
    };
  });
}
