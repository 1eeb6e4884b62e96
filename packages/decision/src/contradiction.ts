import { compileFrom } from './conditions-eval.ts';
import type { Truth } from './conditions-eval.ts';
import { parseCondition } from './conditions-parse.ts';
import type { Node, Operator, Scalar } from './conditions-parse.ts';
import { Lists } from './lists.ts';
import { Work, WorkExceeded } from './work.ts';

/**
 * Whether a condition contradicts itself. Such a condition is never met, so a permission with it grants nothing, which
 * is hardly ever intended. False does not guarantee that the condition can be met: comparisons with other attributes,
 * for example, are ignored, and a search beyond the budget is abandoned.
 *
 * @example isNeverMet({ NumericGreaterThan: { 'resource.amount': 100 }, NumericLessThan: { 'resource.amount': 50 } })
 */
export function isNeverMet(condition: unknown, work = new Work(CONTRADICTION_STEPS)): boolean {
  const { root, problems } = parseCondition(condition, '');
  if (root === null || problems.length > 0) return false;
  try {
    return contradicts([{ node: root, wanted: true }], [], new Lists(work));
  } catch (error) {
    if (error instanceof WorkExceeded) return false;
    throw error;
  }
}

/**
 * The default work budget. Alternatives of several `Or` multiply, so the search must be bounded. Using up this budget
 * takes milliseconds. It is enough for a document of a thousand typical conditions; beyond it, `isNeverMet` returns
 * false.
 */
export const CONTRADICTION_STEPS = 200_000;

/** Demands that the node evaluates to `wanted`. The result `unknown` satisfies neither demand. */
interface Demand {
  readonly node: Node;
  readonly wanted: boolean;
}

/** A comparison of a path with literals, and the result that it must have. */
interface Fact {
  readonly path: string;
  readonly operator: Operator;
  readonly literal: Scalar | readonly Scalar[];
  readonly wanted: boolean;
  /** The compiled comparison, so that operators mean the same here as in decisions. */
  readonly truthOf: (value: Scalar, lists: Lists) => Truth;
}

/** Whether the demands and facts cannot all hold. Splits the first demand into facts or alternatives, then recurses. */
function contradicts(demands: readonly Demand[], facts: readonly Fact[], lists: Lists): boolean {
  lists.work.charge('cases', 1 + demands.length + facts.length);
  const [first, ...others] = demands;
  if (!first) {
    const paths = new Set(facts.map(({ path }) => path));
    lists.work.charge('cases', paths.size * facts.length);
    return [...paths].some((path) =>
      isContradiction(
        facts.filter((fact) => fact.path === path),
        lists,
      ),
    );
  }
  const { node, wanted } = first;
  if (node.kind === 'not')
    return contradicts([{ node: node.node, wanted: !wanted }, ...others], facts, lists);
  if (node.kind === 'leaf') return contradicts(others, [...facts, ...factOf(node, wanted)], lists);
  const alternatives = node.nodes.map((child) => ({ node: child, wanted }));
  if ((node.kind === 'and') === wanted) return contradicts([...alternatives, ...others], facts, lists);
  return alternatives.every((child) => contradicts([child, ...others], facts, lists));
}

/** Compiled comparisons by leaf, because one leaf may appear in many cases. */
const comparisons = new WeakMap<Node, Fact['truthOf']>();

/** The fact that a leaf demands. Empty if the operand refers to other attributes. */
function factOf(leaf: Node & { kind: 'leaf' }, wanted: boolean): Fact[] {
  const { operator, path, operand } = leaf;
  const items = 'items' in operand ? operand.items : [operand];
  const literals = items.flatMap((item) => ('value' in item ? [item.value] : []));
  if (literals.length < items.length) return [];
  const literal = 'items' in operand ? literals : (literals[0] as Scalar);
  const truthOf = comparisons.get(leaf) ?? compileFrom<Scalar>(leaf, () => (value) => value);
  comparisons.set(leaf, truthOf);
  return [{ path: path.text, operator, literal, wanted, truthOf }];
}

/** Whether no value of the path satisfies all facts about it. */
function isContradiction(facts: readonly Fact[], lists: Lists): boolean {
  const values = facts.map(valuesOf).find((some) => some !== undefined);
  if (values) {
    lists.work.charge('cases', values.length * facts.length);
    return !values.some((value) => facts.every((fact) => isSatisfied(fact, value, lists)));
  }
  return haveNoKindInCommon(facts) || haveEmptyRange(facts) || haveEndsApart(facts);
}

/**
 * The only values that can satisfy the fact; undefined if values besides its literals can. `NotIn` that must be false
 * limits the value as `In` that must be true does.
 */
function valuesOf({ operator, literal, wanted }: Fact): readonly Scalar[] | undefined {
  const isNegated = operator.includes('Not');
  const isOfList = /^(String)?(Not)?In$/.test(operator);
  const isOfOne = /^(String|Numeric)?(Not)?Equals$/.test(operator);
  if (isNegated === wanted || (!isOfList && !isOfOne)) return undefined;
  return Array.isArray(literal) ? (literal as readonly Scalar[]) : [literal as Scalar];
}

const isSatisfied = ({ truthOf, wanted }: Fact, value: Scalar, lists: Lists): boolean =>
  truthOf(value, lists) === (wanted ? 'true' : 'false');

const scalars = ['string', 'number', 'boolean', 'null'];

/** The types of values that the operator can compare; for other types its result is unknown. */
function kindsFor(operator: Operator): readonly string[] {
  if (operator === 'Contains') return ['array'];
  if (operator.startsWith('Numeric')) return ['number'];
  return /^(String|StartsWith|EndsWith)/.test(operator) ? ['string'] : scalars;
}

/** Whether no type of value can be compared by all the operators. */
const haveNoKindInCommon = (facts: readonly Fact[]): boolean =>
  ![...scalars, 'array'].some((kind) => facts.every(({ operator }) => kindsFor(operator).includes(kind)));

/** Whether the numeric bounds in the facts exclude every number. */
function haveEmptyRange(facts: readonly Fact[]): boolean {
  let [least, most] = [-Infinity, Infinity];
  let [isAbove, isBelow] = [false, false];
  for (const { operator, literal, wanted } of facts) {
    if (!/^Numeric(Greater|Less)/.test(operator) || typeof literal !== 'number') continue;
    // A bound that must not hold is the opposite bound: not `> 5` means `<= 5`.
    const isLower = operator.includes('Greater') === wanted;
    const isStrict = operator.endsWith('Equals') !== wanted;
    if (isLower && (literal > least || (literal === least && isStrict)))
      [least, isAbove] = [literal, isStrict];
    if (!isLower && (literal < most || (literal === most && isStrict))) [most, isBelow] = [literal, isStrict];
  }
  return least > most || (least === most && (isAbove || isBelow));
}

/** Whether the facts require two prefixes, or two suffixes, that no single text can have. */
function haveEndsApart(facts: readonly Fact[]): boolean {
  const differ = (operator: Operator, continues: (long: string, short: string) => boolean): boolean => {
    const texts = facts.flatMap((fact) =>
      fact.operator === operator && fact.wanted && typeof fact.literal === 'string' ? [fact.literal] : [],
    );
    return texts.some((a) => texts.some((b) => !continues(a, b) && !continues(b, a)));
  };
  return (
    differ('StartsWith', (long, short) => long.startsWith(short)) ||
    differ('EndsWith', (long, short) => long.endsWith(short))
  );
}
