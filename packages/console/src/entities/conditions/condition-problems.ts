import { assertCondition, ConditionError, type ConditionProblem } from '@doorward/decision';
import type { conditionTexts } from './condition-texts.ts';

/** What the service refuses of a condition, found by the code that the service checks with. */
export function problemsOf(condition: unknown): readonly ConditionProblem[] {
  try {
    assertCondition(condition);
    return [];
  } catch (error) {
    return error instanceof ConditionError ? error.problems : [];
  }
}

/** A problem in words; undefined if it belongs to the condition as a whole, such as its size. */
export function problemText(
  { code }: ConditionProblem,
  t: (typeof conditionTexts)['en'],
): string | undefined {
  if (code === 'limit') return undefined;
  if (code === 'path') return t.pathProblem;
  if (code === 'empty') return t.emptyProblem;
  return code === 'operator' || code === 'type' ? t.partProblem : t.valueProblem;
}
