import { compileNode, readOperand, readPath } from './conditions-eval.ts';
import type { Attributes, Truth } from './conditions-eval.ts';
import { isScalar } from './conditions-parse.ts';
import type { Item, Node, Operator, Path } from './conditions-parse.ts';
import { parseStoredCondition } from './conditions.ts';
import { isInexact } from './inexact.ts';

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
export function failureOf(raw: unknown, attributes: Attributes): Failure | undefined {
  const root = parseStoredCondition(raw);
  if (!root) return undefined;
  const outcome = compileNode(root)(attributes);
  return outcome === 'true' ? undefined : { ...decidingComparison(root, attributes, false), outcome };
}

function decidingComparison(node: Node, attributes: Attributes, negated: boolean): Omit<Failure, 'outcome'> {
  if (node.kind === 'not') return decidingComparison(node.node, attributes, !negated);
  if (node.kind !== 'leaf') {
    // A member with the result of the whole node decided it. A parsed node has at least one such member.
    const truth = compileNode(node)(attributes);
    const member = node.nodes.find((node) => compileNode(node)(attributes) === truth) ?? node.nodes[0];
    return decidingComparison(member as Node, attributes, negated);
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
 * Proposes values of single attributes that might meet the condition, at most `limit`, the simplest for each comparison
 * first. The caller must try a proposal before it reports it.
 */
export function proposeSettings(raw: unknown, attributes: Attributes, limit: number): Setting[] {
  const root = parseStoredCondition(raw);
  return root
    ? leavesOf(root)
        .flatMap((leaf) => settingsOf(leaf, attributes))
        .slice(0, limit)
    : [];
}

type Leaf = Extract<Node, { readonly kind: 'leaf' }>;

function leavesOf(node: Node): Leaf[] {
  if (node.kind === 'leaf') return [node];
  return node.kind === 'not' ? leavesOf(node.node) : node.nodes.flatMap(leavesOf);
}

function settingsOf({ operator, path, operand }: Leaf, attributes: Attributes): Setting[] {
  const left = readPath(path, attributes);
  const right = readOperand(operand)(attributes);
  const items: readonly Item[] = 'items' in operand ? operand.items : [operand];
  const references = items.flatMap((item) => ('path' in item ? [item.path] : []));
  const isWholeReference = !('items' in operand);
  return [
    ...(right === undefined ? [] : valuesFor(operator, left, right)).map((value) => ({ path, value })),
    // Or the reverse: the referenced attribute takes a value that fits the first.
    ...valuesForReference(operator, left, right, isWholeReference).flatMap((value) =>
      references.map((path) => ({ path, value })),
    ),
  ];
}

/** A list may have 100 items; the first few are as good as the rest. */
const MAX_VALUES = 5;

function valuesFor(operator: Operator, left: unknown, right: unknown): unknown[] {
  const scalars = (Array.isArray(right) ? right : [right]).filter(isScalar).slice(0, MAX_VALUES);
  if (operator === 'Contains') return [[...(Array.isArray(left) ? (left as unknown[]) : []), ...scalars], []];
  return [...scalars, ...scalars.flatMap(neighborsOf), null, ''];
}

function valuesForReference(
  operator: Operator,
  left: unknown,
  right: unknown,
  isWholeReference: boolean,
): unknown[] {
  if (operator === 'Contains') return Array.isArray(left) ? left.filter(isScalar).slice(0, MAX_VALUES) : [];
  if (!isScalar(left)) return [];
  const isList = ['In', 'NotIn', 'StringIn', 'StringNotIn'].includes(operator) && isWholeReference;
  if (isList) return [[...(Array.isArray(right) ? (right as unknown[]) : []), left], []];
  return [left, ...neighborsOf(left)];
}

/** Values next to a given one: the opposite of a boolean, the next greater and less number. */
function neighborsOf(value: unknown): unknown[] {
  if (typeof value === 'boolean') return [!value];
  const neighbors = typeof value === 'number' ? [value + 1, value - 1] : [];
  // The neighbors of a very large number are not distinct from it.
  return neighbors.filter((item) => !isInexact(item));
}
