import { and, desc, eq, getTableColumns, type SQL } from 'drizzle-orm';
import { appGrants } from '../../schema/oauth/app-grant.ts';
import { organizations } from '../../schema/tenants/organization.ts';
import { projectApps } from '../../schema/apps/project-app.ts';
import { projects } from '../../schema/tenants/project.ts';
import type { Services } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { LiveApp } from './app.ts';
import type { OpenidScope } from '../../schema/apps/openid-scope.ts';

/*
 * Consent of users to apps (openid §6). A user is asked once, and again only for scopes without consent.
 */

interface Consent {
  /** Permissions; null if the app is not restricted. */
  readonly scopes: readonly string[] | null;
  readonly openidScopes: readonly OpenidScope[];
}

/** The scopes of an app that names no scopes of OpenID: it gets these claims from userinfo, and a refresh token. */
const withoutOpenid: readonly OpenidScope[] = ['profile', 'email', 'offline_access'];

/** Returns the consent that a request needs. `openid`: the scopes of OpenID that it names; absent: none. */
export const consentFor = (
  scopes: readonly string[] | null,
  openid: readonly OpenidScope[] | undefined,
): Consent => ({ scopes, openidScopes: openid ?? withoutOpenid });

/**
 * Whether the user's stored consent covers all of this. Consent to an unrestricted app does not cover permissions that
 * the app later requests by name, because these can belong to the management plane.
 */
export async function hasConsented(
  db: Executor,
  app: Pick<LiveApp, 'id'>,
  userId: string,
  { scopes, openidScopes }: Consent,
): Promise<boolean> {
  const [grant] = await db.select().from(appGrants).where(isGrant(app, userId));
  if (!grant) return false;
  return (
    (scopes === null ? grant.unrestricted : scopes.every((scope) => grant.scopes.includes(scope))) &&
    openidScopes.every((scope) => grant.openidScopes.includes(scope))
  );
}

/** Whether the user has consented to anything that this app requested. */
export async function hasAnyConsent(
  db: Executor,
  app: Pick<LiveApp, 'id'>,
  userId: string,
): Promise<boolean> {
  const rows = await db.select({ id: appGrants.id }).from(appGrants).where(isGrant(app, userId));
  return rows.length > 0;
}

const isGrant = ({ id }: Pick<LiveApp, 'id'>, userId: string) =>
  and(eq(appGrants.userId, userId), eq(appGrants.projectAppId, id));

/** Adds to the user's stored consent. The caller must hold the lock on the user's row. */
export async function rememberConsent(
  tx: Executor,
  { ids, clock }: Pick<Services, 'ids' | 'clock'>,
  app: Pick<LiveApp, 'id'>,
  userId: string,
  { scopes, openidScopes }: Consent,
): Promise<void> {
  const [before] = await tx.select().from(appGrants).where(isGrant(app, userId));
  const now = clock.now();
  const after = {
    unrestricted: scopes === null || (before?.unrestricted ?? false),
    scopes: [...new Set([...(before?.scopes ?? []), ...(scopes ?? [])])],
    openidScopes: [...new Set([...(before?.openidScopes ?? []), ...openidScopes])],
    updatedAt: now,
  };
  if (before) await tx.update(appGrants).set(after).where(eq(appGrants.id, before.id));
  else {
    const row = { ...after, id: ids.next(), userId, projectAppId: app.id, createdAt: now };
    await tx.insert(appGrants).values(row);
  }
}

/** Returns the grants with the names of their apps, projects and organizations, newest first. */
export const loadGrants = (db: Executor, which: SQL) =>
  db
    .select({
      ...getTableColumns(appGrants),
      appName: projectApps.name,
      homepageUrl: projectApps.homepageUrl,
      projectName: projects.name,
      organizationName: organizations.name,
    })
    .from(appGrants)
    .innerJoin(projectApps, eq(projectApps.id, appGrants.projectAppId))
    .innerJoin(projects, eq(projects.id, projectApps.tenantId))
    .leftJoin(organizations, eq(organizations.id, projects.ownerId))
    .where(which)
    .orderBy(desc(appGrants.createdAt), desc(appGrants.id));
