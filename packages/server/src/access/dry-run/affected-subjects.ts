import { sql, type SQL } from 'drizzle-orm';
import { rowsOf } from '../../db/statements/rows.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { grantedScope, sliceAsJson, type Slice } from '../grants/granted-scope.ts';
import { rolesContaining } from '../grants/role-permissions.ts';
import { MAX_AFFECTED } from './impact.ts';

/**
 * A user or key whose permissions a change may affect, with the scope of these permissions. These are the assignees of
 * a role that contains the changed row, and the subjects that the change invalidated. A member of an organization is
 * affected in all of its projects too, and a user also through their own keys there. A change of a role that is granted
 * to customers affects their users with that role. Keys of customers are not listed, because the project's owner does
 * not see them.
 */
export interface AffectedSubject {
  readonly type: 'user' | 'apiKey';
  readonly id: string;
  /** The user themselves, or the user of the key. */
  readonly userId: string;
  readonly scope: ResolvedScope;
}

/** The change that a dry run made. */
export interface Changed {
  /** The noun and id of the changed row, if the call named one. */
  readonly noun: string | undefined;
  readonly id: string | undefined;
  /** Roles whose permissions the change affects, if it names no row. */
  readonly roleIds?: readonly string[];
  /** Users and keys that the change invalidated. */
  readonly userIds: readonly string[];
  readonly keyIds: readonly string[];
}

/** For which customers the caller is allowed to see the users with roles. */
export type CustomersSeen = 'all' | 'withSupportAccess' | 'none';

/**
 * Finds at most `MAX_AFFECTED` subjects plus one, which shows that there are more: first those of the scope, then
 * project by project. Call it after the change, because it reads the invalidated subjects. A change of a role keeps its
 * assignees.
 */
export async function findAffectedSubjects(
  tx: Executor,
  scope: ResolvedScope,
  { noun = '', id = '', roleIds: changedRoles, userIds, keyIds }: Changed,
  customers: CustomersSeen = 'none',
): Promise<AffectedSubject[]> {
  const roleIds = changedRoles?.length ? idsIn(changedRoles) : rolesContaining[noun]?.(id);
  if (!roleIds && userIds.length + keyIds.length === 0) return [];
  const limit = MAX_AFFECTED + 1;
  const rows = await rowsOf<Omit<AffectedSubject, 'scope'> & { nodeId: string; slice: Slice | null }>(
    tx,
    sql`
    with affected_roles(role_id) as (${roleIds ?? sql`select null::uuid`}),
    nodes_in_scope as (select n.id from nodes n
      where n.id = ${scope.nodeId}::uuid
        or n.parent_id = ${scope.nodeId}::uuid and n.kind = 'project' and n.deleted_at is null
      order by n.id <> ${scope.nodeId}::uuid, n.id limit ${limit}),
    slices as (select n.id from nodes n
      join project_grants pg on pg.id = n.id and pg.status = 'active'
      join organizations customer on customer.id = pg.organization_id and customer.deleted_at is null
      where n.parent_id = ${scope.nodeId}::uuid and n.kind = 'grant' and n.deleted_at is null and ${seen[customers]}),
    affected_users as (select user_id from (
        select m.user_id from organization_members m
          where m.tenant_id = ${scope.nodeId}::uuid and m.role_id in (select role_id from affected_roles)
        union select p.user_id from project_user_roles p
          where p.tenant_id = ${scope.nodeId}::uuid and p.role_id in (select role_id from affected_roles)
        union select id from users where id in ${idsIn(userIds)}) assignees
      order by user_id limit ${limit})
    select affected.type, affected.id, user_id as "userId", node_id as "nodeId",
      case when pg.id is not null then ${sliceAsJson} end as slice
    from (
      select 'user' as type, affected_users.user_id as id, affected_users.user_id, nodes_in_scope.id as node_id
        from affected_users cross join nodes_in_scope
      union all
      select 'apiKey', k.id, k.user_id, k.tenant_id from api_keys k
        where k.tenant_id in (select id from nodes_in_scope) and (k.id in ${idsIn(keyIds)}
          or k.deleted_at is null and k.revoked_at is null and (k.role_id in (select role_id from affected_roles)
            or k.user_id in (select user_id from affected_users)))
      union all
      select * from (select distinct 'user', p.user_id, p.user_id as same, p.tenant_id from project_user_roles p
        where p.tenant_id in (select id from slices) and p.role_id in (select role_id from affected_roles)
        order by p.tenant_id, p.user_id limit ${limit}) of_customers) affected
    left join project_grants pg on pg.id = affected.node_id
    order by node_id <> ${scope.nodeId}::uuid, node_id, affected.type, affected.id limit ${limit}`,
  );
  return rows.map(({ nodeId, slice, ...subject }) => ({
    ...subject,
    scope: slice
      ? { ...scope, ...grantedScope(slice, scope), nodeId: slice.id, parentId: slice.projectId }
      : scopeOfNode(scope, nodeId),
  }));
}

const seen: Readonly<Record<CustomersSeen, SQL>> = {
  all: sql`true`,
  withSupportAccess: sql`customer.support_access`,
  none: sql`false`,
};

/** Returns the scope itself, or the scope of a project of this organization or account. */
function scopeOfNode(scope: ResolvedScope, nodeId: string): ResolvedScope {
  if (nodeId === scope.nodeId) return scope;
  const id = `${scope.nodeId}:${nodeId}`;
  const parentId = scope.nodeId;
  return {
    ...scope,
    tenant: scope.level === 'account' ? 'accountProject' : 'organizationProject',
    id,
    nodeId,
    parentId,
    projectId: nodeId,
    level: 'project',
  };
}

/** The operand of `id in`: passes any number of ids as one parameter. */
export const idsIn = (ids: readonly string[]): SQL =>
  sql`(select value::uuid from json_array_elements_text(${JSON.stringify(ids)}::text::json))`;
