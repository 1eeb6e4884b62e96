import { sql, type SQL } from 'drizzle-orm';
import { rowsOf } from '../db/rows.ts';
import type { ResolvedScope } from '../kernel/scope.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { MOST_REACHED } from './impact.ts';

/**
 * Whose rights a change can reach, and where: whoever wears a role that leads to the changed row, and whoever the change
 * itself named. A member of an organization is reached in all of its projects too, a user by his own keys there.
 */
export interface Reached {
  readonly type: 'user' | 'apiKey';
  readonly id: string;
  /** Himself, or the user of the key. */
  readonly userId: string;
  readonly scope: ResolvedScope;
}

/** What was changed. */
export interface Changed {
  /** The noun and id of the row, if the call named one. */
  readonly noun: string | undefined;
  readonly id: string | undefined;
  /** Users and keys whose standing the change touched. */
  readonly userIds: readonly string[];
  readonly keyIds: readonly string[];
}

/** Roles that hold what a row stands for. */
const rolesLeadingTo: Readonly<Record<string, (id: string) => SQL>> = {
  Role: (id) => sql`select ${id}::uuid`,
  Group: (id) => sql`select role_id from role_groups where group_id = ${id}::uuid`,
  Permission: (id) => sql`
    select rg.role_id from group_permissions gp join role_groups rg on rg.group_id = gp.group_id
    where gp.permission_id = ${id}::uuid`,
};

/**
 * At most `MOST_REACHED` and one more, which tells that there are others: those of the scope first, then project by
 * project. To be asked after the change, which knows whom it touched; it leaves all who wear a role it changed.
 */
export async function reachOf(
  tx: Executor,
  scope: ResolvedScope,
  { noun = '', id = '', userIds, keyIds }: Changed,
): Promise<Reached[]> {
  const leading = rolesLeadingTo[noun]?.(id);
  if (!leading && userIds.length + keyIds.length === 0) return [];
  const most = MOST_REACHED + 1;
  const rows = await rowsOf<Omit<Reached, 'scope'> & { nodeId: string }>(
    tx,
    sql`
    with holding(role_id) as (${leading ?? sql`select null::uuid`}),
    places as (select n.id from nodes n
      where n.id = ${scope.nodeId}::uuid
        or n.parent_id = ${scope.nodeId}::uuid and n.kind = 'project' and n.deleted_at is null
      order by n.id <> ${scope.nodeId}::uuid, n.id limit ${most}),
    people as (select user_id from (
        select m.user_id from organization_members m
          where m.tenant_id = ${scope.nodeId}::uuid and m.role_id in (select role_id from holding)
        union select p.user_id from project_user_roles p
          where p.tenant_id = ${scope.nodeId}::uuid and p.role_id in (select role_id from holding)
        union select id from users where id in ${listed(userIds)}) one
      order by user_id limit ${most})
    select type, id, user_id as "userId", node_id as "nodeId" from (
      select 'user' as type, people.user_id as id, people.user_id, places.id as node_id
        from people cross join places
      union all
      select 'apiKey', k.id, k.user_id, k.tenant_id from api_keys k
        where k.tenant_id in (select id from places) and (k.id in ${listed(keyIds)}
          or k.deleted_at is null and k.revoked_at is null and (k.role_id in (select role_id from holding)
            or k.user_id in (select user_id from people)))) reached
    order by node_id <> ${scope.nodeId}::uuid, node_id, type, id limit ${most}`,
  );
  return rows.map(({ nodeId, ...one }) => ({ ...one, scope: placeIn(scope, nodeId) }));
}

/** The scope itself, or a project of the organization that it is. */
function placeIn(scope: ResolvedScope, nodeId: string): ResolvedScope {
  if (nodeId === scope.nodeId) return scope;
  const id = `${scope.nodeId}:${nodeId}`;
  const parentId = scope.nodeId;
  return {
    ...scope,
    tenant: 'organizationProject',
    id,
    nodeId,
    parentId,
    projectId: nodeId,
    level: 'project',
  };
}

/** For `id in`: any number of ids as one parameter. */
export const listed = (ids: readonly string[]): SQL =>
  sql`(select value::uuid from json_array_elements_text(${JSON.stringify(ids)}::text::json))`;
