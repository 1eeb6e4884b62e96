import { sql } from 'drizzle-orm';
import { rowsOf } from '../../db/statements/rows.ts';
import { withoutRls } from '../../db/tenancy/rls.ts';
import { fail } from '../../errors.ts';
import type { Executor } from '../../kernel/scoped-db.ts';

/**
 * How many members, invitations, connections, users, grants, keys and apps have a role; those that have none are left
 * out.
 */
type Assignments = Readonly<Record<string, number>>;

/**
 * Counts who has each of these roles, or gets it at the sign-up of an app; roles without assignments are absent. Call
 * it after the soft delete, whose row lock prevents new assignments: each of them first takes a share lock on the
 * role.
 */
export async function assignmentsOf(
  tx: Executor,
  roleIds: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, Assignments>> {
  if (roleIds.length === 0) return new Map();
  const at = sql`${now.toISOString()}::timestamptz`;
  // A key of a project may have a role of the organization, so assignments are counted across tenants.
  const rows = await withoutRls(tx, () =>
    rowsOf<{ id: string; kind: string; count: number }>(
      tx,
      sql`
      with asked(id) as (select unnest(${`{${roleIds.join()}}`}::uuid[]))
      select role_id as id, kind, count(*)::int as count from (
        select role_id, 'members' as kind from organization_members where role_id in (select id from asked)
        union all select role_id, 'invitations' from organization_invitations where role_id in (select id from asked)
          and status = 'pending' and expires_at > ${at} and deleted_at is null
        union all select default_role_id, 'connections' from organization_connections
          where default_role_id in (select id from asked) and deleted_at is null
        union all select role_id, 'users' from project_user_roles where role_id in (select id from asked)
        union all select r.role_id, 'grants' from project_grant_roles r join project_grants g on g.id = r.project_grant_id
          where r.role_id in (select id from asked) and g.deleted_at is null
            and (g.status in ('active', 'suspended') or g.status = 'pending' and g.expires_at > ${at})
        union all select role_id, 'keys' from api_keys where role_id in (select id from asked) and deleted_at is null
        union all select sign_up_role_id, 'apps' from project_apps
          where sign_up_role_id in (select id from asked) and deleted_at is null) assigned
      group by role_id, kind order by role_id, kind`,
    ),
  );
  const byRole = new Map<string, Record<string, number>>();
  for (const { id, kind, count } of rows) byRole.set(id, { ...byRole.get(id), [kind]: count });
  return byRole;
}

/** `3 users, 1 apps`, without kinds that have none. */
export const countsText = (assignments: Assignments): string =>
  Object.entries(assignments)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ');

/** Asserts that the role is not assigned, so that it can be deleted. @throws IN_USE */
export async function assertUnassigned(tx: Executor, roleId: string, now: Date): Promise<void> {
  const assignments = (await assignmentsOf(tx, [roleId], now)).get(roleId) ?? {};
  const kinds = Object.keys(assignments);
  if (kinds.length === 0) return;
  throw fail('IN_USE', {
    details: kinds.map((path) => ({ path, code: 'in_use' as const })),
    fix: `Remove the role first from: ${countsText(assignments)}.`,
  });
}
