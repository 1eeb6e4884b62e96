import { sql, type SQL } from 'drizzle-orm';
import { rowsOf } from '../../src/db/statements/rows.ts';
import type { TestApp } from '../support/app/app.ts';

/**
 * The permissions of every user, computed independently and as simply as possible: reads every row of every table and
 * follows the links. It shares only the tables with the service.
 */
export interface Tenant {
  readonly organizationId: string;
  readonly projectId: string;
}

/** `organization|project`, then `plane resource:action condition`; by user. */
export type HeldPermissions = ReadonlyMap<
  string,
  { readonly organization: Set<string>; readonly project: Set<string> }
>;

interface Link {
  readonly a: string;
  readonly b: string;
}

const organizationNouns = new Set([
  'Organization',
  'OrganizationInvitation',
  'OrganizationDomain',
  'OrganizationConnection',
  'OrganizationMember',
]);

export async function permissionsHeld(
  app: TestApp,
  { organizationId, projectId }: Tenant,
): Promise<HeldPermissions> {
  const { pool } = app.database;
  const links = (query: SQL) => rowsOf<Link>(pool, query);
  const live = new Set(
    (
      await rowsOf<{ id: string }>(
        pool,
        sql`
        select id from roles where deleted_at is null union all select id from groups where deleted_at is null`,
      )
    ).map(({ id }) => id),
  );
  const permissions = new Map(
    (
      await rowsOf<{ id: string; slug: string; action: string; built_in: boolean; condition: unknown }>(
        pool,
        sql`
        select p.id, r.slug, p.action, r.is_system as built_in, p.condition
        from permissions p join resources r on r.id = p.resource_id
        where p.deleted_at is null and r.deleted_at is null and r.is_active`,
      )
    ).map((row) => [row.id, row] as const),
  );
  const groupsOf = follow(await links(sql`select role_id as a, group_id as b from role_groups`));
  const permissionsOf = follow(
    await links(sql`select group_id as a, permission_id as b from group_permissions`),
  );
  const ofRole = (roleId: string, inProject: boolean): string[] =>
    (live.has(roleId) ? groupsOf(roleId) : [])
      .filter((groupId) => live.has(groupId))
      .flatMap(permissionsOf)
      .flatMap((id) => permissions.get(id) ?? [])
      .filter(({ slug, built_in }) => !(inProject && built_in && organizationNouns.has(slug)))
      .map(
        ({ slug, action, built_in, condition }) =>
          `${built_in ? 'management' : 'project'} ${slug}:${action} ${condition ? JSON.stringify(condition) : 'always'}`,
      );
  const members = await links(
    sql`select user_id as a, role_id as b from organization_members where tenant_id = ${organizationId}::uuid`,
  );
  const participants = await links(
    sql`select user_id as a, role_id as b from project_user_roles where tenant_id = ${projectId}::uuid`,
  );
  const users = new Set([...members, ...participants].map(({ a }) => a));
  return new Map(
    [...users].map((userId) => {
      const own = (rows: readonly Link[]) => rows.filter(({ a }) => a === userId).map(({ b }) => b);
      return [
        userId,
        {
          organization: new Set(own(members).flatMap((role) => ofRole(role, false))),
          project: new Set([...own(members), ...own(participants)].flatMap((role) => ofRole(role, true))),
        },
      ];
    }),
  );
}

function follow(rows: readonly Link[]): (from: string) => string[] {
  const to = new Map<string, string[]>();
  for (const { a, b } of rows) to.set(a, [...(to.get(a) ?? []), b]);
  return (from) => to.get(from) ?? [];
}
