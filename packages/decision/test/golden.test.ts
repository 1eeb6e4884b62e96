import { describe, expect, it } from 'vitest';
import { goldenCases } from '../golden/cases.ts';
import { golden } from '../golden/conditions.ts';
import { compileCondition } from '../src/conditions.ts';
import { parseCondition } from '../src/conditions-parse.ts';

const cases = goldenCases.map((golden) => [golden.number, JSON.stringify(golden.condition), golden] as const);

/** The golden cases of the condition language, for compiled conditions; the tests of the service run them over its API. */
describe('the golden cases', () => {
  it('are complete and distinct', () => {
    expect(new Set(golden.map(([number]) => number)).size).toBe(61);
    // One condition appears twice: with the resource and without it.
    expect(new Set(golden.map(([number, json]) => `${json} ${number === 56}`)).size).toBe(golden.length);
  });

  it.each(cases)('%i: %s', (_number, _, { condition, attributes, expected }) => {
    const truth = compileCondition(condition).evaluate(attributes);
    expect(parseCondition(condition, '').problems.length > 0).toBe(expected === 'refused');
    expect(truth).toBe(expected === 'refused' ? 'unknown' : expected);
  });
});
