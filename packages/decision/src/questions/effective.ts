import { indexPermissions, type Grants } from '../evaluate.ts';
import { pathsOf, type RoleNode } from '../policy/nodes.ts';
import { heldPairs, type EffectivePermission } from './held-pairs.ts';
import type { Holder, Policy } from '../policy/policy.ts';
import { consentOf, holderOf, type Subject } from './subject.ts';

/**
 * What the subject may do in the project at `now` (milliseconds), as the service lists it at `/me/permissions`: sorted, complete,
 * each resource and action once.
 *
 * @example effective(policy, { userId }, Date.now()) // [{ resource: 'order', action: 'read', conditional: true }]
 */
export function effective(policy: Policy, subject: Subject, now: number): EffectivePermission[] {
  const holder = holderOf(policy, subject, now);
  if (!holder) return [];
  const grants: Grants = {
    membership: 'active',
    user: holder.user,
    organization: policy.organization,
    scope: policy.scope,
    held: indexPermissions(pathsOf(rolesOf(policy, holder)), policy.graph.names.managementNouns),
    ...consentOf(policy, subject),
  };
  return heldPairs(grants).map(({ resource, action, conditional }) => ({ resource, action, conditional }));
}

/**
 * The roles of the holder.
 *
 * A destructured parameter would name `graph` in the published declaration, and `graph` is internal.
 */
export const rolesOf = (policy: Policy, { roles }: Holder): readonly RoleNode[] =>
  roles.ids.flatMap((id) => policy.graph.roles.get(id) ?? []);
