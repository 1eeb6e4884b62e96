import { commonScopes } from '@doorward/decision/app-scopes';
import { sql, type SQL } from 'drizzle-orm';
import { preparedRowsOf } from '../../db/statements/prepared.ts';
import type { Changes } from '../../db/cache/changes.ts';
import { createFreshCache } from '../../db/cache/fresh-cache.ts';
import { grantOfSession, organizationAllows } from './session-organization.ts';
import { operatorRows, type OperatorRules } from '../operators.ts';
import type { Impersonator, Principal } from '../../kernel/context.ts';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';

/**
 * The state of the session that a token's `jti` names, with its user and project. Read on every request. An entry is
 * cached until its rows change; times are compared at each use.
 */
export interface SessionState {
  readonly kind: 'browser' | 'cli' | 'projectApp' | 'impersonation';
  /** The operator who acts for the user in a session of kind `impersonation`. */
  readonly impersonator: Impersonator | null;
  readonly impersonatorSessionId: string | null;
  readonly userId: string;
  readonly name: string;
  readonly emailVerified: boolean;
  readonly verificationDeadline: Date | null;
  readonly acr: 'aal1' | 'aal2';
  /** Whether the user has an enabled second factor that the session lacks. Never true for sessions of apps. */
  readonly mfaPending: boolean;
  readonly authenticatedAt: Date;
  readonly expiresAt: Date;
  /** From this time on an app's session is refused, because the owner of its account has not verified an address. */
  readonly overdueFrom: Date | null;
  readonly alive: boolean;
  /** The organization whose provider vouched for the user. The session is bound to it. Null if there is none. */
  readonly boundTo: string | null;
  /** For an app's session, what its tokens may use. Null for a session of this service. */
  readonly app: AppState | null;
}

/** The rights of an app in one of its sessions, by the current state of app and user. */
interface AppState {
  readonly clientId: string;
  readonly projectId: string;
  /** The scope of the project, or of its slice for the organization. */
  readonly scope: ScopeRef;
  /** The organization that the user signed in to; null if none. */
  readonly organization: { readonly id: string; readonly name: string } | null;
  /** The scopes that the user consented to and the app still has; null if not restricted. */
  readonly consented: ReadonlySet<string> | null;
  readonly allowedOrigins: readonly string[];
}

/** The state of the API key that a token's `jti` names. Read on every request, and cached like `SessionState`. */
export interface KeyState {
  readonly userId: string;
  readonly name: string | null;
  /** The node whose signing key signs the API key's tokens: the project, or the system node for a management key. */
  readonly issuerId: string;
  readonly scope: ScopeRef;
  readonly allowedCidrs: readonly string[];
  readonly expiresAt: Date | null;
  /** From this time on the key is refused: the owner of its account, or its own user, has not verified an address. */
  readonly overdueFrom: Date | null;
  readonly alive: boolean;
}

/** The principal of the key's tokens. */
export const principalOfKey = (id: string, { userId, name, scope }: KeyState): Principal => ({
  type: 'ApiKey',
  userId,
  credentialId: id,
  name,
  emailVerified: true,
  verificationDeadline: null,
  acr: 'aal1',
  mfaPending: false,
  authenticatedAt: null,
  pinned: scope,
  consented: null,
  origins: [],
});

export interface Credentials {
  session(id: string): Promise<SessionState | null> | SessionState;
  key(id: string): Promise<KeyState | null> | KeyState;
}

type Instant = string | Date;

interface SessionRow extends Omit<
  SessionState,
  'verificationDeadline' | 'authenticatedAt' | 'expiresAt' | 'overdueFrom' | 'app'
> {
  readonly app: AppRow | null;
  readonly verificationDeadline: Instant | null;
  readonly authenticatedAt: Instant;
  readonly expiresAt: Instant;
  readonly overdueFrom: Instant | null;
  readonly accountOwnerId: string | null;
}

interface AppRow {
  readonly id: string;
  readonly clientId: string;
  readonly projectId: string;
  readonly ownerId: string;
  readonly ownerKind: 'account' | 'organization';
  readonly organization: AppState['organization'];
  readonly grantId: string | null;
  readonly scopes: readonly string[] | null;
  readonly consented: readonly string[] | null;
  readonly allowedOrigins: readonly string[];
}

interface KeyRow extends Pick<KeyState, 'userId' | 'name' | 'allowedCidrs' | 'alive' | 'issuerId'> {
  readonly nodeId: string;
  /** For a key of a slice: the customer and the owner of the project. Otherwise empty. */
  readonly grantNodes: readonly string[];
  readonly scopeTenant: string;
  readonly scopeId: string;
  readonly ownerId: string | null;
  readonly expiresAt: Instant | null;
  readonly overdueFrom: Instant | null;
  readonly accountOwnerId: string | null;
}

function appState({ clientId, projectId, ownerId, ownerKind, allowedOrigins, ...row }: AppRow): AppState {
  const { scopes, consented, organization, grantId } = row;
  const both = commonScopes(scopes, consented);
  return {
    clientId,
    projectId,
    scope:
      organization && grantId !== null
        ? { tenant: 'organizationProject', id: `${organization.id}:${projectId}` }
        : { tenant: `${ownerKind}Project`, id: `${ownerId}:${projectId}` },
    organization,
    consented: both && new Set(both),
    allowedOrigins,
  };
}

/** The topics of a session's organization and grant. */
const ofOrganization = ({ organization, grantId }: AppRow): string[] =>
  [organization?.id, grantId].flatMap((id) => (id ? [`node:${id}`] : []));

const ofUser = (id: string | null): string[] => (id === null ? [] : [`user:${id}`]);

const dateOf = (value: Instant | null): Date | null => (value === null ? null : new Date(value));

/**
 * SQL for the time by which a user must have verified an address; null if there is none. `person` is the alias of a row
 * of users. The key or app works again when that user verifies an address, so a cache of this value also needs that
 * user's topic.
 */
export const verificationDeadlineOf = (person: 'u' | 'account_owner'): SQL =>
  sql.raw(`case when not ${person}.email_verified then ${person}.verification_deadline end`);

/** SQL for the account of key `k` of node `n`: the node itself, or the account above its organization or project. */
export const ownerAccountId = sql.raw(`case n.kind when 'account' then n.id
  when 'grant' then (select granted.parent_id from nodes granted where granted.id = n.parent_id) else n.parent_id end`);

/** SQL condition: key `k` has no service user, or one that still belongs to its organization or account. */
export const serviceUserStays = sql.raw(`case k.scope_tenant
  when 'Organization' then exists (select 1 from organization_members m where m.tenant_id = k.tenant_id and m.user_id = k.user_id)
  when 'Account' then exists (select 1 from account_service_users s where s.tenant_id = k.tenant_id and s.user_id = k.user_id)
  else true end`);

/** SQL condition: none of these nodes is a suspended organization. `ids` are SQL expressions. */
const noneSuspended = (...ids: string[]): SQL =>
  sql.raw(`not exists (select 1 from organizations suspended
    where suspended.id in (${ids.join(', ')}) and suspended.suspended_at is not null)`);

/** SQL condition: the organization of key `k` of node `n` is not suspended. For a slice see `grantAllowsKeys`. */
export const ownerNotSuspended = noneSuspended('n.id', 'n.parent_id');

/**
 * SQL condition: a project grant does not prevent the use of a key of node `n`. A key of a slice requires that the
 * grant is active and includes keys, that project, owner and customer exist, and that neither side is suspended.
 */
export const grantAllowsKeys = sql.raw(`(n.kind <> 'grant' or exists (select 1 from project_grants pg
  join nodes granted on granted.id = pg.tenant_id and granted.deleted_at is null
  join nodes granter on granter.id = granted.parent_id and granter.deleted_at is null
  join nodes customer on customer.id = pg.organization_id and customer.deleted_at is null
  where pg.id = n.id and pg.status = 'active' and pg.deleted_at is null and 'apiKeys' = any (pg.features)
    and not exists (select 1 from organizations suspended
      where suspended.id in (granter.id, customer.id) and suspended.suspended_at is not null)))`);

/**
 * SQL for the customer and the owner of the project, if the key is of a slice and so depends on their state; else
 * empty.
 */
export const sidesOfGrant =
  sql.raw(`case when n.kind = 'grant' then array(select unnest(array[pg.organization_id, granted.parent_id]) from project_grants pg
  join nodes granted on granted.id = pg.tenant_id where pg.id = n.id) else '{}' end`);

/**
 * SQL for the node whose key signs the tokens of key `k` of node `n`: the project, also for a key of a slice. Keys of
 * organizations and accounts have no project, so the service signs their tokens.
 */
export const issuerId =
  sql.raw(`case when k.scope_tenant in ('Organization', 'Account') then '${SYSTEM_NODE}'::uuid
  when n.kind = 'grant' then n.parent_id else n.id end`);

export function createCredentials(pool: Executor, changes: Changes, operators: OperatorRules): Credentials {
  // An impersonation ends with its operator's session, or when the operator is disabled or loses the operator rights.
  const impersonates = sql`(operator.status = 'active' and operator.deleted_at is null
    and exists (select 1 from sessions own where own.id = s.impersonator_session_id and own.ended_at is null)
    and exists (select 1 from ${operatorRows(operators)} r where r.user_id = operator.id))`;
  const sessions = createFreshCache<SessionState>(changes, 50_000);
  const keys = createFreshCache<KeyState>(changes, 50_000);

  async function loadSession(id: string) {
    const rows = await preparedRowsOf<SessionRow>(
      pool,
      sql`
      select s.kind, s.user_id as "userId", case when s.kind <> 'projectApp' then s.organization_id end as "boundTo", u.name, u.email_verified as "emailVerified",
        u.verification_deadline as "verificationDeadline", s.acr,
        s.kind not in ('projectApp', 'impersonation') and s.acr = 'aal1' and exists (select 1 from mfa_factors f
          where f.user_id = s.user_id and f.is_enabled) as "mfaPending",
        s.authenticated_at as "authenticatedAt",
        s.expires_at as "expiresAt",
        s.sso_project_id is null and s.ended_at is null and u.status = 'active' and u.deleted_at is null
          and (s.kind <> 'projectApp' or (a.deleted_at is null and n.deleted_at is null and o.deleted_at is null
            and ${noneSuspended('o.id')} and ${organizationAllows}))
          and (s.kind <> 'impersonation' or ${impersonates}) as alive,
        case when s.kind = 'impersonation' then json_build_object('id', operator.id, 'name', 'Installation operator') end as impersonator,
        s.impersonator_session_id as "impersonatorSessionId",
        case when s.kind = 'projectApp' then json_build_object('id', a.id, 'clientId', a.client_id,
          'projectId', n.id, 'ownerId', o.id, 'ownerKind', o.kind,
          'organization', case when signed.id is not null then json_build_object('id', signed.id, 'name', signed.name) end,
          'grantId', pg.id, 'scopes', a.scopes, 'consented', s.consented_scopes, 'allowedOrigins', a.allowed_origins) end as app,
        case when s.kind = 'projectApp' then ${verificationDeadlineOf('account_owner')} end as "overdueFrom",
        account.owner_id as "accountOwnerId"
      from sessions s join users u on u.id = s.user_id
      left join users operator on operator.id = s.impersonator_id
      left join project_apps a on a.id = s.project_app_id
      left join nodes n on n.id = a.tenant_id left join nodes o on o.id = n.parent_id
      left join organizations signed on signed.id = s.organization_id
      ${grantOfSession}
      left join accounts account on account.id = o.id left join users account_owner on account_owner.id = account.owner_id
      where s.id = ${id}::uuid`,
    );
    const [row] = rows;
    if (!row) return null;
    const { app, accountOwnerId, ...rest } = row;
    const value: SessionState = {
      ...rest,
      verificationDeadline: dateOf(row.verificationDeadline),
      authenticatedAt: new Date(row.authenticatedAt),
      expiresAt: new Date(row.expiresAt),
      overdueFrom: dateOf(row.overdueFrom),
      app: app && appState(app),
    };
    const ofApp = app
      ? [`credential:${app.id}`, `node:${app.projectId}`, `node:${app.ownerId}`, ...ofOrganization(app)]
      : [];
    const { impersonator, impersonatorSessionId } = row;
    const ofOperator = impersonator ? [`user:${impersonator.id}`, `session:${impersonatorSessionId}`] : [];
    const topics = [`session:${id}`, `user:${row.userId}`, ...ofApp, ...ofUser(accountOwnerId)];
    topics.push(...ofOperator);
    return { value, topics };
  }

  async function loadKey(id: string) {
    const rows = await preparedRowsOf<KeyRow>(
      pool,
      sql`
      select k.user_id as "userId", k.name, k.tenant_id as "nodeId", k.scope_tenant as "scopeTenant", k.scope_id as "scopeId",
        k.allowed_cidrs as "allowedCidrs", k.expires_at as "expiresAt", n.parent_id as "ownerId",
        least(${verificationDeadlineOf('account_owner')}, case when k.scope_tenant = 'ProjectUser' then ${verificationDeadlineOf('u')} end) as "overdueFrom",
        account.owner_id as "accountOwnerId",
        k.revoked_at is null and k.deleted_at is null and n.deleted_at is null
          and (k.scope_tenant in ('AccountProject', 'OrganizationProject') or (u.status = 'active' and u.deleted_at is null))
          and ${serviceUserStays} and ${ownerNotSuspended} and ${grantAllowsKeys} as alive, ${issuerId} as "issuerId",
        ${sidesOfGrant} as "grantNodes"
      from api_keys k join nodes n on n.id = k.tenant_id join users u on u.id = k.user_id
      left join accounts account on account.id = ${ownerAccountId} left join users account_owner on account_owner.id = account.owner_id
      where k.id = ${id}::uuid`,
    );
    const [row] = rows;
    if (!row) return null;
    const { nodeId, scopeTenant, scopeId, ownerId, accountOwnerId, grantNodes, ...rest } = row;
    const tenant = (scopeTenant.charAt(0).toLowerCase() + scopeTenant.slice(1)) as ScopeRef['tenant'];
    const value: KeyState = {
      ...rest,
      scope: { tenant, id: scopeId },
      expiresAt: dateOf(row.expiresAt),
      overdueFrom: dateOf(row.overdueFrom),
    };
    const topics = [`credential:${id}`, `node:${nodeId}`, `user:${row.userId}`];
    const ofOwner = [...(ownerId === null ? [] : [ownerId]), ...grantNodes].map((node) => `node:${node}`);
    return { value, topics: [...topics, ...ofOwner, ...ofUser(accountOwnerId)] };
  }

  return {
    session: (id) => sessions.peek(id) ?? sessions.get(id, () => loadSession(id)),
    key: (id) => keys.peek(id) ?? keys.get(id, () => loadKey(id)),
  };
}
