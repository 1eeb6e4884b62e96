import {
  decideByConditions,
  type Candidate,
  type Decision,
  type MatchedPermission,
  type Target,
} from '../evaluate.ts';
import type { Graph } from '../policy/graph.ts';
import { comparePaths } from '../policy/nodes.ts';
import { compareTexts } from '../policy/text-order.ts';
import { Lists } from '../lists.ts';
import { noPermission } from '../reasons.ts';

/** The attributes of a question that are the same on every path. */
interface PathlessAttributes {
  readonly user: Record<string, unknown>;
  readonly organization?: Record<string, unknown> | undefined;
  readonly scope: Record<string, unknown>;
  readonly resource: unknown;
}

/**
 * Decides for a set of roles that has no index, because `SetIndexes` limits how much memory such indexes take. Reads
 * the indexes of the single roles instead. The result is that of `evaluate` over all paths of the subject.
 */
export function decideAmong(
  graph: Graph,
  roleIds: readonly string[],
  { management, resource, action }: Target,
  attributes: PathlessAttributes,
): Decision {
  let allowed: Decision | undefined;
  let list: readonly Candidate[] | undefined;
  let lists: (readonly Candidate[])[] | undefined;
  for (const id of roleIds) {
    const index = graph.roles.get(id)?.index;
    const candidates = (management ? index?.management : index?.project)?.get(resource)?.get(action);
    if (!candidates) continue;
    if (candidates.allowed) allowed = earlier(graph, allowed, candidates.allowed);
    else if (list) (lists ??= [list]).push(candidates.conditional);
    else list = candidates.conditional;
  }
  if (allowed || !list) return allowed ?? noPermission;
  return decideByConditions(
    attributes,
    attributes.resource,
    lists ? [decidingCandidate(graph, lists, attributes)] : list,
  );
}

/** Merges several ordered lists: returns the first candidate whose condition is met, else the first candidate. */
function decidingCandidate(
  graph: Graph,
  lists: readonly (readonly Candidate[])[],
  { user, organization, scope, resource }: PathlessAttributes,
): Candidate {
  const examinedLists = new Lists();
  let met: Candidate | undefined;
  let first: Candidate | undefined;
  for (const list of lists) {
    for (const candidate of list) {
      if (met && compareCandidates(graph, met, candidate) < 0) break;
      // Several roles often contain the same group; the same condition then has the same result.
      if (first && haveSameAnswer(first, candidate)) continue;
      const { compiled, role, group } = candidate;
      if (compiled.evaluate({ user, role, group, organization, scope, resource }, examinedLists) === 'true') {
        met = candidate;
        break;
      }
      if (!first || compareCandidates(graph, candidate, first) < 0) first = candidate;
    }
  }
  return (met ?? first) as Candidate;
}

/** Whether two candidates are for the same permission and must have the same result. */
const haveSameAnswer = (a: Candidate, b: Candidate): boolean =>
  a.permission.id === b.permission.id &&
  (!a.compiled.readsRole || a.role.id === b.role.id) &&
  (!a.compiled.readsGroup || a.group.id === b.group.id);

const compareCandidates = (graph: Graph, a: Candidate, b: Candidate): number =>
  compareTimes(graph, a.permission, b.permission) || comparePaths(a, b);

/** Of two decisions by unconditional permissions, returns the one whose permission comes first. */
function earlier(graph: Graph, a: Decision | undefined, b: Decision): Decision {
  const [ofA, ofB] = [a?.matchedPermission, b.matchedPermission];
  if (!a || !ofA || !ofB) return b;
  return (compareTimes(graph, ofA, ofB) || compareTexts(ofA.id, ofB.id)) < 0 ? a : b;
}

const compareTimes = (
  { permissions }: Graph,
  { id: a }: MatchedPermission,
  { id: b }: MatchedPermission,
): number =>
  a === b ? 0 : (permissions.get(a)?.row.createdAt ?? 0) - (permissions.get(b)?.row.createdAt ?? 0);
