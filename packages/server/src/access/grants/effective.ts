import { createHash } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson } from '../../kernel/output/canonical-json.ts';
import { canonicalCondition } from '@doorward/decision/conditions';
import type { Candidates, Grants } from '@doorward/decision/evaluate';
import { heldPairs } from '@doorward/decision/questions/held-pairs';

/**
 * A permission in the list of a subject's effective permissions: each resource and action that `evaluate` would not
 * refuse with NO_PERMISSION or SCOPE_NOT_CONSENTED, once. A pair with both conditional and unconditional permissions
 * counts as unconditional.
 *
 * @example effectivePermissions(grants) // [{ resource: 'invoice', action: 'read', conditional: true, terms: '…' }]
 */
export const EffectivePermission = z
  .object({
    resource: z.string().describe('Slug of the resource.'),
    action: z.string().describe('The action on it.'),
    conditional: z.boolean().meta({ description: 'Whether it is held under conditions only.' }),
  })
  .meta({ id: 'EffectivePermission', description: 'Something that a subject may do in a scope.' });

export interface Effective extends Readonly<z.output<typeof EffectivePermission>> {
  /**
   * Digests of the pair's conditions and of the attributes that they read; empty without conditions. If the terms are
   * equal, every question about the pair has the same decision.
   */
  readonly terms: string;
}

/** Lists the effective permissions, sorted by resource and action, by code unit. Pure, like the decision. */
export const effectivePermissions = (grants: Grants): Effective[] =>
  heldPairs(grants).map(({ candidates, ...pair }) => ({ ...pair, terms: termsOf(candidates, grants) }));

/** A digest that changes if and only if the permissions or their terms change. */
export function versionOf(permissions: readonly Effective[]): string {
  return digest(canonicalJson(permissions));
}

export const digest = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, 27);

function termsOf({ allowed, conditional }: Candidates, { user, organization, scope }: Grants): string {
  if (allowed) return '';
  const { digestOnce, textOf } = digester();
  // Groups without the attribute that a condition reads produce the same line.
  const lines = conditional.map(({ condition, compiled, role, group }) => {
    const context = compiled.context({ user, role, group, organization, scope });
    return `${digestOnce(condition, canonicalCondition)} ${textOf(Object.entries(context))}`;
  });
  return [...new Set(lines)].map(digest).sort().join('\n');
}

interface Digester {
  readonly digestOnce: (value: unknown, textOf: (value: unknown) => string) => string;
  /** Writes attributes by path, with digests instead of lists and objects. */
  readonly textOf: (attributes: readonly (readonly [path: string, value: unknown])[]) => string;
}

/**
 * Returns functions that digest each object only once: a hundred groups may refer to the same condition of several
 * kilobytes, and ten thousand paths may read the same list of the user.
 */
export function digester(): Digester {
  const digests = new Map<unknown, string>();
  const digestOnce: Digester['digestOnce'] = (value, textOf) => {
    const existing = digests.get(value);
    if (existing !== undefined) return existing;
    const made = digest(textOf(value));
    digests.set(value, made);
    return made;
  };
  const shortened = (value: unknown): unknown =>
    typeof value === 'object' && value !== null ? [digestOnce(value, canonicalJson)] : value;
  return {
    digestOnce,
    textOf: (attributes) => JSON.stringify(attributes.map(([path, value]) => [path, shortened(value)])),
  };
}
