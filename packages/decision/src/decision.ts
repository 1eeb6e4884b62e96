/**
 * Decides about one project of Doorward in your own process: give it a verified snapshot, and it returns decisions with
 * their reasons. It uses no I/O, no clock and no randomness.
 *
 * @example
 * const policy = compileSnapshot(claims);
 * const question = { subject: { userId }, permission: 'order:read', context: { resource: order }, now: Date.now() };
 * decide(policy, question).authorized;
 */
export { applyChanges, compileSnapshot } from './policy/compile.ts';
export { decide, type LocalQuestion } from './questions/decide.ts';
export { effective } from './questions/effective.ts';
export type { EffectivePermission } from './questions/held-pairs.ts';
export { explainLocally } from './questions/explain-locally.ts';
export type { Ended, Holder, Policy, PolicyKey, RoleSet } from './policy/policy.ts';
export { SnapshotError, type SnapshotErrorCode } from './policy/snapshot-error.ts';
export {
  covers,
  type AppSubject,
  type KeySubject,
  type Subject,
  type UserSubject,
} from './questions/subject.ts';
export { assertCondition, canonicalCondition, compileCondition, ConditionError } from './conditions.ts';
export type { CompiledCondition, Condition, Values } from './conditions.ts';
export type { Attributes, Truth } from './conditions-eval.ts';
export { failureOf, type Failure } from './conditions-failure.ts';
export type { ConditionProblem, ConditionProblemCode } from './conditions-parse.ts';
export type { Decision, MatchedPermission } from './evaluate.ts';
export type { Outcome } from './explain.ts';
export { decisionReasons, type DecisionReason } from './reasons.ts';
export type {
  ChangesClaims,
  EndedCredentials,
  SnapshotApp,
  SnapshotClaims,
  SnapshotGroup,
  SnapshotKey,
  SnapshotPermission,
  SnapshotResource,
  SnapshotRole,
  SnapshotUser,
} from './snapshot-claims.ts';
