import { compileNode, readOperand, readPath } from './conditions-eval.ts';
import type { Attributes, Truth } from './conditions-eval.ts';
import { isScalar } from './conditions-parse.ts';
import type { Item, Node, Operator, Path } from './conditions-parse.ts';
import { parseStored } from './conditions.ts';
import { isInexact } from './inexact.ts';

/**
 * Why a condition is not met, and what might meet it. For explanations only: no decision is made from what stands here.
 *
 * @example failureOf({ Equals: { 'resource.status': 'draft' } }, { resource: { status: 'final' } })
 */
export interface Failure {
  /** As it is written; `Not Equals` where an odd number of Nots stands above it. */
  readonly operator: string;
  readonly path: string;
  /** The value at the path, and what it was compared with; absent if missing. */
  readonly actual?: unknown;
  readonly expected?: unknown;
  /** What the whole condition is. */
  readonly outcome: Exclude<Truth, 'true'>;
}

/** One attribute with another value. */
export interface Setting {
  readonly path: Path;
  readonly value: unknown;
}

/**
 * The comparison that decided that a condition is not met: the first one, from the left, without which it would be
 * another. Undefined if it is met, or does not parse.
 */
export function failureOf(raw: unknown, attributes: Attributes): Failure | undefined {
  const root = parseStored(raw);
  if (!root) return undefined;
  const outcome = compileNode(root)(attributes);
  return outcome === 'true' ? undefined : { ...deciding(root, attributes, false), outcome };
}

function deciding(node: Node, attributes: Attributes, negated: boolean): Omit<Failure, 'outcome'> {
  if (node.kind === 'not') return deciding(node.node, attributes, !negated);
  if (node.kind !== 'leaf') {
    // A member with the truth of the whole is one that decided it; what parses has at least one.
    const truth = compileNode(node)(attributes);
    const member = node.nodes.find((one) => compileNode(one)(attributes) === truth) ?? node.nodes[0];
    return deciding(member as Node, attributes, negated);
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
 * Values of single attributes of which one might meet the condition, each comparison's plainest first. Proposals: whoever
 * uses one tries it before. At most `limit`.
 */
export function settingsFor(raw: unknown, attributes: Attributes, limit: number): Setting[] {
  const root = parseStored(raw);
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
  const referred = items.flatMap((item) => ('path' in item ? [item.path] : []));
  const whole = !('items' in operand);
  return [
    ...(right === undefined ? [] : valuesFor(operator, left, right)).map((value) => ({ path, value })),
    // Or the other way round: what is referred to could be as the attribute is.
    ...valuesReferred(operator, left, right, whole).flatMap((value) =>
      referred.map((one) => ({ path: one, value })),
    ),
  ];
}

/** A list may have 100 items, and the first that fits is as good as any. */
const FEW = 5;

function valuesFor(operator: Operator, left: unknown, right: unknown): unknown[] {
  const scalars = (Array.isArray(right) ? right : [right]).filter(isScalar).slice(0, FEW);
  if (operator === 'Contains') return [[...(Array.isArray(left) ? (left as unknown[]) : []), ...scalars], []];
  return [...scalars, ...scalars.flatMap(besides), null, ''];
}

function valuesReferred(operator: Operator, left: unknown, right: unknown, whole: boolean): unknown[] {
  if (operator === 'Contains') return Array.isArray(left) ? left.filter(isScalar).slice(0, FEW) : [];
  if (!isScalar(left)) return [];
  const isList = ['In', 'NotIn', 'StringIn', 'StringNotIn'].includes(operator) && whole;
  if (isList) return [[...(Array.isArray(right) ? (right as unknown[]) : []), left], []];
  return [left, ...besides(left)];
}

/** Next to a value: what is greater, less, or else. */
function besides(value: unknown): unknown[] {
  if (typeof value === 'boolean') return [!value];
  const near = typeof value === 'number' ? [value + 1, value - 1] : [];
  // Next to a great number there is none that can be told from it.
  return near.filter((one) => !isInexact(one));
}
