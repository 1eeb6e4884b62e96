/*
 * Sign-in for an organization (openid §12): a user signs in to an app for the organization that owns its project, or
 * for a customer with an active grant of it, if they are a member there. Users do not learn about organizations that
 * they are not members of.
 */

import { sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { rowsOf } from '../../db/statements/rows.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { LiveApp } from '../../apps/access/app.ts';

/** An organization that a user can sign in for. */
export interface AppOrganization {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  /** The project grant, whose id is that of the slice; null if the organization owns the project. */
  readonly grantId: string | null;
  /** True for the owner of the project. For a customer: whether the member has a role in the slice. */
  readonly hasRole: boolean;
  /**
   * The role that a member without a role gets by signing in. Null if there is none: such a member cannot sign in for
   * the customer.
   */
  readonly defaultRoleId: string | null;
}

/** How an app names the organization at the authorization endpoint and for a device. */
export const organizationParameter = z
  .string()
  .max(255)
  .optional()
  .meta({
    description:
      'Id or slug of the organization for which the user signs in: `access_denied` unless they are a member of it and it owns the project or has an active grant of it. Absent: their only one, or they choose.',
    examples: ['acme'],
  });

interface Row extends AppOrganization {
  /** Whether the grant allows one more user with roles. */
  readonly hasSpace: boolean;
}

/**
 * The organizations that the user may now sign in for, sorted by name. Queries only organizations of the user, so
 * neither the result nor the time depends on any other organization.
 */
export const organizationsOf = (db: Executor, app: AppPosition, userId: string): Promise<AppOrganization[]> =>
  readOrganizations(
    db,
    app,
    userId,
    sql`o.id in (select m.tenant_id from organization_members m where m.user_id = ${userId}::uuid)`,
  );

/**
 * The organization, if the user can sign in for it as a member. Does not check the membership: the user is a member, or
 * becomes one by signing in (`userId` null: there is no user yet).
 */
export async function organizationOfMember(
  db: Executor,
  app: AppPosition,
  organizationId: string,
  userId: string | null,
): Promise<AppOrganization | undefined> {
  return (await readOrganizations(db, app, userId, sql`o.id = ${organizationId}::uuid`))[0];
}

type AppPosition = Pick<LiveApp, 'tenantId' | 'owner'>;

async function readOrganizations(
  db: Executor,
  { tenantId, owner }: AppPosition,
  userId: string | null,
  which: SQL,
): Promise<AppOrganization[]> {
  const rows = await rowsOf<Row>(
    db,
    sql`select o.id, o.name, o.slug, g.id as "grantId",
      g.id is null or exists (select 1 from project_user_roles r
        where r.tenant_id = g.id and r.user_id = ${userId}::uuid) as "hasRole",
      g.default_role_id as "defaultRoleId",
      g.max_users is null or g.max_users > (select count(distinct r.user_id) from project_user_roles r
        where r.tenant_id = g.id) as "hasSpace"
    from organizations o
    join nodes n on n.id = o.id and n.deleted_at is null
    left join project_grants g on g.organization_id = o.id and g.tenant_id = ${tenantId}::uuid
      and g.status = 'active' and g.deleted_at is null
    where ${which} and o.suspended_at is null and (o.id = ${owner.id}::uuid or g.id is not null)
    order by lower(o.name), o.id`,
  );
  return rows
    .filter(({ hasRole, defaultRoleId, hasSpace }) => hasRole || (defaultRoleId !== null && hasSpace))
    .map(({ hasSpace: _, ...organization }) => organization);
}

/**
 * Puts the app into the scope of this organization: scope, node and claims of its tokens are then the organization's.
 */
export const appFor = (app: LiveApp, { id, name, grantId }: AppOrganization): LiveApp => ({
  ...app,
  scope: grantId === null ? app.scope : { tenant: 'organizationProject', id: `${id}:${app.tenantId}` },
  sliceId: grantId,
  organization: { id, name },
});

/**
 * The app in the scope of the organization that a session or code is for; the unchanged app if it is for none.
 * Undefined if the user can no longer use the app for that organization.
 */
export async function appForMember(
  db: Executor,
  app: LiveApp,
  { organizationId, userId }: { readonly organizationId: string | null; readonly userId: string },
): Promise<LiveApp | undefined> {
  if (organizationId === null) return app;
  const organizations = await organizationsOf(db, app, userId);
  const organization = organizations.find(({ id, hasRole }) => id === organizationId && hasRole);
  return organization && appFor(app, organization);
}
