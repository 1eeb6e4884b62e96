import {
  candidatesFor,
  consents,
  decideByConditions,
  locate,
  type Decision,
  type Question,
} from '../evaluate.ts';
import { noPermission, scopeNotConsented, subjectInactive } from '../reasons.ts';
import type { Policy } from '../policy/policy.ts';
import { decideAmong } from './decide-among.ts';
import { consentOf, holderOf, isCertainlyConsented, type Subject } from './subject.ts';

/** A question about a subject in the project of a policy. */
export interface LocalQuestion {
  readonly subject: Subject;
  /** `order:read` with exactly one colon, or the resource and action separately. */
  readonly permission: string | { readonly resource: string; readonly action: string };
  /** Attributes of the resource as JSON, which conditions read under `resource`. */
  readonly context?: { readonly resource?: object | null | undefined } | null | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Decides a question. The result equals, in every member, the decision of the service on the same rows. Never throws
 * for JSON input, reads no clock, and, once the roles are indexed, takes time linear in the number of the subject's
 * paths to the resource and action.
 *
 * @example
 * const now = Date.now();
 * decide(policy, { subject: { userId }, permission: 'order:read', context: { resource: order }, now })
 */
export function decide(policy: Policy, question: LocalQuestion): Decision {
  const { subject, permission, context, now } = question ?? emptyQuestion;
  const holder = holderOf(policy, subject, now);
  if (!holder) return subjectInactive;
  const pair = pairOf(permission);
  if (!pair) return noPermission;
  const { graph, organization, scope } = policy;
  const target = locate(graph.names, pair.resource, pair.action);
  // Most questions pass this cheap check, which saves building a set of the consented scopes.
  if (!isCertainlyConsented(policy, subject, pair)) {
    const { consented, projectPlaneOnly } = consentOf(policy, subject);
    if (consented && !consents({ consented, held: graph.names }, pair.resource, pair.action, target))
      return scopeNotConsented;
    if (projectPlaneOnly && target.management) return noPermission;
  }
  const attributes = { user: holder.user, organization, scope, resource: context?.resource };
  const index = graph.sets.indexOf(holder.roles, graph.roles);
  if (!index) return decideAmong(graph, holder.roles.ids, target, attributes);
  const candidates = candidatesFor({ held: index }, target);
  if (!candidates) return noPermission;
  return candidates.allowed ?? decideByConditions(attributes, attributes.resource, candidates.conditional);
}

type Pair = Pick<Question, 'resource' | 'action'>;

/** Used when the question is null or undefined; it is decided as a question about no subject. */
export const emptyQuestion: Partial<LocalQuestion> = {};

/** The resource and action of a permission; undefined for a value that is not a permission. */
export function pairOf(permission: unknown): Pair | undefined {
  if (typeof permission === 'string') {
    const colon = permission.indexOf(':');
    if (colon < 0 || permission.includes(':', colon + 1)) return undefined;
    return { resource: permission.slice(0, colon), action: permission.slice(colon + 1) };
  }
  const { resource, action } = (permission ?? {}) as Partial<Record<string, unknown>>;
  return typeof resource === 'string' && typeof action === 'string' ? (permission as Pair) : undefined;
}
