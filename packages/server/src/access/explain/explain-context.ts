/*
 * Loads the context of an explanation with two statements: the paths from the subject's roles to the resource and
 * action in question, and the roles, groups and attributes that an owner of the tenant could change through the API.
 *
 * It offers only changes that the API would accept: no changes of built-in rows or rows of another tenant, no additions
 * to a full group or user, and no changes of the only owner, because users cannot change their own roles and metadata.
 */

import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { ACCOUNT_OWNER, ORGANIZATION_OWNER } from '../../schema/rights/built-in-ids.ts';
import type { HeldPermission, Target } from '@doorward/decision/evaluate';
import type { Link, ExplainContext } from '@doorward/decision/explain';
import { hasEffect } from '../grants/grants.ts';
import type { SubjectStatus } from '../../kernel/call/caller-rights.ts';
import { loadFacts, type Facts } from './explain-facts.ts';
import { loadPaths, type PathRow } from './explain-paths.ts';

/** The subject of an explanation, with its roles in the scope. */
export interface Explainee {
  readonly kind: 'user' | 'apiKey';
  /** The user; for a key, the user whose attributes the conditions read. */
  readonly userId: string;
  readonly status: SubjectStatus;
  readonly roleIds: readonly string[];
}

const ownerRoles: readonly string[] = [ACCOUNT_OWNER, ORGANIZATION_OWNER];

interface RoleName {
  readonly id: string;
  readonly name: string;
}

/** Limits of the API: permissions per group, roles per user. */
const CAPACITY = { group: 100, user: 20 } as const;

export async function loadExplainContext(
  db: Executor,
  scope: ResolvedScope,
  subject: Explainee,
  target: Target,
): Promise<{ readonly roles: readonly RoleName[]; readonly context: ExplainContext }> {
  const { management: managementPlane, resource, action } = target;
  const isEffective = hasEffect({ managementPlane, resource, action }, scope);
  const facts = await loadFacts(db, scope, subject, target);
  const paths = isEffective ? await loadPaths(db, scope, subject.roleIds, target) : [];
  const assignedRoleIds = new Set(subject.roleIds);
  const held = paths.filter(({ role }) => assignedRoleIds.has(role.id)).map(heldOf);
  const roles = new Map(facts.assigned.map(({ role }) => [role.id, role]));
  // Administrators can grant only what they hold. Owners hold the whole project plane, and the management permissions
  // of their role.
  const owners = scope.organizationId ? ORGANIZATION_OWNER : ACCOUNT_OWNER;
  const canGrant =
    !target.management || paths.some(({ role, condition }) => role.id === owners && condition === null);
  const sources = facts.assigned.flatMap(({ role, group }) => [role, ...(group ? [group] : [])]);
  return {
    roles: [...roles.values()].map(({ id, name }) => ({ id, name })),
    context: {
      held,
      roles:
        canGrant && canTakeRole(scope, subject, facts)
          ? assignableRoles(paths, assignedRoleIds, scope, subject.status)
          : [],
      // The contents of a project's roles are defined by its owner, not by the customer of a grant.
      links: canGrant && isEffective && !scope.grant ? linksOf(facts, held, scope) : [],
      settable: {
        user: facts.isProjectUser || subject.status.memberRoleId !== null ? facts.hasOtherOwner : false,
        grantSources: new Set(
          scope.grant ? [] : sources.filter(({ isSystem }) => !isSystem).map(({ id }) => id),
        ),
      },
    },
  };
}

const heldOf = ({ role, group, permission, condition }: PathRow): HeldPermission => ({
  permission: {
    id: permission.id,
    name: permission.name,
    action: permission.action,
    resource: permission.slug,
    managementPlane: permission.builtIn,
  },
  condition,
  role,
  group,
});

/**
 * Whether another role can be assigned to the subject. The role of a key is fixed. A member, or a service user of an
 * account, has one role, which owners keep. A user of a project has up to 20.
 */
function canTakeRole(
  { level }: ResolvedScope,
  { kind, status }: Explainee,
  { hasOtherOwner: otherOwner, isProjectUser: takesPart }: Facts,
): boolean {
  if (kind !== 'user') return false;
  if (level === 'account') return status.memberRoleId !== null;
  if (level === 'organization')
    return status.memberRoleId !== null && status.memberRoleId !== ORGANIZATION_OWNER;
  // A member who is not a user of the project yet can be added to it with the role.
  return takesPart ? otherOwner && status.projectRoleIds.length < CAPACITY.user : true;
}

/**
 * The roles that can be assigned in the scope. `paths` also contains the owners' role, which cannot be assigned in a
 * project.
 */
function assignableRoles(
  paths: readonly PathRow[],
  assignedRoleIds: ReadonlySet<string>,
  { level }: ResolvedScope,
  { isService }: SubjectStatus,
): ExplainContext['roles'] {
  const byRole = new Map<string, PathRow[]>();
  for (const path of paths) {
    const { id } = path.role;
    if (assignedRoleIds.has(id) || (level === 'project' && ownerRoles.includes(id))) continue;
    if (isService && id === ORGANIZATION_OWNER) continue;
    const existing = byRole.get(id);
    if (existing) existing.push(path);
    else byRole.set(id, [path]);
  }
  return [...byRole]
    .sort(([, [a]], [, [b]]) => Number(a?.role.size) - Number(b?.role.size))
    .map(([roleId, rolePaths]) => ({ roleId, paths: rolePaths.map(heldOf) }));
}

/**
 * Returns the links that could be added, sorted by least privilege: groups of the scope before those of its owner,
 * small groups and conditional permissions first.
 */
function linksOf(
  { permissions, assigned }: Facts,
  held: readonly HeldPermission[],
  { nodeId }: ResolvedScope,
): Link[] {
  const groups = new Map(assigned.flatMap(({ group }) => (group ? [[group.id, group] as const] : [])));
  const rolesOfGroup = new Map<string, PathRow['role'][]>();
  for (const { role, group } of assigned) {
    if (!group) continue;
    const roles = rolesOfGroup.get(group.id) ?? [];
    roles.push({ ...role, size: 0 });
    rolesOfGroup.set(group.id, roles);
  }
  const heldInGroup = new Set(held.map(({ group, permission }) => `${group.id} ${permission.id}`));
  return [...groups.values()]
    .filter(({ isSystem, size }) => !isSystem && size < CAPACITY.group)
    .sort((a, b) => Number(b.tenantId === nodeId) - Number(a.tenantId === nodeId) || a.size - b.size)
    .flatMap((group) =>
      permissions
        .filter(({ permission }) => permission.builtIn || permission.tenantId === group.tenantId)
        .filter(({ permission: { id } }) => !heldInGroup.has(`${group.id} ${id}`))
        .map(({ permission, condition }) => ({
          groupId: group.id,
          permissionId: permission.id,
          paths: (rolesOfGroup.get(group.id) ?? []).map((role) =>
            heldOf({ role, group, permission, condition }),
          ),
        })),
    );
}
