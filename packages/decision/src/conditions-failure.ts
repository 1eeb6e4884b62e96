/* Explains why a condition is not met, and proposes attributes that might meet it. No decision depends on this file. */

import { compileNode, not, readOperand, readPath } from './conditions-eval.ts';
import type { Attributes, Truth } from './conditions-eval.ts';
import { isScalar } from './conditions-parse.ts';
import type { Item, Node, Operator, Path, Scalar } from './conditions-parse.ts';
import { parseStoredCondition } from './conditions.ts';
import { isInexact } from './inexact.ts';
import { Lists } from './lists.ts';

/**
 * The comparison that made a condition fail.
 *
 * @example failureOf({ Equals: { 'resource.status': 'draft' } }, { resource: { status: 'final' } })
 */
export interface Failure {
  /** The operator in the condition, prefixed with `Not` inside an odd number of Nots (`Not Equals`). */
  readonly operator: string;
  readonly path: string;
  /** The value at the path, and the value that it was compared with; each is absent if missing. */
  readonly actual?: unknown;
  readonly expected?: unknown;
  /** The result of the whole condition. */
  readonly outcome: Exclude<Truth, 'true'>;
}

/** A new value for one attribute. */
export interface Setting {
  readonly path: Path;
  readonly value: unknown;
}

/**
 * Returns the leftmost of the comparisons that made a condition fail; undefined if the condition is met or does not
 * parse.
 */
export function failureOf(
  raw: unknown,
  attributes: Attributes,
  lists: Lists = new Lists(),
): Failure | undefined {
  const root = parseStoredCondition(raw);
  if (!root) return undefined;
  const outcome = compileNode(root)(attributes, lists);
  const at = { attributes, lists, negated: false };
  return outcome === 'true' ? undefined : { ...decidingComparison(root, outcome, at), outcome };
}

interface At {
  readonly attributes: Attributes;
  readonly lists: Lists;
  readonly negated: boolean;
}

/** Finds the comparison that gave a node its result `truth`. */
function decidingComparison(node: Node, truth: Truth, at: At): Omit<Failure, 'outcome'> {
  const { attributes, lists, negated } = at;
  if (node.kind === 'not') return decidingComparison(node.node, not(truth), { ...at, negated: !negated });
  if (node.kind !== 'leaf') {
    // The first member with the result of the whole node decided it. A parsed node has at least one such member.
    const member = node.nodes.find((inner) => compileNode(inner)(attributes, lists) === truth);
    return decidingComparison((member ?? node.nodes[0]) as Node, truth, at);
  }
  const actual = readPath(node.path, attributes);
  const expected = readOperand(node.operand)(attributes);
  return {
    operator: negated ? `Not ${node.operator}` : node.operator,
    path: node.path.text,
    ...(actual !== undefined && { actual }),
    ...(expected !== undefined && { expected }),
  };
}

/**
 * Proposes new values for single attributes that might meet the condition, comparison by comparison. Proposals are not
 * verified: the caller must evaluate the condition with a proposal before reporting it. The caller may stop iterating
 * at any time.
 *
 * @param wanted says which attributes may change
 */
export function* proposeSettings(
  raw: unknown,
  attributes: Attributes,
  wanted: (path: Path) => boolean = () => true,
): Generator<Setting> {
  const root = parseStoredCondition(raw);
  if (!root) return;
  for (const leaf of leavesOf(root)) yield* settingsOf(leaf, attributes, wanted);
}

type Leaf = Extract<Node, { readonly kind: 'leaf' }>;

function leavesOf(node: Node): Leaf[] {
  if (node.kind === 'leaf') return [node];
  return node.kind === 'not' ? leavesOf(node.node) : node.nodes.flatMap(leavesOf);
}

function* settingsOf(
  { operator, path, operand }: Leaf,
  attributes: Attributes,
  wanted: (path: Path) => boolean,
): Generator<Setting> {
  const left = readPath(path, attributes);
  const right = readOperand(operand)(attributes);
  if (right !== undefined && wanted(path))
    for (const value of valuesFor(operator, left, right)) yield { path, value };
  // The other direction: change the referenced attribute so that it fits the value on the left.
  const items: readonly Item[] = 'items' in operand ? operand.items : [operand];
  const references = items.flatMap((item) => ('path' in item && wanted(item.path) ? [item.path] : []));
  if (references.length === 0) return;
  for (const value of valuesForReference(operator, left, right, !('items' in operand)))
    for (const reference of references) yield { path: reference, value };
}

/** A list can have 100 items in a condition and 10,000 in an attribute; trying the first few is enough. */
const MAX_VALUES = 5;

function firstScalars(value: unknown): Scalar[] {
  const scalars: Scalar[] = [];
  for (const item of Array.isArray(value) ? (value as unknown[]) : [value]) {
    if (scalars.length === MAX_VALUES) break;
    if (isScalar(item)) scalars.push(item);
  }
  return scalars;
}

/** Values for the attribute on the left. Some satisfy the operator, others don't: the comparison may be in a `Not`. */
function* valuesFor(operator: Operator, left: unknown, right: unknown): Generator<unknown> {
  const scalars = firstScalars(right);
  if (operator === 'Contains') {
    yield [...(Array.isArray(left) ? (left as unknown[]) : []), ...scalars];
    yield [];
    return;
  }
  yield* [...scalars, ...scalars.flatMap(neighborsOf), null, ''];
}

/**
 * Values for a referenced attribute, some for and some against the operator. `isWholeReference`: the reference is the
 * whole operand, not an item of a list, so it may become a list.
 */
function* valuesForReference(
  operator: Operator,
  left: unknown,
  right: unknown,
  isWholeReference: boolean,
): Generator<unknown> {
  if (operator === 'Contains') {
    if (Array.isArray(left)) yield* firstScalars(left);
    return;
  }
  if (!isScalar(left)) return;
  if (isWholeReference && ['In', 'NotIn', 'StringIn', 'StringNotIn'].includes(operator)) {
    yield [...(Array.isArray(right) ? (right as unknown[]) : []), left];
    yield [];
    return;
  }
  yield* [left, ...neighborsOf(left)];
}

/** Values next to the given value: the opposite of a boolean, or a number plus one and minus one. */
function neighborsOf(value: unknown): unknown[] {
  if (typeof value === 'boolean') return [!value];
  const neighbors = typeof value === 'number' ? [value + 1, value - 1] : [];
  // Very large numbers are left out: rounding can make them equal to the number itself.
  return neighbors.filter((item) => !isInexact(item));
}
