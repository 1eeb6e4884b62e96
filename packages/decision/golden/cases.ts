import type { Attributes, Truth } from '../src/conditions-eval.ts';
import type { Condition } from '../src/conditions.ts';
import { context, golden } from './conditions.ts';

/** A condition, the attributes that it reads, and what it must answer. */
export interface GoldenCase {
  /** The number of its row in the specification. */
  readonly number: number;
  readonly condition: Condition;
  readonly attributes: Attributes;
  /** `refused`: not accepted when written, and never met when stored. */
  readonly expected: Truth | 'refused';
}

/** The number of the case that has no resource. */
const withoutResource = 56;
const attributesOf = (resource: unknown): Attributes => ({ ...context, resource });

/**
 * The cases of the specification (authorization §7.3), for an implementation of the condition language to be tested with.
 *
 * @example
 * for (const { condition, attributes, expected } of goldenCases)
 *   assert.equal(compileCondition(condition).evaluate(attributes), expected === 'refused' ? 'unknown' : expected);
 */
export const goldenCases: readonly GoldenCase[] = golden.map(([number, json, expected]) => ({
  number,
  condition: JSON.parse(json) as Condition,
  attributes: number === withoutResource ? attributesOf(undefined) : attributesOf(context.resource),
  expected,
}));
