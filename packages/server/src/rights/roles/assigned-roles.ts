import { sql } from 'drizzle-orm';
import { rowsOf } from '../../db/statements/rows.ts';
import { withoutRls } from '../../db/tenancy/rls.ts';
import { fail } from '../../errors.ts';
import type { Executor } from '../../kernel/scoped-db.ts';

/**
 * The number of members, invitations, connections, users, grants, keys and apps that have a role; kinds with none are
 * left out.
 */
type Assignments = Readonly<Record<string, number>>;

/**
 * Counts the assignments of each of these roles, including apps whose users get the role at sign-up. Roles without
 * assignments are absent. The counts are final only after the soft delete of a role: its row lock prevents new
 * assignments, because each assignment first takes a share lock on the role.
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

/** For example `3 users, 1 apps`, without kinds whose count is 0. */
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
