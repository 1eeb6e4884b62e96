import { sql } from 'drizzle-orm';
import { preparedRowsOf } from '../db/prepared.ts';
import { createFreshCache } from '../db/fresh-cache.ts';
import type { Changes } from '../db/changes.ts';
import type { CallerRights, Principal } from '../kernel/context.ts';
import type { Found } from '../kernel/stages.ts';
import type { BuiltIns } from './built-in.ts';
import { createHoldings } from './holdings.ts';
import { canonicalTenant, type ResolvedScope, type ScopeInput } from '../kernel/scope.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { indexPermissions, onlyManagement, preliminary, type Grants } from './evaluate.ts';
import { emptyGrants, loadStanding, nobody, rolesOf, scopeAttributes, type Standing } from './grants.ts';

/**
 * The one resolver: a caller and `{tenant, id}` become one existing scope and the rights that the caller has
 * there. A composite scope is looked up as a pair, so a project under a foreign owner does not exist. Both
 * results are kept while nothing that they were read from changes.
 */

declare module '../kernel/context.ts' {
  interface CallerRights {
    readonly grants: Grants;
    readonly standing: Standing;
    /** A project-level key's own role, from which its default for new keys comes. */
    readonly keyRoleId: string | null;
  }
}

export interface Resolver {
  /** The answer of `resolve` from memory; undefined when it, or the rights of `userId`, must be loaded. */
  peek(principal: Principal, scope: ScopeInput, userId?: string): Found | null | undefined;
  /** Null when the scope does not exist, or the caller's token is pinned to another project. */
  resolve(principal: Principal, scope: ScopeInput): Promise<Found | null> | Found | null;
  /** A scope as it is for nobody in particular, for operations that have no caller or no scope of their own. */
  scopeOf(scope: ScopeInput, db?: Executor): Promise<ResolvedScope | null>;
  /** Rights of another user in a scope, for questions about him; inside a transaction, by that transaction. */
  rightsOfUser(scope: ResolvedScope, userId: string, tx?: Executor): Promise<CallerRights> | CallerRights;
}

interface NodeRow {
  id: string;
  kind: 'account' | 'organization' | 'project';
  parent_id: string | null;
  parent_kind: 'account' | 'organization' | null;
  account_type: 'personal' | 'organization' | null;
  require_mfa: boolean | null;
  user_in_project: boolean | null;
}

const RIGHTS_BYTES = 32 * 1024 * 1024;
/** Of rights besides what they share and what is said of their user, which is his tenants' choice. */
const BASE_BYTES = 2000;

export function createResolver(pool: Executor, changes: Changes, builtIns: BuiltIns): Resolver {
  const { nouns } = builtIns;
  const holdings = createHoldings(pool, changes, builtIns);
  const scopes = createFreshCache<ResolvedScope>(changes, 20_000);
  const rights = createFreshCache<CallerRights>(changes, 20_000, {
    most: RIGHTS_BYTES,
    own: ({ standing, grants }) =>
      BASE_BYTES + 8 * JSON.stringify([standing.user?.metadata, ...(grants.consented ?? [])]).length,
    shared({ grants, projectGrants }) {
      const { held } = projectGrants ?? grants;
      return [held, holdings.bytesOf(held)];
    },
  });

  async function loadScope(
    scope: ScopeInput,
    db: Executor = pool,
  ): Promise<{ value: ResolvedScope; topics: string[] } | null> {
    const tenant = canonicalTenant(scope.tenant);
    const [first = '', second = null] = scope.id.split(':');
    const single = tenant === 'account' || tenant === 'organization';
    const nodeId = single ? first : tenant === 'projectUser' ? first : second;
    const ownerId = tenant === 'accountProject' || tenant === 'organizationProject' ? first : null;
    const userId = tenant === 'projectUser' ? second : null;
    // What is not asked for stands in no statement: one whose parameters decide what it looks for is planned each time.
    const userInProject =
      userId === null
        ? sql`true`
        : sql`exists (select 1 from users u where u.id = ${userId}::uuid and u.deleted_at is null and (
          exists (select 1 from project_users p where p.tenant_id = n.id and p.user_id = u.id)
          or exists (select 1 from organization_members m where m.tenant_id = o.id and m.user_id = u.id)
          or exists (select 1 from accounts a where a.id = o.id and a.owner_id = u.id)))`;
    const rows = await preparedRowsOf<NodeRow>(
      db,
      sql`
      select n.id, n.kind, n.parent_id, o.kind as parent_kind,
        (select a.type from accounts a where a.id = coalesce(case when n.kind = 'account' then n.id end, o.id)) as account_type,
        (select g.require_mfa_for_sensitive_actions from organizations g
          where g.id = case when n.kind = 'organization' then n.id else o.id end) as require_mfa,
        ${userInProject} as user_in_project
      from nodes n left join nodes o on o.id = n.parent_id
      where n.id = ${nodeId}::uuid and n.deleted_at is null
        -- An organization may outlive the account that founded it.
        and (n.kind = 'organization' or o.id is null or o.deleted_at is null)
        ${ownerId === null ? undefined : sql`and n.parent_id = ${ownerId}::uuid`}`,
    );
    const [node] = rows;
    if (!node || !belongs(tenant, node)) return null;
    const project = node.kind === 'project';
    const owner = project ? node.parent_id : node.id;
    const ownerKind = project ? node.parent_kind : node.kind;
    const value: ResolvedScope = {
      tenant,
      id: scope.id,
      nodeId: node.id,
      parentId: node.parent_id,
      accountId: ownerKind === 'account' ? owner : null,
      organizationId: ownerKind === 'organization' ? owner : null,
      projectId: project ? node.id : null,
      userId,
      userInProject: node.user_in_project ?? true,
      level: node.kind,
      accountType: node.account_type,
      requireMfa: node.require_mfa ?? false,
    };
    return { value, topics: scopeTopics(value) };
  }

  async function loadRights(principal: Principal, scope: ResolvedScope): Promise<CallerRights> {
    const standing = await loadStanding(pool, scope, principal.userId);
    const key = principal.type === 'ApiKey' ? await keyRole(pool, principal.credentialId) : null;
    const projectKey = key !== null && key.scopeTenant !== 'ProjectUser';
    const active = projectKey || (standing.related && standing.alive);
    const state = active ? 'active' : standing.related || key !== null ? 'inactive' : 'outside';
    const roleIds = projectKey ? (key.roleId ? [key.roleId] : []) : active ? rolesOf(standing) : [];
    const grants: Grants = {
      standing: state,
      user: standing.user,
      scope: scopeAttributes(scope),
      held: await holdings.of(scope, roleIds, !projectKey && ofOwner(standing, scope)),
      ...(principal.consented ? { consented: principal.consented } : {}),
      ...(principal.type === 'projectApp' && !principal.consented ? { projectPlaneOnly: true } : {}),
    };
    const own = { grants, standing, keyRoleId: projectKey ? key.roleId : null };
    return isForeign(scope, principal.userId) ? onBehalf(own) : own;
  }

  /**
   * In another user's projectUser scope one holds nothing, but for the making of a key on that user's behalf
   * (authorization §5, `ApiKey:CreateForUser`). What the caller holds in the project stays in `projectGrants`.
   */
  function onBehalf(own: CallerRights): CallerRights {
    const may = preliminary(own.grants, { resource: 'ApiKey', action: 'CreateForUser' });
    const allowed = may !== 'conditional' && may.authorized;
    // What a permission is called is its maker's choice: only what it is about counts.
    const held = allowed ? onlyManagement(own.grants.held, 'ApiKey', 'Create') : indexPermissions([], nouns);
    return { ...own, projectGrants: own.grants, grants: { ...own.grants, held } };
  }

  const inactive = (standing: Standing): CallerRights => ({
    grants: emptyGrants('inactive', nouns),
    standing,
    keyRoleId: null,
  });

  async function loadRightsOfUser(scope: ResolvedScope, userId: string, tx?: Executor) {
    const standing = await loadStanding(tx ?? pool, scope, userId);
    const active = standing.related && standing.alive;
    const roleIds = active ? rolesOf(standing) : [];
    const held = await (tx
      ? holdings.within(tx, scope, roleIds)
      : holdings.of(scope, roleIds, ofOwner(standing, scope)));
    const user = standing.user;
    const grants: Grants = { standing: 'active', user, scope: scopeAttributes(scope), held };
    const own = { grants, standing, keyRoleId: null };
    const value = !active ? inactive(standing) : isForeign(scope, userId) ? onBehalf(own) : own;
    return { value, topics: [...scopeTopics(scope), `user:${userId}`] };
  }

  async function rightsOf(principal: Principal, scope: ResolvedScope): Promise<CallerRights> {
    const found = await rights.get(rightsKey(principal, scope), async () => ({
      value: await loadRights(principal, scope),
      topics: topicsOf(principal, scope),
    }));
    return found as CallerRights;
  }

  function peek(principal: Principal, asked: ScopeInput, userId?: string): Found | null | undefined {
    const scope = scopes.peek(scopeKey(asked));
    if (!scope) return undefined;
    if (!pinnedTo(principal, scope)) return null;
    const held = rights.peek(rightsKey(principal, scope));
    if (userId !== undefined && !rights.peek(subjectKey(scope, userId))) return undefined;
    return held && { scope, rights: held };
  }

  return {
    peek,

    resolve(principal, asked) {
      const known = peek(principal, asked);
      if (known !== undefined) return known;
      return (async () => {
        const scope = await scopes.get(scopeKey(asked), () => loadScope(asked));
        if (!scope || !pinnedTo(principal, scope)) return null;
        return { scope, rights: await rightsOf(principal, scope) };
      })();
    },

    scopeOf: async (asked, db) => (await loadScope(asked, db))?.value ?? null,

    rightsOfUser(scope, userId, tx) {
      if (tx) return loadRightsOfUser(scope, userId, tx).then(({ value }) => value);
      const key = subjectKey(scope, userId);
      const known = rights.peek(key);
      if (known) return known;
      const load = async () => {
        const loaded = await loadRightsOfUser(scope, userId);
        // Of ids that are nobody's there is no end.
        return loaded.value.standing === nobody ? null : loaded;
      };
      return rights.get(key, load).then((found) => found ?? inactive(nobody));
    },
  };
}

const scopeKey = ({ tenant, id }: ScopeInput): string => `${canonicalTenant(tenant)} ${id}`;

/** Whether one has in a project nothing but the role of the membership in its organization. */
const ofOwner = ({ projectRoleIds }: Standing, { level }: ResolvedScope): boolean =>
  level === 'project' && projectRoleIds.length === 0;

declare module '../kernel/scope.ts' {
  interface ResolvedScope {
    readonly userInProject: boolean;
    readonly accountType: 'personal' | 'organization' | null;
    /** The organization demands a second factor for changes. */
    readonly requireMfa: boolean;
  }
}
declare module '../kernel/context.ts' {
  interface CallerRights {
    /** In another user's projectUser scope: what the caller holds in the project. */
    readonly projectGrants?: Grants;
  }
}

function belongs(tenant: ResolvedScope['tenant'], node: NodeRow): boolean {
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
  }
}

/** Key and app tokens reach their own project only, and a ProjectUser key only its own user's scope. */
function pinnedTo({ pinned }: Principal, { projectId }: ResolvedScope): boolean {
  if (!pinned) return true;
  if (projectId === null) return false;
  // A pair of UUIDs, with the project on one side.
  return pinned.tenant === 'projectUser' ? pinned.id.startsWith(projectId) : pinned.id.endsWith(projectId);
}

/** Whether it is the scope of one user in a project, and that user is another one. */
const isForeign = ({ userId }: ResolvedScope, subjectId: string): boolean =>
  userId !== null && userId !== subjectId;

const scopeTopics = (scope: ResolvedScope): string[] => [
  `node:${scope.nodeId}`,
  ...(scope.parentId ? [`node:${scope.parentId}`] : []),
  ...(scope.userId ? [`user:${scope.userId}`] : []),
];

const topicsOf = (principal: Principal, scope: ResolvedScope): string[] => [
  ...scopeTopics(scope),
  `user:${principal.userId}`,
  ...(principal.type === 'session' ? [] : [`credential:${principal.credentialId}`]),
];

/**
 * A cached right is keyed on everything that it was computed from: the kind of token and what narrows it, the
 * user, and the scope. Sessions of one user share; keys and apps never do.
 */
const rightsKey = (principal: Principal, scope: ResolvedScope): string =>
  principal.type === 'session'
    ? `session ${principal.userId} ${scope.tenant} ${scope.id}`
    : `${principal.type} ${principal.credentialId} ${principal.userId} ${scope.tenant} ${scope.id} ${consentKey(principal)}`;

const subjectKey = ({ tenant, id }: ResolvedScope, userId: string) => `subject ${userId} ${tenant} ${id}`;
const consentKey = ({ consented }: Principal): string => JSON.stringify(consented && [...consented].sort());

async function keyRole(
  db: Executor,
  keyId: string,
): Promise<{ roleId: string | null; scopeTenant: string } | null> {
  const rows = await preparedRowsOf<{ roleId: string | null; scopeTenant: string }>(
    db,
    sql`select role_id as "roleId", scope_tenant as "scopeTenant" from api_keys where id = ${keyId}::uuid`,
  );
  return rows[0] ?? null;
}
