/*
 * Loads the permissions of a subject in a scope (authorization §3): its roles there, and the permissions of these
 * roles. It takes two statements for all but the widest roles, independent of the size of the tenant, because it reads
 * only rows of the subject.
 */

import { sql } from 'drizzle-orm';
import { preparedRowsOf } from '../../db/statements/prepared.ts';
import { nodeRef, usersNodeOf, type ResolvedScope } from '../../kernel/scope.ts';
import type { SubjectStatus } from '../../kernel/call/caller-rights.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import {
  indexPermissions,
  type Grants,
  type HeldPermission,
  type PermissionIndex,
} from '@doorward/decision/evaluate';
import { hasEffectInProject } from '@doorward/decision/policy/organization-nouns';
import { ACCOUNT_OWNER } from '../../schema/rights/built-in-ids.ts';
import { loadRolePaths } from './role-paths.ts';
import { isInSlice } from './slice-permissions.ts';

/** The status of a subject whose id belongs to no user. */
export const unknownSubject: SubjectStatus = {
  user: null,
  alive: false,
  isService: false,
  memberRoleId: null,
  projectRoleIds: [],
  ownsAccount: false,
  related: false,
};

interface SubjectRow {
  id: string;
  name: string;
  email: string | null;
  email_verified: boolean;
  alive: boolean;
  is_service: boolean;
  owns_account: boolean;
  member: { roleId: string; metadata: Record<string, unknown> } | null;
  participant: { roleIds: string[]; metadata: Record<string, unknown> } | null;
}

/** A user in a scope. */
export interface SubjectRef {
  readonly scope: Pick<ResolvedScope, 'accountId' | 'organizationId' | 'projectId'> &
    Partial<Pick<ResolvedScope, 'grant'>>;
  readonly userId: string;
}

export async function loadSubject(
  db: Executor,
  scope: ResolvedScope,
  userId: string,
): Promise<SubjectStatus> {
  const [subject] = await loadSubjects(db, [{ scope, userId }]);
  return subject ?? unknownSubject;
}

/** The status of many subjects in one statement, in the order of `requested`. */
export async function loadSubjects(db: Executor, requested: readonly SubjectRef[]): Promise<SubjectStatus[]> {
  const refs = requested.map(({ scope, userId }, index) => {
    const { accountId, organizationId } = scope;
    return {
      at: index,
      user: userId,
      account: organizationId ? null : accountId,
      organization: organizationId,
      project: usersNodeOf(scope),
    };
  });
  const rows = await preparedRowsOf<SubjectRow & { at: number }>(
    db,
    sql`
    select ref.at, u.id, u.name, u.email, u.email_verified,
      u.status = 'active' and u.deleted_at is null as alive, u.kind = 'service' as is_service,
      exists (select 1 from accounts a where a.id = ref.account
        and a.owner_id = u.id and a.deleted_at is null) as owns_account,
      coalesce((select json_build_object('roleId', m.role_id, 'metadata', m.metadata) from organization_members m
          where m.tenant_id = ref.organization and m.user_id = u.id),
        (select json_build_object('roleId', s.role_id, 'metadata', s.metadata) from account_service_users s
          where s.tenant_id = ref.account and s.user_id = u.id)) as member,
      (select json_build_object('metadata', p.metadata, 'roleIds', (
          select coalesce(json_agg(r.role_id), '[]'::json) from project_user_roles r
          where r.tenant_id = p.tenant_id and r.user_id = p.user_id))
        from project_users p where p.tenant_id = ref.project and p.user_id = u.id) as participant
    from json_to_recordset(${JSON.stringify(refs)}::text::json)
      as ref(at int, "user" uuid, account uuid, organization uuid, project uuid)
    join users u on u.id = ref."user"`,
  );
  const subjects = new Map(
    rows.map((row) => [row.at, subjectOf(row, Boolean(requested[row.at]?.scope.grant))]),
  );
  return requested.map((_, index) => subjects.get(index) ?? unknownSubject);
}

/**
 * `ofMembersOnly` is true in a granted scope: a user who is not a member of the customer has no roles there, even if
 * rows of a former membership are left.
 */
function subjectOf({ participant: stored, ...row }: SubjectRow, ofMembersOnly: boolean): SubjectStatus {
  const participant = ofMembersOnly && row.member === null ? null : stored;
  return {
    user: {
      id: row.id,
      name: row.name,
      email: row.email,
      emailVerified: row.email_verified,
      metadata: { ...row.member?.metadata, ...participant?.metadata },
    },
    alive: row.alive,
    isService: row.is_service,
    memberRoleId: row.member?.roleId ?? null,
    projectRoleIds: participant?.roleIds ?? [],
    ownsAccount: row.owns_account,
    related: row.owns_account || row.member !== null || participant !== null,
  };
}

/** The roles of the subject in the scope. */
export const rolesOf = ({ ownsAccount, memberRoleId, projectRoleIds }: SubjectStatus): string[] => [
  ...(ownsAccount ? [ACCOUNT_OWNER] : []),
  ...(memberRoleId ? [memberRoleId] : []),
  ...projectRoleIds,
];

/** The properties of a scope that determine which permissions have effect in it. */
type EffectScope = Pick<ResolvedScope, 'level'> & Partial<Pick<ResolvedScope, 'grant'>>;

/** Whether a permission has effect in the scope. */
export const hasEffect = (
  permission: Pick<HeldPermission['permission'], 'managementPlane' | 'resource' | 'action'>,
  { level, grant }: EffectScope,
): boolean =>
  level !== 'project' ||
  (hasEffectInProject(permission) && (!grant || !permission.managementPlane || isInSlice(permission, grant)));

/** A key that is equal for scopes where the same permissions have effect. */
export const effectKey = ({ level, grant }: EffectScope): string =>
  grant ? `granted:${grant.features.join()}` : level;

/** Every path from the roles to a permission that has effect in the scope. */
export async function loadHeldPermissions(
  db: Executor,
  roleIds: readonly string[],
  scope: EffectScope,
): Promise<HeldPermission[]> {
  const { paths } = await loadRolePaths(db, roleIds);
  return paths.filter(({ permission }) => hasEffect(permission, scope));
}

/**
 * The organization of a project, as conditions read it. In a granted scope the metadata comes from the grant, which
 * only the project's owner can write. Undefined for projects of accounts and outside projects.
 */
export const organizationAttributes = ({
  organizationId,
  projectId,
  organizationMetadata,
}: Pick<ResolvedScope, 'organizationId' | 'projectId'> &
  Partial<Pick<ResolvedScope, 'organizationMetadata'>>): Record<string, unknown> | undefined =>
  organizationId === null || projectId === null
    ? undefined
    : { id: organizationId, metadata: organizationMetadata ?? {} };

/**
 * The attributes of a scope that conditions can read. Members that do not apply are missing, not null. The scope of a
 * project user has the attributes of the project. Otherwise the caller could choose what a condition reads by spelling
 * the scope differently, and AuthZEN and local decisions, which know only the project, would decide differently.
 */
export function scopeAttributes(
  scope: Pick<ResolvedScope, 'tenant' | 'id' | 'accountId' | 'organizationId' | 'projectId'>,
): Record<string, unknown> {
  const { tenant, id } = nodeRef(scope);
  const { accountId, organizationId, projectId } = scope;
  return Object.fromEntries(
    Object.entries({ tenant, id, accountId, organizationId, projectId }).filter(
      ([, value]) => value !== null,
    ),
  );
}

/** Grants without permissions and attributes. */
export const emptyGrants = (membership: Grants['membership'], nouns: ReadonlySet<string>): Grants => ({
  membership,
  user: null,
  scope: {},
  held: emptyIndex(nouns),
});

const emptyIndex = (nouns: ReadonlySet<string>): PermissionIndex => indexPermissions([], nouns);

/**
 * Whether the scope is a project in which the subject has no role of its own. Roles in the owner's scope may still
 * count there.
 */
export const isInProjectWithoutRole = (
  { projectRoleIds }: SubjectStatus,
  { level }: ResolvedScope,
): boolean => level === 'project' && projectRoleIds.length === 0;
