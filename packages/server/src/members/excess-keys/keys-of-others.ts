import { and, eq, isNull, ne, or, sql, type SQL } from 'drizzle-orm';
import { grantedScope, sliceAsJson, type Slice } from '../../access/grants/granted-scope.ts';
import { preparedRowsOf } from '../../db/statements/prepared.ts';
import { apiKeys } from '../../schema/machines/api-key.ts';
import { projects } from '../../schema/tenants/project.ts';
import type { ResolvedScope, ScopeRef } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';

/*
 * Finds the keys that act with the rights of a user who did not create them. Their creators may have kept the secrets,
 * so `excess-keys.ts` revokes such a key when a change gives its user a right that its creator does not have.
 */

type RightsScope = Pick<
  ResolvedScope,
  'tenant' | 'id' | 'accountId' | 'organizationId' | 'projectId' | 'level'
> &
  Partial<Pick<ResolvedScope, 'grant' | 'organizationMetadata'>>;

/** A key whose tokens name a user other than its creator: a user of a project, or a service user. */
export interface KeyOfAnother {
  readonly id: string;
  readonly userId: string;
  readonly makerId: string;
  /** The scope in which a change at the node may give rights to the key's user. */
  readonly scope: RightsScope;
  /** The tenant of the key. */
  readonly home: { readonly id: string; readonly scope: ScopeRef };
}

/**
 * SQL condition for live keys. With the condition on the scope it equals the conditions of the indexes, so that
 * PostgreSQL can use them.
 */
export const isLive = and(isNull(apiKeys.revokedAt), isNull(apiKeys.deletedAt)) as SQL;
const ofProjectUsers = sql`${apiKeys.scopeTenant} = 'ProjectUser'`;
const ofServiceUsers = sql`${apiKeys.scopeTenant} in ('Organization', 'Account')`;

/** The keys whose users may gain rights through a change at the node. */
export async function keysOfOthers(tx: Executor, nodeId: string): Promise<KeyOfAnother[]> {
  return [...(await keysOfProjectUsers(tx, nodeId)), ...(await keysOfServiceUsers(tx, nodeId))];
}

const selected = { id: apiKeys.id, userId: apiKeys.userId, makerId: apiKeys.createdBy };

/** Keys of users of the project, or of the projects in the organization or account. */
async function keysOfProjectUsers(tx: Executor, nodeId: string): Promise<KeyOfAnother[]> {
  const rows = await tx
    .select({
      ...selected,
      projectId: projects.id,
      owner: { id: projects.ownerId, kind: projects.ownerKind },
    })
    .from(apiKeys)
    .innerJoin(projects, eq(projects.id, apiKeys.tenantId))
    .where(
      and(
        ofProjectUsers,
        ne(apiKeys.createdBy, apiKeys.userId),
        isLive,
        or(eq(projects.id, nodeId), eq(projects.ownerId, nodeId)),
      ),
    );
  return rows.map(({ owner, projectId, ...key }) => {
    const scope = projectScope(owner, projectId);
    return { ...key, scope, home: { id: projectId, scope: { tenant: scope.tenant, id: scope.id } } };
  });
}

interface ServiceUserKey {
  readonly id: string;
  readonly userId: string;
  readonly makerId: string;
  readonly home: ScopeRef & { readonly tenant: OwnerKind };
  readonly node: Node;
  readonly parent: Node | null;
  readonly slice: Slice | null;
}
type OwnerKind = 'account' | 'organization';
type Node = { readonly id: string; readonly kind: OwnerKind | 'project' };

/**
 * Keys of the service users of the node and of the nodes above it (`home`), even of those without a role at the node,
 * because the change may give them their first one. The nodes above a slice are the customer's organization and that
 * organization's account. A change in a project counts as a change in those of its slices in which the service user has
 * a role.
 */
async function keysOfServiceUsers(tx: Executor, nodeId: string): Promise<KeyOfAnother[]> {
  const key = sql`${apiKeys.id}, ${apiKeys.userId} as "userId", ${apiKeys.createdBy} as "makerId",
    json_build_object('tenant', home.kind, 'id', home.id) as home, json_build_object('id', n.id, 'kind', n.kind) as node,
    case when o.id is not null then json_build_object('id', o.id, 'kind', o.kind) end as parent`;
  const keyOfHome = sql`join ${apiKeys} on ${apiKeys.tenantId} = home.id and ${ofServiceUsers} and ${isLive}`;
  const keys = await preparedRowsOf<ServiceUserKey>(
    tx,
    sql`select ${key}, null::json as slice
      from nodes n left join nodes o on o.id = n.parent_id
      join nodes home on home.id in (n.id, n.parent_id, o.parent_id)
      ${keyOfHome}
      where n.id = ${nodeId}::uuid and n.kind <> 'grant'
      union all
      select ${key}, ${sliceAsJson}
      from nodes slice join project_grants pg on pg.id = slice.id
      join nodes n on n.id = slice.parent_id join nodes o on o.id = n.parent_id
      join nodes customer on customer.id = pg.organization_id
      join nodes home on home.id in (customer.id, customer.parent_id)
      ${keyOfHome}
      where slice.kind = 'grant' and slice.deleted_at is null and (slice.id = ${nodeId}::uuid
        or slice.parent_id = ${nodeId}::uuid and exists (select 1 from project_user_roles r
          where r.tenant_id = slice.id and r.user_id = ${apiKeys.userId}))`,
  );
  return keys.map(({ id, userId, makerId, home, ...place }) => ({
    ...{ id, userId, makerId },
    scope: scopeOf(place),
    home: { id: home.id, scope: home },
  }));
}

function scopeOf({ node, parent, slice }: Pick<ServiceUserKey, 'node' | 'parent' | 'slice'>): RightsScope {
  if (node.kind !== 'project') return ownerScope(node as Owner);
  const own = projectScope(parent as Owner, node.id);
  return slice ? grantedScope(slice, own) : own;
}

type Owner = { readonly id: string; readonly kind: OwnerKind };

const ownerScope = ({ id, kind }: Owner): RightsScope => ({
  ...{ tenant: kind, id, level: kind, projectId: null },
  accountId: kind === 'account' ? id : null,
  organizationId: kind === 'organization' ? id : null,
});

const projectScope = ({ id, kind }: Owner, projectId: string) => ({
  tenant: `${kind}Project` as const,
  id: `${id}:${projectId}`,
  accountId: kind === 'account' ? id : null,
  organizationId: kind === 'organization' ? id : null,
  projectId,
  level: 'project' as const,
});
