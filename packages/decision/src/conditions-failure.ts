import { compileNode, not, readOperand, readPath } from './conditions-eval.ts';
import type { Attributes, Truth } from './conditions-eval.ts';
import { isScalar } from './conditions-parse.ts';
import type { Item, Node, Operator, Path, Scalar } from './conditions-parse.ts';
import { parseStoredCondition } from './conditions.ts';
import { isInexact } from './inexact.ts';
import { Lists } from './lists.ts';

/**
 * Explains why a condition is not met, and proposes attributes that might meet it. No decision depends on this file.
 *
 * @example failureOf({ Equals: { 'resource.status': 'draft' } }, { resource: { status: 'final' } })
 */
export interface Failure {
  /** The operator in the condition; `Not Equals` inside an odd number of Nots. */
  readonly operator: string;
  readonly path: string;
  /** The value at the path and the value that it was compared with; absent if missing. */
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
 * The comparison that made a condition fail: the first, from the left, that has the result of the whole condition.
 * Undefined if the condition is met or does not parse.
 *
 * @example failureOf(condition, { user, resource })?.path // 'resource.status'
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

/** The comparison that decided a node with the result `truth`. */
function decidingComparison(node: Node, truth: Truth, at: At): Omit<Failure, 'outcome'> {
  const { attributes, lists, negated } = at;
  if (node.kind === 'not') return decidingComparison(node.node, not(truth), { ...at, negated: !negated });
  if (node.kind !== 'leaf') {
    // A member with the result of the whole node decided it. A parsed node has at least one such member.
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
 * Proposes values of single attributes that might meet the condition, the simplest for each comparison first, until the
 * condition has no more. The caller must try a proposal before reporting it, and may stop at any time.
 *
 * @param wanted which attributes are worth a proposal
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
  // Or the reverse: the referenced attribute takes a value that fits the first.
  const items: readonly Item[] = 'items' in operand ? operand.items : [operand];
  const references = items.flatMap((item) => ('path' in item && wanted(item.path) ? [item.path] : []));
  if (references.length === 0) return;
  for (const value of valuesForReference(operator, left, right, !('items' in operand)))
    for (const reference of references) yield { path: reference, value };
}

/** A list may have 100 items, or 10,000 among the attributes; the first few are as good as the rest. */
const MAX_VALUES = 5;

function firstScalars(value: unknown): Scalar[] {
  const scalars: Scalar[] = [];
  for (const item of Array.isArray(value) ? (value as unknown[]) : [value]) {
    if (scalars.length === MAX_VALUES) break;
    if (isScalar(item)) scalars.push(item);
  }
  return scalars;
}

function* valuesFor(operator: Operator, left: unknown, right: unknown): Generator<unknown> {
  const scalars = firstScalars(right);
  if (operator === 'Contains') {
    yield [...(Array.isArray(left) ? (left as unknown[]) : []), ...scalars];
    yield [];
    return;
  }
  yield* [...scalars, ...scalars.flatMap(neighborsOf), null, ''];
}

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

/** Values next to a given one: the opposite of a boolean, the next greater and less number. */
function neighborsOf(value: unknown): unknown[] {
  if (typeof value === 'boolean') return [!value];
  const neighbors = typeof value === 'number' ? [value + 1, value - 1] : [];
  // The neighbors of a very large number are not distinct from it.
  return neighbors.filter((item) => !isInexact(item));
}
