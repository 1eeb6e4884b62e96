import { sql, type SQL } from 'drizzle-orm';
import { preparedRowsOf } from '../db/prepared.ts';
import type { Changes } from '../db/changes.ts';
import { createFreshCache } from '../db/fresh-cache.ts';
import type { ScopeRef } from '../kernel/scope.ts';
import type { Executor } from '../kernel/scoped-db.ts';

/**
 * The state behind a token's `jti`, asked on every request (bar 3): a session or an API key, its user and its
 * project. Kept in memory only as long as nothing about it changed; what ends by the clock is compared at use.
 */
export interface SessionState {
  readonly kind: 'browser' | 'cli' | 'projectApp';
  readonly userId: string;
  readonly name: string;
  readonly emailVerified: boolean;
  readonly verificationDeadline: Date | null;
  readonly acr: 'aal1' | 'aal2';
  /** At `aal1` although its user has an enabled second factor; an app asks for it in its own sign-in. */
  readonly mfaPending: boolean;
  readonly authenticatedAt: Date;
  readonly expiresAt: Date;
  /** From when on an app's session does nothing, because the owner of the app's account has not verified an address. */
  readonly overdueFrom: Date | null;
  readonly alive: boolean;
  /** Of an app's session: what its tokens may touch. Null for a session of this service. */
  readonly app: AppState | null;
}

/** What an app may do for the user of one of its sessions; said by the app and the session as they are now. */
export interface AppState {
  readonly clientId: string;
  readonly projectId: string;
  readonly scope: ScopeRef;
  /** What is left of what the user consented to; null: not restricted. */
  readonly consented: ReadonlySet<string> | null;
  readonly allowedOrigins: readonly string[];
}

export interface KeyState {
  readonly userId: string;
  readonly name: string | null;
  readonly projectId: string;
  readonly scope: ScopeRef;
  readonly allowedCidrs: readonly string[];
  readonly expiresAt: Date | null;
  /**
   * From this time on the key does nothing, because the owner of its account, or its own user, has not verified an
   * address.
   */
  readonly overdueFrom: Date | null;
  readonly alive: boolean;
}

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
  readonly scopes: readonly string[] | null;
  readonly consented: readonly string[] | null;
  readonly allowedOrigins: readonly string[];
}

interface KeyRow extends Pick<KeyState, 'userId' | 'name' | 'projectId' | 'allowedCidrs' | 'alive'> {
  readonly scopeTenant: string;
  readonly scopeId: string;
  readonly ownerId: string;
  readonly expiresAt: Instant | null;
  readonly overdueFrom: Instant | null;
  readonly accountOwnerId: string | null;
}

/**
 * Neither the app nor the user alone decides: a scope counts that both still name. Null: not restricted. Who consented
 * to that let the app do what the project plane has, so a built-in pair (`Noun:Action`) that it names since is news to him.
 */
export const namedByBoth = (
  ofApp: readonly string[] | null,
  consented: readonly string[] | null,
): readonly string[] | null => {
  if (!ofApp) return consented;
  return ofApp.filter((scope) => (consented ? consented.includes(scope) : !/^[A-Z]/.test(scope)));
};

function appState({ clientId, projectId, ownerId, ownerKind, allowedOrigins, ...row }: AppRow): AppState {
  const { scopes, consented } = row;
  const both = namedByBoth(scopes, consented);
  return {
    clientId,
    projectId,
    scope: { tenant: `${ownerKind}Project`, id: `${ownerId}:${projectId}` },
    consented: both && new Set(both),
    allowedOrigins,
  };
}

const ofUser = (id: string | null): string[] => (id === null ? [] : [`user:${id}`]);

const dateOf = (value: Instant | null): Date | null => (value === null ? null : new Date(value));

/**
 * The deadline by which a user must verify an address; null when there is none. `person` is the alias of a row of
 * users. A verification by that user makes the key or app work again, so whoever caches this must also keep the topic
 * of that user.
 */
export const deadlineOf = (person: 'u' | 'account_owner'): SQL =>
  sql.raw(`case when not ${person}.email_verified then ${person}.verification_deadline end`);

export function createCredentials(pool: Executor, changes: Changes): Credentials {
  const sessions = createFreshCache<SessionState>(changes, 50_000);
  const keys = createFreshCache<KeyState>(changes, 50_000);

  async function loadSession(id: string) {
    const rows = await preparedRowsOf<SessionRow>(
      pool,
      sql`
      select s.kind, s.user_id as "userId", u.name, u.email_verified as "emailVerified",
        u.verification_deadline as "verificationDeadline", s.acr,
        s.kind <> 'projectApp' and s.acr = 'aal1' and exists (select 1 from mfa_factors f
          where f.user_id = s.user_id and f.is_enabled) as "mfaPending",
        s.authenticated_at as "authenticatedAt",
        s.expires_at as "expiresAt",
        s.ended_at is null and u.status = 'active' and u.deleted_at is null
          and (s.kind <> 'projectApp' or (a.deleted_at is null and n.deleted_at is null and o.deleted_at is null)) as alive,
        case when s.kind = 'projectApp' then json_build_object('id', a.id, 'clientId', a.client_id,
          'projectId', n.id, 'ownerId', o.id, 'ownerKind', o.kind,
          'scopes', a.scopes, 'consented', s.consented_scopes, 'allowedOrigins', a.allowed_origins) end as app,
        case when s.kind = 'projectApp' then ${deadlineOf('account_owner')} end as "overdueFrom",
        account.owner_id as "accountOwnerId"
      from sessions s join users u on u.id = s.user_id
      left join project_apps a on a.id = s.project_app_id
      left join nodes n on n.id = a.tenant_id left join nodes o on o.id = n.parent_id
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
    const ofApp = app ? [`credential:${app.id}`, `node:${app.projectId}`, `node:${app.ownerId}`] : [];
    return { value, topics: [`session:${id}`, `user:${row.userId}`, ...ofApp, ...ofUser(accountOwnerId)] };
  }

  async function loadKey(id: string) {
    const rows = await preparedRowsOf<KeyRow>(
      pool,
      sql`
      select k.user_id as "userId", k.name, k.tenant_id as "projectId", k.scope_tenant as "scopeTenant", k.scope_id as "scopeId",
        k.allowed_cidrs as "allowedCidrs", k.expires_at as "expiresAt", n.parent_id as "ownerId",
        least(${deadlineOf('account_owner')}, case when k.scope_tenant = 'ProjectUser' then ${deadlineOf('u')} end) as "overdueFrom",
        account.owner_id as "accountOwnerId",
        k.revoked_at is null and k.deleted_at is null and n.deleted_at is null
          and (k.scope_tenant <> 'ProjectUser' or (u.status = 'active' and u.deleted_at is null)) as alive
      from api_keys k join nodes n on n.id = k.tenant_id join users u on u.id = k.user_id
      left join accounts account on account.id = n.parent_id left join users account_owner on account_owner.id = account.owner_id
      where k.id = ${id}::uuid`,
    );
    const [row] = rows;
    if (!row) return null;
    const { scopeTenant, scopeId, ownerId, accountOwnerId, ...rest } = row;
    const tenant = (scopeTenant.charAt(0).toLowerCase() + scopeTenant.slice(1)) as ScopeRef['tenant'];
    const value: KeyState = {
      ...rest,
      scope: { tenant, id: scopeId },
      expiresAt: dateOf(row.expiresAt),
      overdueFrom: dateOf(row.overdueFrom),
    };
    const topics = [`credential:${id}`, `node:${row.projectId}`, `node:${ownerId}`, `user:${row.userId}`];
    return { value, topics: [...topics, ...ofUser(accountOwnerId)] };
  }

  return {
    session: (id) => sessions.peek(id) ?? sessions.get(id, () => loadSession(id)),
    key: (id) => keys.peek(id) ?? keys.get(id, () => loadKey(id)),
  };
}
