/** The reasons of decisions, in the order in which they are checked. */
export const decisionReasons = [
  'INVALID_SCOPE',
  'SUBJECT_INACTIVE',
  'SCOPE_NOT_CONSENTED',
  'NO_PERMISSION',
  'ALLOWED',
  'ALLOWED_BY_CONDITION',
  'CONDITION_NOT_MET',
] as const;
export type DecisionReason = (typeof decisionReasons)[number];

// Refusals without details are shared objects, so that the hot path allocates nothing for them.
const refusal = <R extends DecisionReason>(reason: R) => Object.freeze({ authorized: false, reason });
export const invalidScope = refusal('INVALID_SCOPE');
export const subjectInactive = refusal('SUBJECT_INACTIVE');
export const scopeNotConsented = refusal('SCOPE_NOT_CONSENTED');
export const noPermission = refusal('NO_PERMISSION');
