import { sql } from 'drizzle-orm';
import { rowsOf } from '../../db/query/rows.ts';
import { withoutRls } from '../../db/tenancy/rls.ts';
import { fail } from '../../errors.ts';
import type { Executor } from '../../kernel/scoped-db.ts';

/**
 * A role that is assigned, or that an app grants on sign-up, cannot be deleted. Call it after the soft delete, whose row
 * lock prevents new assignments: each of them first takes a share lock on the role. @throws IN_USE
 */
export async function assertUnassigned(tx: Executor, roleId: string, now: Date): Promise<void> {
  // A key of a project may have a role of the organization, so assignments are counted across tenants.
  const rows = await withoutRls(tx, () =>
    rowsOf<Record<string, number>>(
      tx,
      sql`
      select (select count(*)::int from organization_members where role_id = ${roleId}::uuid) as members,
        (select count(*)::int from organization_invitations where role_id = ${roleId}::uuid
          and status = 'pending' and expires_at > ${now.toISOString()}::timestamptz and deleted_at is null) as invitations,
        (select count(*)::int from project_user_roles where role_id = ${roleId}::uuid) as users,
        (select count(*)::int from project_grant_roles r join project_grants g on g.id = r.project_grant_id
          where r.role_id = ${roleId}::uuid and g.deleted_at is null
            and (g.status in ('active', 'suspended') or g.status = 'pending' and g.expires_at > ${now.toISOString()}::timestamptz)) as grants,
        (select count(*)::int from api_keys where role_id = ${roleId}::uuid and deleted_at is null) as keys,
        (select count(*)::int from project_apps where sign_up_role_id = ${roleId}::uuid and deleted_at is null) as apps`,
    ),
  );
  const assignments = Object.entries(rows[0] ?? {}).filter(([, count]) => count > 0);
  if (assignments.length === 0) return;
  throw fail('IN_USE', {
    details: assignments.map(([path]) => ({ path, code: 'in_use' as const })),
    fix: `Remove the role first from: ${assignments.map(([path, count]) => `${count} ${path}`).join(', ')}.`,
  });
}
