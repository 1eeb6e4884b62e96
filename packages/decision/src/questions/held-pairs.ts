import { candidatesFor, consents, type Candidates, type Grants } from '../evaluate.ts';
import { compareTexts } from '../policy/text-order.ts';

/** A resource and action that are allowed to a subject, perhaps under conditions. */
export interface EffectivePermission {
  /** Slug of the resource. */
  readonly resource: string;
  readonly action: string;
  /** Whether the subject has only conditional permissions for this resource and action. */
  readonly conditional: boolean;
}

/** A resource and action, with the subject's permissions for them. */
export interface HeldPair extends EffectivePermission {
  readonly candidates: Candidates;
}

/**
 * Lists each resource and action that `evaluate` would not refuse with NO_PERMISSION or SCOPE_NOT_CONSENTED. Sorted by
 * resource, then action, by code unit. A pair with both conditional and unconditional permissions counts as
 * unconditional.
 */
export function heldPairs(grants: Grants): HeldPair[] {
  if (grants.membership !== 'active') return [];
  const pairs: HeldPair[] = [];
  for (const plane of ['management', 'project'] as const) {
    for (const [resource, actions] of grants.held[plane]) {
      for (const action of actions.keys()) {
        const target = { management: plane === 'management', resource, action };
        const candidates = candidatesFor(grants, target);
        if (candidates && consents(grants, resource, action, target)) pairs.push(pairOf(candidates));
      }
    }
  }
  return pairs.sort(byName);
}

/** Takes the action in its original spelling from a permission, because the keys of the index are in lower case. */
function pairOf(candidates: Candidates): HeldPair {
  const { allowed, conditional } = candidates;
  const { resource = '', action = '' } = allowed?.matchedPermission ?? conditional[0]?.permission ?? {};
  return { resource, action, conditional: allowed === undefined, candidates };
}

type Pair = Pick<EffectivePermission, 'resource' | 'action'>;

/** Compares two permissions, for sorting by resource, then by action. */
export const byName = (a: Pair, b: Pair): number =>
  a.resource === b.resource ? compareTexts(a.action, b.action) : compareTexts(a.resource, b.resource);
