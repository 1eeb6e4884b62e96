import { sql } from 'drizzle-orm';
import { preparedRowsOf } from '../db/statements/prepared.ts';
import {
  canonicalTenant,
  INSTALLATION_ID,
  type GrantFeature,
  type ResolvedScope,
  type ScopeInput,
} from '../kernel/scope.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { isDomainOf, isEnforced } from './credentials/company-address.ts';

interface NodeRow {
  id: string;
  kind: 'account' | 'organization' | 'project';
  parent_id: string | null;
  parent_kind: 'account' | 'organization' | null;
  grandparent_id: string | null;
  account_type: 'personal' | 'organization' | null;
  require_mfa: boolean | null;
  support_access: boolean | null;
  suspended: boolean | null;
  user_in_project: boolean | null;
  organization_metadata: Record<string, unknown> | null;
  enforced_domains: readonly string[];
}

interface GrantRow {
  id: string;
  organization_id: string;
  account_id: string | null;
  project_id: string;
  owner_id: string;
  owner_kind: 'account' | 'organization';
  features: GrantFeature[];
  max_users: number | null;
  metadata: Record<string, unknown>;
  require_mfa: boolean;
  support_access: boolean;
  enforced_domains: readonly string[];
}

/**
 * SQL for the domains whose addresses may enter the organization only through its own provider. `id` is an SQL
 * expression.
 */
const enforcedDomains = (id: string) =>
  sql`array(select d.domain from organization_connections c join organization_domains d on ${isDomainOf('c')}
    where c.tenant_id = ${sql.raw(id)} and ${isEnforced})`;

/** Loads the scope `{tenant, id}`, with the topics that make it stale; null if it does not exist. */
export async function loadScope(
  db: Executor,
  scope: ScopeInput,
): Promise<{ value: ResolvedScope; topics: string[] } | null> {
  const tenant = canonicalTenant(scope.tenant);
  if (tenant === 'installation') return installationScope(scope.id);
  const [first = '', second = null] = scope.id.split(':');
  const single = tenant === 'account' || tenant === 'organization';
  const nodeId = single ? first : tenant === 'projectUser' ? first : second;
  const ownerId = tenant === 'accountProject' || tenant === 'organizationProject' ? first : null;
  const userId = tenant === 'projectUser' ? second : null;
  // Omits unused predicates, because PostgreSQL plans a statement again if its parameters decide which predicates
  // apply.
  const userInProject =
    userId === null
      ? sql`true`
      : sql`exists (select 1 from users u where u.id = ${userId}::uuid and u.deleted_at is null and (
        exists (select 1 from project_users p where p.tenant_id = n.id and p.user_id = u.id)
        or exists (select 1 from organization_members m where m.tenant_id = o.id and m.user_id = u.id)
        or exists (select 1 from account_service_users s where s.tenant_id = o.id and s.user_id = u.id)
        or exists (select 1 from accounts a where a.id = o.id and a.owner_id = u.id)))`;
  const rows = await preparedRowsOf<NodeRow>(
    db,
    sql`
    select n.id, n.kind, n.parent_id, o.kind as parent_kind, o.parent_id as grandparent_id,
      (select a.type from accounts a where a.id = coalesce(case when n.kind = 'account' then n.id end, o.id)) as account_type,
      (select g.require_mfa_for_sensitive_actions from organizations g
        where g.id = case when n.kind = 'organization' then n.id else o.id end) as require_mfa,
      (select g.support_access from organizations g
        where g.id = case when n.kind = 'organization' then n.id else o.id end) as support_access,
      (select g.suspended_at is not null from organizations g
        where g.id = case when n.kind = 'organization' then n.id else o.id end) as suspended,
      (select g.metadata from organizations g
        where g.id = case when n.kind = 'organization' then n.id else o.id end) as organization_metadata,
      ${enforcedDomains(`case when n.kind = 'organization' then n.id else o.id end`)} as enforced_domains,
      ${userInProject} as user_in_project
    from nodes n left join nodes o on o.id = n.parent_id
    where n.id = ${nodeId}::uuid and n.deleted_at is null
      -- An organization may outlive the account that founded it.
      and (n.kind = 'organization' or o.id is null or o.deleted_at is null)
      ${ownerId === null ? undefined : sql`and n.parent_id = ${ownerId}::uuid`}`,
  );
  const [node] = rows;
  if (!node && tenant === 'organizationProject')
    return loadGrantedScope(db, scope.id, first, nodeId as string);
  if (!node || !matchesTenant(tenant, node)) return null;
  const project = node.kind === 'project';
  const owner = project ? node.parent_id : node.id;
  const ownerKind = project ? node.parent_kind : node.kind;
  const value: ResolvedScope = {
    tenant,
    id: scope.id,
    nodeId: node.id,
    parentId: node.parent_id,
    rootId: node.grandparent_id ?? node.parent_id ?? node.id,
    accountId: ownerKind === 'account' ? owner : null,
    organizationId: ownerKind === 'organization' ? owner : null,
    projectId: project ? node.id : null,
    userId,
    grant: null,
    organizationMetadata: node.organization_metadata,
    userInProject: node.user_in_project ?? true,
    level: node.kind,
    accountType: node.account_type,
    requireMfa: node.require_mfa ?? false,
    supportAccess: node.support_access ?? true,
    isSuspended: node.suspended ?? false,
    enforcedDomains: node.enforced_domains,
  };
  return { value, topics: scopeTopics(value) };
}

/** The scope of the installation, which always exists and has a single id. */
function installationScope(id: string): { value: ResolvedScope; topics: string[] } | null {
  if (id !== INSTALLATION_ID) return null;
  const value: ResolvedScope = {
    tenant: 'installation',
    id,
    nodeId: id,
    parentId: null,
    rootId: id,
    accountId: null,
    organizationId: null,
    projectId: null,
    userId: null,
    userInProject: true,
    level: 'installation',
    accountType: null,
    requireMfa: false,
    supportAccess: false,
    isSuspended: false,
    enforcedDomains: [],
    grant: null,
    organizationMetadata: null,
  };
  return { value, topics: scopeTopics(value) };
}

/**
 * Loads the scope `<organization>:<project>` of an active grant. The project and both organizations must exist, and
 * neither side may be suspended.
 */
async function loadGrantedScope(
  db: Executor,
  id: string,
  organizationId: string,
  projectId: string,
): Promise<{ value: ResolvedScope; topics: string[] } | null> {
  const [row] = await preparedRowsOf<GrantRow>(
    db,
    sql`
    select pg.id, pg.organization_id, customer.parent_id as account_id, n.id as project_id, o.id as owner_id,
      o.kind as owner_kind, pg.features, pg.max_users, pg.metadata, g.require_mfa_for_sensitive_actions as require_mfa,
      g.support_access, ${enforcedDomains('pg.organization_id')} as enforced_domains
    from project_grants pg
    join nodes slice on slice.id = pg.id and slice.deleted_at is null
    join nodes n on n.id = pg.tenant_id and n.kind = 'project' and n.deleted_at is null
    join nodes o on o.id = n.parent_id and o.deleted_at is null
    join nodes customer on customer.id = pg.organization_id and customer.deleted_at is null
    join organizations g on g.id = pg.organization_id and g.suspended_at is null
    left join organizations owner on owner.id = o.id
    where pg.tenant_id = ${projectId}::uuid and pg.organization_id = ${organizationId}::uuid
      and pg.status = 'active' and pg.deleted_at is null and owner.suspended_at is null`,
  );
  if (!row) return null;
  const value: ResolvedScope = {
    tenant: 'organizationProject',
    id,
    nodeId: row.id,
    parentId: row.project_id,
    rootId: row.account_id ?? row.organization_id,
    accountId: null,
    organizationId: row.organization_id,
    projectId: row.project_id,
    userId: null,
    grant: {
      id: row.id,
      projectId: row.project_id,
      projectScope: { tenant: `${row.owner_kind}Project`, id: `${row.owner_id}:${row.project_id}` },
      features: row.features,
      maxUsers: row.max_users,
    },
    organizationMetadata: row.metadata,
    userInProject: true,
    level: 'project',
    accountType: null,
    requireMfa: row.require_mfa,
    enforcedDomains: row.enforced_domains,
    supportAccess: row.support_access,
    isSuspended: false,
  };
  return { value, topics: [...scopeTopics(value), `node:${row.owner_id}`] };
}

function matchesTenant(tenant: ResolvedScope['tenant'], node: NodeRow): boolean {
  switch (tenant) {
    case 'account':
    case 'organization':
      return node.kind === tenant;
    case 'accountProject':
      return node.kind === 'project' && node.parent_kind === 'account';
    case 'organizationProject':
      return node.kind === 'project' && node.parent_kind === 'organization';
    case 'projectUser':
      return node.kind === 'project';
    case 'installation':
      return false;
  }
}

/** The topics of changes that may change a resolved scope. */
export const scopeTopics = (scope: ResolvedScope): string[] => [
  `node:${scope.nodeId}`,
  ...(scope.parentId ? [`node:${scope.parentId}`] : []),
  ...(scope.grant ? [`node:${scope.organizationId}`] : []),
  ...(scope.userId ? [`user:${scope.userId}`] : []),
];
