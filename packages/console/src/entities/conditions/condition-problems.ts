import { assertCondition, ConditionError, type ConditionProblem } from '@doorward/decision';
import type { conditionTexts } from './condition-texts.ts';

/** Finds the problems for which the service would refuse a condition, with the code that the service uses. */
export function problemsOf(condition: unknown): readonly ConditionProblem[] {
  try {
    assertCondition(condition);
    return [];
  } catch (error) {
    return error instanceof ConditionError ? error.problems : [];
  }
}

/** Describes a problem; undefined if it concerns the condition as a whole, such as its size. */
export function problemText(
  { code }: ConditionProblem,
  t: (typeof conditionTexts)['en'],
): string | undefined {
  if (code === 'limit') return undefined;
  if (code === 'path') return t.pathProblem;
  if (code === 'empty') return t.emptyProblem;
  return code === 'operator' || code === 'type' ? t.partProblem : t.valueProblem;
}
