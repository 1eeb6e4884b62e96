import { sql } from 'drizzle-orm';
import { preparedRowsOf } from '../db/prepared.ts';
import type { ResolvedScope } from '../kernel/scope.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { indexPermissions, type Grants, type HeldPermission, type PermissionIndex } from './evaluate.ts';
import { ACCOUNT_OWNER } from './built-in.ts';
import { loadRolePaths } from './role-paths.ts';

/**
 * Loads what a subject holds in a scope, in the terms of authorization §3: which roles count there, and what they lead
 * to. It takes two statements for all but the widest roles, whatever the size of the tenant, because only rows of the
 * subject are read.
 */

/** What a subject is to a scope, before any permission. */
export interface Standing {
  readonly user: {
    readonly id: string;
    readonly name: string;
    readonly email: string | null;
    readonly emailVerified: boolean;
    readonly metadata: Record<string, unknown>;
  } | null;
  readonly alive: boolean;
  /** The role of the membership in the organization, own or of the project's owner. */
  readonly memberRoleId: string | null;
  readonly projectRoleIds: readonly string[];
  readonly ownsAccount: boolean;
  /** Owner, member, or user of the project: whether the scope is the subject's at all. */
  readonly related: boolean;
}

/** The standing of an id that is no user's. */
export const nobody: Standing = {
  user: null,
  alive: false,
  memberRoleId: null,
  projectRoleIds: [],
  ownsAccount: false,
  related: false,
};

interface StandingRow {
  id: string;
  name: string;
  email: string | null;
  email_verified: boolean;
  alive: boolean;
  owns_account: boolean;
  member: { roleId: string; metadata: Record<string, unknown> } | null;
  participant: { roleIds: string[]; metadata: Record<string, unknown> } | null;
}

/** Somebody in a scope. */
export interface Someone {
  readonly scope: Pick<ResolvedScope, 'accountId' | 'organizationId' | 'projectId'>;
  readonly userId: string;
}

export async function loadStanding(db: Executor, scope: ResolvedScope, userId: string): Promise<Standing> {
  const [standing] = await loadStandings(db, [{ scope, userId }]);
  return standing ?? nobody;
}

/** For many in one statement, in the order asked. */
export async function loadStandings(db: Executor, asked: readonly Someone[]): Promise<Standing[]> {
  const places = asked.map(({ scope: { accountId, organizationId, projectId }, userId }, at) => {
    return {
      at,
      user: userId,
      account: organizationId ? null : accountId,
      organization: organizationId,
      project: projectId,
    };
  });
  const rows = await preparedRowsOf<StandingRow & { at: number }>(
    db,
    sql`
    select asked.at, u.id, u.name, u.email, u.email_verified,
      u.status = 'active' and u.deleted_at is null as alive,
      exists (select 1 from accounts a where a.id = asked.account
        and a.owner_id = u.id and a.deleted_at is null) as owns_account,
      (select json_build_object('roleId', m.role_id, 'metadata', m.metadata) from organization_members m
        where m.tenant_id = asked.organization and m.user_id = u.id) as member,
      (select json_build_object('metadata', p.metadata, 'roleIds', (
          select coalesce(json_agg(r.role_id), '[]'::json) from project_user_roles r
          where r.tenant_id = p.tenant_id and r.user_id = p.user_id))
        from project_users p where p.tenant_id = asked.project and p.user_id = u.id) as participant
    from json_to_recordset(${JSON.stringify(places)}::text::json)
      as asked(at int, "user" uuid, account uuid, organization uuid, project uuid)
    join users u on u.id = asked."user"`,
  );
  const found = new Map(rows.map((row) => [row.at, standingOf(row)]));
  return asked.map((_, at) => found.get(at) ?? nobody);
}

function standingOf(row: StandingRow): Standing {
  return {
    user: {
      id: row.id,
      name: row.name,
      email: row.email,
      emailVerified: row.email_verified,
      metadata: { ...row.member?.metadata, ...row.participant?.metadata },
    },
    alive: row.alive,
    memberRoleId: row.member?.roleId ?? null,
    projectRoleIds: row.participant?.roleIds ?? [],
    ownsAccount: row.owns_account,
    related: row.owns_account || row.member !== null || row.participant !== null,
  };
}

/** The roles that count in the scope for a user of this standing. */
export const rolesOf = ({ ownsAccount, memberRoleId, projectRoleIds }: Standing): string[] => [
  ...(ownsAccount ? [ACCOUNT_OWNER] : []),
  ...(memberRoleId ? [memberRoleId] : []),
  ...projectRoleIds,
];

/** Nouns that concern an organization itself: without effect in a project scope (authorization §3). */
export const organizationNouns = new Set(['Organization', 'OrganizationInvitation', 'OrganizationMember']);

/** Whether a permission has effect in scopes of the level. */
export const hasEffect = ({ permission }: HeldPermission, level: ResolvedScope['level']): boolean =>
  !(level === 'project' && permission.managementPlane && organizationNouns.has(permission.resource));

/** Every path by which the roles hold a permission that has effect in the scope. */
export async function loadHeld(
  db: Executor,
  roleIds: readonly string[],
  level: ResolvedScope['level'],
): Promise<HeldPermission[]> {
  const { paths } = await loadRolePaths(db, roleIds);
  return paths.filter((held) => hasEffect(held, level));
}

/** What conditions can read of a scope; members that do not apply are missing, not null. */
export function scopeAttributes(
  scope: Pick<ResolvedScope, 'tenant' | 'id' | 'accountId' | 'organizationId' | 'projectId'>,
): Record<string, unknown> {
  const { tenant, id, accountId, organizationId, projectId } = scope;
  return Object.fromEntries(
    Object.entries({ tenant, id, accountId, organizationId, projectId }).filter(
      ([, value]) => value !== null,
    ),
  );
}

/** Grants of someone who holds nothing, for the given standing. */
export const emptyGrants = (standing: Grants['standing'], nouns: ReadonlySet<string>): Grants => ({
  standing,
  user: null,
  scope: {},
  held: emptyIndex(nouns),
});

const emptyIndex = (nouns: ReadonlySet<string>): PermissionIndex => indexPermissions([], nouns);
