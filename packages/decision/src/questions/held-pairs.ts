import { candidatesFor, consents, type Candidates, type Grants } from '../evaluate.ts';
import { compareTexts } from '../policy/text-order.ts';

/** Something that a subject may do. */
export interface EffectivePermission {
  /** Slug of the resource. */
  readonly resource: string;
  readonly action: string;
  /** Whether the subject holds it only under conditions. */
  readonly conditional: boolean;
}

/** A resource and action, with the permissions by which the subject holds them. */
export interface HeldPair extends EffectivePermission {
  readonly candidates: Candidates;
}

/**
 * Each resource and action for which `evaluate` would not answer NO_PERMISSION or SCOPE_NOT_CONSENTED, once, sorted by resource
 * and action, by code unit. A pair that is held both with and without a condition counts as unconditional.
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

/** The action in its original spelling; the keys of the index are in lower case. */
function pairOf(candidates: Candidates): HeldPair {
  const { allowed, conditional } = candidates;
  const { resource = '', action = '' } = allowed?.matchedPermission ?? conditional[0]?.permission ?? {};
  return { resource, action, conditional: allowed === undefined, candidates };
}

type Pair = Pick<EffectivePermission, 'resource' | 'action'>;

/** The order of every list of permissions. */
export const byName = (a: Pair, b: Pair): number =>
  a.resource === b.resource ? compareTexts(a.action, b.action) : compareTexts(a.resource, b.resource);
