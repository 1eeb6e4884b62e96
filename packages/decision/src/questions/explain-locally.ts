import { locate } from '../evaluate.ts';
import { limits, outcomeOf, reasonsWithPaths, type Outcome } from '../explain.ts';
import { decide, emptyQuestion, pairOf, type LocalQuestion } from './decide.ts';
import { rolesOf } from './effective.ts';
import { pathsOf } from '../policy/nodes.ts';
import type { Policy } from '../policy/policy.ts';
import { consentOf, holderOf } from './subject.ts';

/**
 * Explains a decision: returns the subject's paths to the resource and action (50 at most), and whether the condition
 * on each is met. The result equals `candidates` in the service's explanation. Empty if the question was decided
 * without looking at the permissions.
 *
 * @example
 * const outcomes = explainLocally(policy, question);
 * outcomes.find(({ result }) => result === 'notMet')?.failedAt // the comparison that failed
 */
export function explainLocally(policy: Policy, question: LocalQuestion): Outcome[] {
  const { subject, permission, context, now } = question ?? emptyQuestion;
  const holder = holderOf(policy, subject, now);
  const pair = pairOf(permission);
  if (!holder || !pair || !reasonsWithPaths.has(decide(policy, question).reason)) return [];
  const { management, resource, action } = locate(policy.graph.names, pair.resource, pair.action);
  if (management && consentOf(policy, subject).projectPlaneOnly === true) return [];
  const attributes = { attributes: (context?.resource ?? null) as Record<string, unknown> | null };
  return pathsOf(rolesOf(policy, holder))
    .filter(
      ({ permission: held }) =>
        held.managementPlane === management &&
        held.resource === resource &&
        held.action.toLowerCase() === action,
    )
    .slice(0, limits.candidates)
    .map((path) => outcomeOf(path, { ...policy, user: holder.user }, attributes));
}
