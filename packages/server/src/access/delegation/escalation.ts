/*
 * The delegation rule (authorization §5): a subject cannot grant or revoke permissions that it does not hold.
 *
 * The holder's grants decide, which can be less than the permissions in its roles: an app token holds only what its
 * scopes allow, and an inactive subject holds nothing.
 */

import { fail } from '../../errors.ts';
import { canonicalCondition } from '@doorward/decision/conditions';
import { candidatesFor, consents } from '@doorward/decision/evaluate';
import type { Candidate, Candidates, Grants, Target } from '@doorward/decision/evaluate';

/**
 * The caller's grants, as far as the rule reads them.
 *
 * @example assertNoEscalation(grants, await permissionsOf(tx, scope, { roleIds }), userId);
 */
export type Holder = Pick<
  Grants,
  'membership' | 'consented' | 'projectPlaneOnly' | 'held' | 'user' | 'organization' | 'scope'
>;

/** The id of the only user who gains the permission; undefined if other users gain it too, or no user does. */
export type Grantee = string | undefined;

/** A permission that a call grants or revokes. */
export interface WantedPermission {
  /** Slug of the resource. */
  readonly resource: string;
  readonly action: string;
  readonly managementPlane: boolean;
  /** The condition as stored, or as validated by `assertCondition`. */
  readonly condition: unknown;
}

/** Returns the `resource:action` names that the holder lacks, each once, in the order of `wanted`. */
export function missingPermissions(
  holder: Holder,
  wanted: readonly WantedPermission[],
  grantee?: Grantee,
): string[] {
  const missing = new Set<string>();
  const holdsProjectPlane = definesPermissions(holder);
  for (const wantedPermission of wanted) {
    const isDefinable = holdsProjectPlane && !wantedPermission.managementPlane;
    if (!isDefinable && !holds(holder, wantedPermission, grantee))
      missing.add(`${wantedPermission.resource}:${wantedPermission.action}`);
  }
  return [...missing];
}

/**
 * Asserts that the holder has all wanted permissions.
 *
 * @throws PRIVILEGE_ESCALATION with the first 20 missing permissions as details
 */
export function assertNoEscalation(
  holder: Holder,
  wanted: readonly WantedPermission[],
  grantee?: Grantee,
): void {
  const missing = missingPermissions(holder, wanted, grantee);
  if (missing.length === 0) return;
  const details = missing.slice(0, 20).map((path) => ({ path, code: 'permission' as const }));
  throw fail('PRIVILEGE_ESCALATION', { details });
}

/**
 * Whether the holder may create permissions in the project. They could create any permission, so all project-plane
 * permissions count as held.
 */
function definesPermissions(holder: Holder): boolean {
  return holds(holder, {
    resource: 'Permission',
    action: 'Create',
    managementPlane: true,
    condition: null,
  });
}

function holds(holder: Holder, wanted: WantedPermission, grantee?: Grantee): boolean {
  if (holder.membership !== 'active') return false;
  const { resource, action, managementPlane: management } = wanted;
  const target: Target = { management, resource, action: action.toLowerCase() };
  if (!consents(holder, resource, action, target)) return false;
  const candidates = candidatesFor(holder, target);
  if (candidates === undefined) return false;
  if (candidates.allowed) return true;
  // All candidates are conditional here, so a wanted permission without a condition equals none of them.
  const equal = byCondition(candidates).get(canonicalCondition(wanted.condition)) ?? [];
  return equal.some((held) => isSameForGrantee(held, holder, grantee));
}

const indexes = new WeakMap<Candidates, Map<string, Candidate[]>>();

/**
 * Indexes the candidates by canonical condition, because a role can hold thousands of them, and thousands can be
 * wanted.
 */
function byCondition(candidates: Candidates): Map<string, Candidate[]> {
  const existing = indexes.get(candidates);
  if (existing) return existing;
  const index = new Map<string, Candidate[]>();
  for (const candidate of candidates.conditional) {
    const canonical = canonicalCondition(candidate.condition);
    const equal = index.get(canonical);
    if (equal) equal.push(candidate);
    else index.set(canonical, [candidate]);
  }
  indexes.set(candidates, index);
  return index;
}

/**
 * Whether the condition means the same for the grantee. A condition on the granting role or group does not: a holder
 * who does not meet it could grant the permission through a role that does, or change the metadata of their own role.
 * Neither does a condition on the user: the holder could grant the permission to a user who meets it, and act through
 * them. Such a permission can be granted only to the holder themselves, while they meet the condition.
 */
function isSameForGrantee(
  { compiled, role, group }: Candidate,
  { user, organization, scope }: Holder,
  grantee: Grantee,
): boolean {
  const reads = (root: string): boolean => compiled.paths.some((path) => path.startsWith(`${root}.`));
  if (reads('role') || reads('group')) return false;
  if (!reads('user')) return true;
  if (grantee === undefined || user?.['id'] !== grantee) return false;
  return compiled.evaluate({ user, role, group, organization, scope }) === 'true';
}
