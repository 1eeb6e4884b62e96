import { sql } from 'drizzle-orm';
import type { Target } from '@doorward/decision/evaluate';
import { OLDEST_OPEN } from '../../db/cache/change-channel.ts';
import { preparedRowsOf } from '../../db/statements/prepared.ts';
import { anyOf } from '../../db/statements/rows.ts';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import { usersNodeOf, type ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { ACCOUNT_OWNER } from '../../schema/rights/built-in-ids.ts';
import { hasEffect } from '../grants/grants.ts';
import { isGranting, rolePermissions } from '../grants/role-permissions.ts';

/** Users with a role that grants the resource and action, and the database state in which they were read. */
interface Holders {
  /** Sorted by id. */
  readonly userIds: readonly string[];
  /** Every transaction with a lower number was visible to the read. */
  readonly below: number;
}

const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Finds users of the scope who hold the resource and action at all: through a role in the project, through the role of
 * their membership in the scope's organization, as the owner of the account, or as one of its service users. Whether a
 * user may act, and whether a condition is met, is decided elsewhere.
 */
export async function findHolders(
  tx: Executor,
  scope: ResolvedScope,
  target: Target,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<Holders> {
  const { nodeId, parentId, organizationId } = scope;
  const { management, resource, action } = target;
  const isEffective = hasEffect({ managementPlane: management, resource, action }, scope);
  const accountId = organizationId === null ? scope.accountId : null;
  const definers = scope.grant ? [scope.grant.projectId, organizationId] : [nodeId, parentId];
  const tenants = anyOf([SYSTEM_NODE, ...definers.filter((id) => id !== null)]);
  const next = sql`${after ?? LOWEST_ID}::uuid`;
  // A literal, as in lists, because PostgreSQL cannot plan well for an unknown limit. Each subquery stops at it.
  const first = sql.raw(`limit ${limit}`);
  const [row] = await preparedRowsOf<Holders>(
    tx,
    sql`
    with granting as materialized (
      select distinct r.id from ${rolePermissions}
      join resources s on s.id = p.resource_id and ${isGranting.resource}
      where ${isEffective}::boolean and s.slug = ${resource} and s.is_system = ${management}
        and lower(p.action) = ${action} and s.tenant_id = ${tenants} and p.tenant_id = ${tenants}
        and gp.tenant_id = ${tenants} and rg.tenant_id = ${tenants}),
    holders as (
      (select m.user_id from organization_members m where m.tenant_id = ${organizationId}::uuid
        and m.user_id > ${next} and m.role_id in (select id from granting) order by m.user_id ${first})
      union (select distinct u.user_id from project_user_roles u where u.tenant_id = ${usersNodeOf(scope)}::uuid
        and u.user_id > ${next} and u.role_id in (select id from granting) order by u.user_id ${first})
      union select a.owner_id from accounts a where a.id = ${accountId}::uuid
        and a.owner_id > ${next} and ${ACCOUNT_OWNER}::uuid in (select id from granting)
      union (select s.user_id from account_service_users s where s.tenant_id = ${accountId}::uuid
        and s.user_id > ${next} and s.role_id in (select id from granting) order by s.user_id ${first}))
    select (${sql.raw(OLDEST_OPEN)}::text)::float8 as below, coalesce((select json_agg(user_id order by user_id)
      from (select user_id from holders order by user_id ${first}) firsts), '[]'::json) as "userIds"`,
  );
  return row as Holders;
}
