import { createHash } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson } from '../db/canonical-json.ts';
import { canonicalCondition } from './conditions.ts';
import { candidatesFor, consents, type Candidates, type Grants } from './evaluate.ts';

/**
 * What a subject may do in a scope, as a list: the pairs to which `evaluate` would not answer NO_PERMISSION or
 * SCOPE_NOT_CONSENTED, each once. A pair that is held both with and without a condition is held without.
 *
 * @example effectivePermissions(grants) // [{ resource: 'invoice', action: 'read', conditional: true, terms: '…' }]
 */
export const EffectivePermission = z
  .object({
    resource: z.string().describe('Slug of the resource.'),
    action: z.string().describe('The action on it.'),
    conditional: z.boolean().meta({ description: 'Held under conditions only.' }),
  })
  .meta({ id: 'EffectivePermission', description: 'Something that a subject may do in a scope.' });

export interface Effective extends Readonly<z.output<typeof EffectivePermission>> {
  /**
   * Digests of its conditions and of what they read of the subject; empty without conditions. Equal terms decide every
   * question alike.
   */
  readonly terms: string;
}

/** Sorted by resource and action, by code unit. Pure, as the decision is. */
export function effectivePermissions(grants: Grants): Effective[] {
  if (grants.standing !== 'active') return [];
  const found: Effective[] = [];
  for (const plane of ['management', 'project'] as const) {
    for (const [resource, actions] of grants.held[plane]) {
      for (const action of actions.keys()) {
        const target = { management: plane === 'management', resource, action };
        const candidates = candidatesFor(grants, target);
        if (candidates && consents(grants, resource, action, target)) found.push(listed(candidates, grants));
      }
    }
  }
  return found.sort(byName);
}

/** Changes exactly when the permissions do, or the terms on which they are held. */
export function versionOf(permissions: readonly Effective[]): string {
  return digest(canonicalJson(permissions));
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 27);

type Pair = Pick<Effective, 'resource' | 'action'>;

/** The order of every list of permissions. */
export const byName = (a: Pair, b: Pair): number =>
  a.resource === b.resource ? compare(a.action, b.action) : compare(a.resource, b.resource);

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Under the name that its maker gave it: actions are looked up in lower case. */
function listed({ allowed, conditional }: Candidates, grants: Grants): Effective {
  const { resource = '', action = '' } = allowed?.matchedPermission ?? conditional[0]?.permission ?? {};
  if (allowed) return { resource, action, conditional: false, terms: '' };
  const { user, scope } = grants;
  const terms = conditional.map(({ condition, compiled, role, group }) =>
    digest(
      `${canonicalCondition(condition)} ${canonicalJson(compiled.context({ user, role, group, scope }))}`,
    ),
  );
  return { resource, action, conditional: true, terms: [...new Set(terms)].sort().join('\n') };
}
