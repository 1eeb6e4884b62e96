import { fail } from '../errors.ts';
import { canonicalCondition } from './conditions.ts';
import { candidatesFor, consents } from './evaluate.ts';
import type { Candidate, Candidates, Grants, Target } from './evaluate.ts';

/**
 * The subset rule (authorization §5): nobody gives or takes what they do not hold themselves.
 *
 * The holder is judged by its grants and not by its rows alone: an app token holds no more than its scopes let it
 * use, and a subject that is not active holds nothing.
 *
 * @example assertHolds(grants, permissionsOf(role), userId);
 */
export type Holder = Pick<Grants, 'standing' | 'consented' | 'projectPlaneOnly' | 'held' | 'user' | 'scope'>;

/** Id of the one user who gains the right; undefined where others may hold it too, or nobody gains anything. */
export type Receiver = string | undefined;

/** A permission that is about to be given or taken. */
export interface WantedPermission {
  /** Slug of the resource. */
  readonly resource: string;
  readonly action: string;
  readonly managementPlane: boolean;
  /** As stored or as just asserted. */
  readonly condition: unknown;
}

/** The `resource:action` names that the holder lacks, each once, in the order wanted; empty if none. */
export function missingPermissions(
  holder: Holder,
  wanted: readonly WantedPermission[],
  receiver?: Receiver,
): string[] {
  const missing = new Set<string>();
  const project = definesPermissions(holder);
  for (const one of wanted) {
    const counted = project && !one.managementPlane;
    if (!counted && !holds(holder, one, receiver)) missing.add(`${one.resource}:${one.action}`);
  }
  return [...missing];
}

/** @throws PRIVILEGE_ESCALATION with the first 20 missing permissions as details */
export function assertHolds(holder: Holder, wanted: readonly WantedPermission[], receiver?: Receiver): void {
  const missing = missingPermissions(holder, wanted, receiver);
  if (missing.length === 0) return;
  const details = missing.slice(0, 20).map((path) => ({ path, code: 'permission' as const }));
  throw fail('PRIVILEGE_ESCALATION', { details });
}

/** Who may define the permissions of a project could define each of them anyway: these count as held. */
function definesPermissions(holder: Holder): boolean {
  return holds(holder, {
    resource: 'Permission',
    action: 'Create',
    managementPlane: true,
    condition: null,
  });
}

function holds(holder: Holder, wanted: WantedPermission, receiver?: Receiver): boolean {
  if (holder.standing !== 'active') return false;
  const { resource, action, managementPlane: management } = wanted;
  const target: Target = { management, resource, action: action.toLowerCase() };
  if (!consents(holder, resource, action, target)) return false;
  const candidates = candidatesFor(holder, target);
  if (candidates === undefined) return false;
  if (candidates.allowed) return true;
  // What is wanted unconditionally equals none of these: they are all conditional.
  const equal = byCondition(candidates).get(canonicalCondition(wanted.condition)) ?? [];
  return equal.some((held) => keepsItsMeaning(held, holder, receiver));
}

const indexes = new WeakMap<Candidates, Map<string, Candidate[]>>();

/** The candidates by canonical condition: a wide role can hold thousands, and thousands can be wanted. */
function byCondition(candidates: Candidates): Map<string, Candidate[]> {
  const known = indexes.get(candidates);
  if (known) return known;
  const index = new Map<string, Candidate[]>();
  for (const one of candidates.conditional) {
    const canonical = canonicalCondition(one.condition);
    const equal = index.get(canonical);
    if (equal) equal.push(one);
    else index.set(canonical, [one]);
  }
  indexes.set(candidates, index);
  return index;
}

/**
 * Whether the condition means the same for the receiver. A condition on the role or the group that grants the
 * permission does not: a holder who does not meet it could grant it by another role that does, or change the metadata
 * of their own role. Nor does a condition on the user: the holder could grant it to a user who meets it, and act
 * through them. So such a permission can be granted only to the holder themselves, while they meet the condition.
 */
function keepsItsMeaning(
  { compiled, role, group }: Candidate,
  { user, scope }: Holder,
  receiver: Receiver,
): boolean {
  const reads = (root: string): boolean => compiled.paths.some((path) => path.startsWith(`${root}.`));
  if (reads('role') || reads('group')) return false;
  if (!reads('user')) return true;
  if (receiver === undefined || user?.['id'] !== receiver) return false;
  return compiled.evaluate({ user, role, group, scope }) === 'true';
}
