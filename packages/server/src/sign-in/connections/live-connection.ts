import { sql, type SQL } from 'drizzle-orm';
import { isAddressInDomain, isDomainOf } from '../../access/credentials/company-address.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { LiveApp } from '../../apps/access/app.ts';
import type { ConnectedProvider } from '../../providers/connections.ts';

/**
 * An active connection, through which people may sign in to an app; its organization is not suspended. The app is in a
 * project of the organization, or in a project that is granted to it (`takesConnections`).
 */
export interface LiveConnection extends ConnectedProvider {
  readonly organizationId: string;
  readonly enforced: boolean;
  readonly trustMfa: boolean;
  readonly defaultRoleId: string;
  readonly defaultRoleTenantId: string;
}

type AppPosition = Pick<LiveApp, 'tenantId' | 'owner' | 'takesConnections'>;

export const connectionById = (
  db: Executor,
  app: AppPosition,
  id: string,
): Promise<LiveConnection | undefined> => liveConnection(db, app, sql`c.id = ${id}::uuid`);

/** The connection for the verified domain of the address. Subdomains do not count. */
export const connectionOfAddress = (
  db: Executor,
  app: AppPosition,
  address: string,
): Promise<LiveConnection | undefined> =>
  liveConnection(
    db,
    app,
    sql`c.id = (select b.id from organization_domains d
      join organization_connections b on ${isDomainOf('b')} and b.deleted_at is null
      where d.domain = ${domainOf(address)})`,
  );

/** Whether the provider may vouch for this address. */
export async function vouchesFor(
  db: Executor,
  { id }: Pick<LiveConnection, 'id'>,
  address: string,
): Promise<boolean> {
  const [row] = await rowsOf<{ vouches: boolean }>(
    db,
    sql`select exists (select 1 from organization_connections c join organization_domains d on ${isDomainOf('c')}
      where c.id = ${id}::uuid and d.domain = ${domainOf(address)}) as vouches`,
  );
  return row?.vouches ?? false;
}

/**
 * The connection that the organization requires this user to sign in through; undefined unless the user has a verified
 * address in one of its domains.
 */
export const requiredConnection = (
  db: Executor,
  app: AppPosition,
  organizationId: string,
  userId: string,
): Promise<LiveConnection | undefined> =>
  liveConnection(
    db,
    app,
    sql`c.tenant_id = ${organizationId}::uuid and c.enforced and exists (select 1 from organization_domains d
      join authentication_methods m on m.user_id = ${userId}::uuid and ${isAddressInDomain}
      where ${isDomainOf('c')})`,
  );

/** Whether the app has any connection, so that its page asks for the address first. */
export async function hasConnections(db: Executor, app: AppPosition): Promise<boolean> {
  return (await liveConnection(db, app, sql`true`)) !== undefined;
}

export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1);

async function liveConnection(
  db: Executor,
  app: AppPosition,
  which: SQL,
): Promise<LiveConnection | undefined> {
  if (app.takesConnections === 'none') return undefined;
  const counts =
    app.takesConnections === 'all'
      ? sql`true`
      : // Begins with the relevant organizations, so that PostgreSQL does not read every connection.
        sql`c.tenant_id in (select ${app.owner.id}::uuid union all select g.organization_id from project_grants g
          where g.tenant_id = ${app.tenantId}::uuid and g.status = 'active' and g.deleted_at is null)`;
  const [row] = await rowsOf<LiveConnection>(
    db,
    sql`select c.id, c.tenant_id as "organizationId", c.name, c.issuer, c.client_id as "clientId",
        c.sealed_secret as "sealedSecret", c.scopes, c.just_in_time as "justInTime", c.enforced,
        c.trust_mfa as "trustMfa", c.default_role_id as "defaultRoleId",
        c.default_role_tenant_id as "defaultRoleTenantId"
      from organization_connections c
      join nodes n on n.id = c.tenant_id and n.deleted_at is null
      join organizations o on o.id = c.tenant_id and o.suspended_at is null
      where c.status = 'active' and c.deleted_at is null and ${counts} and ${which} limit 1`,
  );
  return row;
}
