import { sql } from 'drizzle-orm';
import { rowsOf } from '../../db/rows.ts';
import { withoutRls } from '../../db/rls.ts';
import { fail } from '../../errors.ts';
import type { Executor } from '../../kernel/scoped-db.ts';

/**
 * A role that someone wears, or gets by signing up to an app, cannot go (409 IN_USE). Asked after the soft delete,
 * whose row lock keeps new wearers out: whoever gives a role takes a share lock on its row first.
 */
export async function assertNotWorn(tx: Executor, roleId: string, now: Date): Promise<void> {
  // Keys of projects may wear a role of their owner.
  const rows = await withoutRls(tx, () =>
    rowsOf<Record<string, number>>(
      tx,
      sql`
      select (select count(*)::int from organization_members where role_id = ${roleId}::uuid) as members,
        (select count(*)::int from organization_invitations where role_id = ${roleId}::uuid
          and status = 'pending' and expires_at > ${now.toISOString()}::timestamptz and deleted_at is null) as invitations,
        (select count(*)::int from project_user_roles where role_id = ${roleId}::uuid) as users,
        (select count(*)::int from api_keys where role_id = ${roleId}::uuid and deleted_at is null) as keys,
        (select count(*)::int from project_apps where sign_up_role_id = ${roleId}::uuid and deleted_at is null) as apps`,
    ),
  );
  const worn = Object.entries(rows[0] ?? {}).filter(([, count]) => count > 0);
  if (worn.length === 0) return;
  throw fail('IN_USE', {
    details: worn.map(([path]) => ({ path, code: 'in_use' as const })),
    fix: `Take the role away first: ${worn.map(([what, count]) => `${count} ${what}`).join(', ')}.`,
  });
}
