/* Decides which scopes a token may name, and what a project's owner may ask about the scopes of customers. */

import {
  evaluateWithoutConditions,
  type Candidates,
  type Grants,
  type PermissionIndex,
} from '@doorward/decision/evaluate';
import type { Principal } from '../kernel/context.ts';
import type { ResolvedScope } from '../kernel/scope.ts';

/**
 * Whether a token may name the scope. Key and app tokens are limited to their own project. A ProjectUser key cannot
 * name a granted scope of the project. A management key covers its organization or account and what is below it, as far
 * as its service user is a member there. An operator who acts for a user cannot enter organizations that do not allow
 * it.
 */
export function isWithinPin(
  { pinned, impersonator }: Pick<Principal, 'pinned' | 'impersonator'>,
  { projectId, accountId, organizationId, rootId, grant, supportAccess }: ResolvedScope,
): boolean {
  if (impersonator && !supportAccess) return false;
  if (!pinned) return true;
  if (pinned.tenant === 'organization') return organizationId === pinned.id;
  if (pinned.tenant === 'account') return rootId === pinned.id;
  if (projectId === null) return false;
  // The id is a pair: project and user, or owner and project. A granted scope and the scope of the project's owner name
  // the same project, so the owner in the pair must match too.
  if (pinned.tenant === 'projectUser') return !grant && pinned.id.startsWith(projectId);
  return pinned.id === `${organizationId ?? accountId}:${projectId}`;
}

/**
 * The permissions that let an owner ask about a granted scope. They count only if they are held without a condition.
 */
const ownersQuestions = [
  ['Authorization', 'Check'],
  ['Authorization', 'Explain'],
  ['User', 'Query'],
] as const;

/** The owner's permissions that count in granted scopes; empty unless `Authorization:Check` is held. */
export function questionsOnly(grants: Grants): PermissionIndex {
  const management = new Map<string, Map<string, Candidates>>();
  for (const [resource, action] of ownersQuestions) {
    const decision = evaluateWithoutConditions(grants, { resource, action });
    if (decision === 'conditional' || !decision.authorized) {
      if (action === 'Check') break;
      continue;
    }
    const actions = management.get(resource) ?? new Map<string, Candidates>();
    management.set(resource, actions.set(action.toLowerCase(), { allowed: decision, conditional: [] }));
  }
  return { managementNouns: grants.held.managementNouns, management, project: new Map() };
}
