import type { Condition } from '@doorward/decision/conditions';
import {
  operators,
  parseCondition,
  roots,
  type ConditionProblemCode,
} from '@doorward/decision/conditions-parse';
import { fail } from '../errors.ts';
import { fixOf, useOneOf, type Hint } from '../kernel/input/fix.ts';

/**
 * Validates a condition. Returns null for null and `{}`, else the argument itself.
 *
 * @throws INVALID_CONDITION with one detail per problem (20 at most), with paths below `path`
 */
export function assertCondition(raw: unknown, path = 'condition'): Condition {
  const { root, problems } = parseCondition(raw, path);
  if (problems.length > 0) {
    const hinted = problems.flatMap(({ path: at, code }) => hints[code]?.(at) ?? []);
    const fix = fixOf(hinted, problems.length);
    throw fail('INVALID_CONDITION', { details: problems, ...(fix === undefined ? {} : { fix }) });
  }
  return root === null ? null : (raw as Record<string, unknown>);
}

/** Hints about accepted values, by problem code. */
const hints: Partial<Record<ConditionProblemCode, (path: string) => Hint>> = {
  operator: (path) => ({ path, hint: useOneOf(['And', 'Or', 'Not', ...operators]) }),
  path: (path) => ({
    path,
    hint: `begin with ${roots.join('., ')}. and name an attribute, as in resource.ownerId; 7 names of letters, digits, _ and - at most`,
  }),
};
