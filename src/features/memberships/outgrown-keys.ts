import { and, eq, getTableColumns, inArray, isNull, ne, or, sql, type SQL } from 'drizzle-orm';
import { effectivePermissions, type Effective } from '../../access/effective.ts';
import { candidatesFor, type Grants } from '../../access/evaluate.ts';
import { grantsOfUsers } from '../../access/grants-of-many.ts';
import { difference } from '../../access/impact.ts';
import { missingPermissions, type WantedPermission } from '../../access/subset.ts';
import type { Recording } from '../../kernel/event.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { ApiKey, apiKeys, apiKeySecrets, statusSql } from '../api-keys/api-key.ts';
import { systemActor } from '../identity/user-node.ts';
import { projects } from '../projects/project.ts';

/**
 * A key that somebody made for another user acts with the present rights of that user. Its maker, who kept the secret,
 * would gain rights together with the user. So the key ends with the mutation by which its user gains a right that its
 * maker does not hold at that time.
 */
export const REASON = 'userRightsGrew';

interface KeyOfAnother {
  readonly id: string;
  readonly userId: string;
  readonly makerId: string;
  readonly scope: ReturnType<typeof scopeOf>;
}

/**
 * Ends the keys whose users have gained more than the makers hold, and answers what to record. `touch` invalidates
 * their tokens.
 */
export type EndOutgrownKeys = (touch: (topic: string) => void) => Promise<Recording[]>;

/**
 * Call it before the change, with a view of all tenants (`withoutRls`). It notes what the users of such keys hold, if
 * there are any in the project, or in the projects of the organization.
 */
export async function watchKeysOfOthers(
  tx: Executor,
  nouns: ReadonlySet<string>,
  nodeId: string,
): Promise<EndOutgrownKeys> {
  const keys = await keysOfOthers(tx, nodeId);
  if (keys.length === 0) return () => Promise.resolve([]);
  const holdings = () => grantsOfUsers(tx, keys, nouns);
  const before = (await holdings()).map(effectivePermissions);
  return async (touch) => {
    const after = await holdings();
    const makers = await grantsOfUsers(
      tx,
      keys.map(({ scope, makerId }) => ({ scope, userId: makerId })),
      nouns,
    );
    const outgrown = keys.filter((_, at) => {
      const gained = gainsOf(before[at] as Effective[], after[at] as Grants);
      return missingPermissions(makers[at] as Grants, gained).length > 0;
    });
    outgrown.forEach(({ id }) => touch(`credential:${id}`));
    return revoke(tx, outgrown);
  };
}

const scopeOf = (owner: { readonly id: string; readonly kind: 'account' | 'organization' }, id: string) => ({
  tenant: `${owner.kind}Project` as const,
  id: `${owner.id}:${id}`,
  accountId: owner.kind === 'account' ? owner.id : null,
  organizationId: owner.kind === 'organization' ? owner.id : null,
  projectId: id,
  level: 'project' as const,
});

async function keysOfOthers(tx: Executor, nodeId: string): Promise<KeyOfAnother[]> {
  const rows = await tx
    .select({
      id: apiKeys.id,
      userId: apiKeys.userId,
      makerId: apiKeys.createdBy,
      projectId: projects.id,
      owner: { id: projects.ownerId, kind: projects.ownerKind },
    })
    .from(apiKeys)
    .innerJoin(projects, eq(projects.id, apiKeys.tenantId))
    .where(and(ofOther, or(eq(projects.id, nodeId), eq(projects.ownerId, nodeId))));
  return rows.map(({ owner, projectId, ...key }) => ({ ...key, scope: scopeOf(owner, projectId) }));
}

/** The same condition as the index `api_keys_of_others`, so that PostgreSQL can use it. */
const ofOther = and(
  sql`${apiKeys.scopeTenant} = 'ProjectUser'`,
  ne(apiKeys.createdBy, apiKeys.userId),
  isNull(apiKeys.revokedAt),
  isNull(apiKeys.deletedAt),
) as SQL;

/** The permissions that a dry run reports as gained, each with every condition under which it is held. */
function gainsOf(before: readonly Effective[], after: Grants): WantedPermission[] {
  const { gains } = difference(before, effectivePermissions(after));
  return gains.flatMap(({ resource, action, conditional }) =>
    [true, false].flatMap((management) => {
      const held = candidatesFor(after, { management, resource, action: action.toLowerCase() });
      if (!held || conditional === (held.allowed !== undefined)) return [];
      const conditions = conditional ? held.conditional.map(({ condition }) => condition) : [null];
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
    .where(and(inArray(apiKeys.id, ids), ofOther))
    .returning({
      ...getTableColumns(apiKeys),
      scope: ApiKey.computed['scope'] as SQL<ScopeRef>,
      status: statusSql,
    });
  await tx.delete(apiKeySecrets).where(inArray(apiKeySecrets.keyId, ids));
  const places = new Map(keys.map(({ id, scope }) => [id, scope]));
  return revoked.flatMap((key) => {
    const place = places.get(key.id);
    if (!place) return [];
    const { clientId, scope, roleId, expiresAt } = key;
    return {
      actor: systemActor,
      node: { id: place.projectId, scope: { tenant: place.tenant, id: place.id } },
      event: 'api_key.revoked',
      data: key,
      target: { type: 'ApiKey', id: key.id },
      metadata: { clientId, scope, roleId, expiresAt, reason: REASON },
    };
  });
}
