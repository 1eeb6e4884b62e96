import { compileCondition } from './conditions.ts';
import { failureOf } from './conditions-failure.ts';
import type { Failure } from './conditions-failure.ts';
import { evaluate, indexPermissions, locate } from './evaluate.ts';
import type { Decision, Grants, HeldPermission, Question } from './evaluate.ts';
import { conditionAttributes, type Accepts, type ExplainContext } from './explain-context.ts';
import { Lists } from './lists.ts';
import { settingRemedy, type SettingRemedy } from './setting-remedy.ts';
import { unlimited, type Charged } from './work.ts';

export type { Accepts, ExplainContext, Link } from './explain-context.ts';

/** One path from the subject to the resource and action, and whether the condition on it is met. */
export interface Outcome {
  readonly permissionId: string;
  readonly roleId: string;
  readonly groupId: string;
  readonly result: 'unconditional' | 'met' | 'notMet';
  readonly failedAt?: Failure;
}

export type Remedy =
  | { readonly kind: 'assignRole'; readonly roleId: string }
  | { readonly kind: 'addPermissionToGroup'; readonly groupId: string; readonly permissionId: string }
  | SettingRemedy;

export interface Explanation {
  readonly decision: Decision;
  readonly candidates: readonly Outcome[];
  readonly nearest: readonly Remedy[];
}

export const limits = { candidates: 50, nearest: 3 } as const;

/**
 * Explains a decision, and proposes the smallest changes that would turn a refusal into an allowed decision
 * (authorization §10.1).
 *
 * Pure, like `evaluate`. Each remedy has been verified: `evaluate` allows the same question after the change. `context`
 * lists the changes that are possible.
 *
 * The permissions come from `context`, which is current. From `grants.held` only the built-in nouns are used.
 * @throws WorkExceeded if the steps exceed the budget of `work`
 */
export function explain(
  grants: Grants,
  question: Question,
  context: ExplainContext,
  accepts: Accepts,
  work: Charged = unlimited,
): Explanation {
  const { held } = context;
  const tryWith = (paths: readonly HeldPermission[], changed?: Partial<Grants>, requested = question) =>
    evaluate(
      { ...grants, ...changed, held: indexPermissions(paths, grants.held.managementNouns, work) },
      requested,
      work,
    );
  const decision = tryWith(held);
  if (!reasonsWithPaths.has(decision.reason) || !hasEffect(grants, question))
    return { decision, candidates: [], nearest: [] };
  const lists = new Lists(work);
  const candidates = held.slice(0, limits.candidates).map((path) => outcomeOf(path, grants, question, lists));
  if (decision.authorized) return { decision, candidates, nearest: [] };

  const allows = (...tried: Parameters<typeof tryWith>) => tryWith(...tried).authorized;
  const setting = settingRemedy({ grants, question, context, accepts, allows, work });
  // Permissions only add, so it is enough to evaluate the new paths alone.
  const role = context.roles.find(({ paths }) => allows(paths));
  const link = context.links.find(({ paths }) => allows(paths));
  // Changes that affect only this subject come first, changes that also affect other subjects come last.
  const nearest: (Remedy | undefined)[] = [
    setting && !setting.shared ? setting.remedy : undefined,
    role && { kind: 'assignRole', roleId: role.roleId },
    link && { kind: 'addPermissionToGroup', groupId: link.groupId, permissionId: link.permissionId },
    setting?.shared ? setting.remedy : undefined,
  ];
  return {
    decision,
    candidates,
    nearest: nearest.filter((remedy) => remedy !== undefined).slice(0, limits.nearest),
  };
}

/** The reasons that a decision gives after it has looked at the permissions. */
export const reasonsWithPaths: ReadonlySet<Decision['reason']> = new Set<Decision['reason']>([
  'NO_PERMISSION',
  'ALLOWED',
  'ALLOWED_BY_CONDITION',
  'CONDITION_NOT_MET',
]);

const hasEffect = ({ held, projectPlaneOnly }: Grants, { resource, action }: Question): boolean =>
  projectPlaneOnly !== true || !locate(held, resource, action).management;

/** Evaluates the condition on a path. If it is not met, the outcome names the comparison that failed. */
export function outcomeOf(
  path: HeldPermission,
  grants: Pick<Grants, 'user' | 'organization' | 'scope'>,
  question: Pick<Question, 'attributes'>,
  lists: Lists = new Lists(),
): Outcome {
  const compiled = compileCondition(path.condition);
  const attributes = conditionAttributes(path, grants, question);
  const ids = { permissionId: path.permission.id, roleId: path.role.id, groupId: path.group.id };
  if (compiled.unconditional) return { ...ids, result: 'unconditional' };
  if (compiled.evaluate(attributes, lists) === 'true') return { ...ids, result: 'met' };
  const failedAt = failureOf(path.condition, attributes, lists);
  return { ...ids, result: 'notMet', ...(failedAt && { failedAt }) };
}
