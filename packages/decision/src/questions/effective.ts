import { indexPermissions, type Grants } from '../evaluate.ts';
import { pathsOf, type RoleNode } from '../policy/nodes.ts';
import { heldPairs, type EffectivePermission } from './held-pairs.ts';
import type { Holder, Policy } from '../policy/policy.ts';
import { consentOf, holderOf, type Subject } from './subject.ts';

/**
 * Lists the effective permissions of the subject in the project at `now` (milliseconds since 1970), like
 * `/me/permissions` of the service: sorted, complete, and each pair of resource and action once.
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
 * `policy` is not destructured, because the published declaration would then name `graph`, which is internal.
 */
export const rolesOf = (policy: Policy, { roles }: Holder): readonly RoleNode[] =>
  roles.ids.flatMap((id) => policy.graph.roles.get(id) ?? []);
