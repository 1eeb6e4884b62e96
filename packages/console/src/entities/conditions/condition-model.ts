/*
 * The model of a condition in the editor: comparisons in groups. It reads and writes the JSON grammar of
 * authorization §7. A condition that can't be shown as a tree, because the service would refuse it, is only edited as
 * JSON.
 */

export type Operator = keyof typeof valueTypes;
export type ValueType = 'text' | 'number' | 'boolean' | 'null' | 'attribute' | 'list';

export interface Comparison {
  readonly kind: 'comparison';
  readonly operator: Operator;
  readonly path: string;
  readonly type: ValueType;
  /** The value as text, so that a number can be edited digit by digit. A list has one item per line. */
  readonly text: string;
}

export interface Clauses {
  readonly kind: 'all' | 'any' | 'none';
  readonly nodes: readonly ConditionNode[];
}

export type ConditionNode = Comparison | Clauses;

const scalars: readonly ValueType[] = ['text', 'attribute', 'number', 'boolean', 'null'];
const texts: readonly ValueType[] = ['text', 'attribute'];
const lists: readonly ValueType[] = ['list', 'attribute'];
const numbers: readonly ValueType[] = ['number', 'attribute'];

/** The value types that each operator accepts. */
export const valueTypes = {
  Equals: scalars,
  NotEquals: scalars,
  In: lists,
  NotIn: lists,
  Contains: scalars,
  StartsWith: texts,
  EndsWith: texts,
  NumericEquals: numbers,
  NumericGreaterThan: numbers,
  NumericGreaterThanEquals: numbers,
  NumericLessThan: numbers,
  NumericLessThanEquals: numbers,
  StringEquals: texts,
  StringNotEquals: texts,
  StringIn: lists,
  StringNotIn: lists,
} as const;

export const operators = Object.keys(valueTypes) as readonly Operator[];

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
// 1e999 is parsed as Infinity, which JSON would write as null.
const isScalar = (value: unknown): boolean =>
  value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value);

/** Converts a condition to a tree. An unconditional one is an empty group; null if it can't be shown as a tree. */
export function readCondition(condition: unknown): Clauses | null {
  if (condition === null || condition === undefined) return { kind: 'all', nodes: [] };
  if (isObject(condition) && Object.keys(condition).length === 0) return { kind: 'all', nodes: [] };
  const node = isObject(condition) ? readExpression(condition) : null;
  return node?.kind === 'comparison' ? { kind: 'all', nodes: [node] } : node;
}

function readExpression(expression: Json): ConditionNode | null {
  const nodes = Object.entries(expression).flatMap(([name, value]) => readMember(name, value));
  const readable = nodes.filter((node) => node !== null);
  // An empty part is never met, so it must not look like the empty condition, which is always met.
  if (readable.length === 0 || readable.length < nodes.length) return null;
  const [first] = readable;
  return readable.length === 1 && first ? first : { kind: 'all', nodes: readable };
}

function readMember(name: string, value: unknown): readonly (ConditionNode | null)[] {
  if (name === 'And' || name === 'Or') {
    const nodes = Array.isArray(value)
      ? value.map((item) => (isObject(item) ? readExpression(item) : null))
      : [null];
    const readable = nodes.filter((node) => node !== null);
    return [
      readable.length === 0 || readable.length < nodes.length
        ? null
        : { kind: name === 'And' ? 'all' : 'any', nodes: readable },
    ];
  }
  if (name === 'Not') {
    const inner = isObject(value) ? readExpression(value) : null;
    if (!inner) return [null];
    return [{ kind: 'none', nodes: inner.kind === 'any' ? inner.nodes : [inner] }];
  }
  const operator = operators.find((existing) => existing === name);
  if (!operator || !isObject(value)) return [null];
  return Object.entries(value).map(([path, operand]) => readComparison(operator, path, operand));
}

function readComparison(operator: Operator, path: string, operand: unknown): Comparison | null {
  const as = (type: ValueType, text: string): Comparison => ({
    kind: 'comparison',
    operator,
    path,
    type,
    text,
  });
  const reference = referenceOf(operand);
  if (reference !== null) return as('attribute', reference);
  if (operand === null) return as('null', '');
  if (typeof operand === 'string') return as('text', operand);
  if (typeof operand === 'number') return as('number', String(operand));
  if (typeof operand === 'boolean') return as('boolean', String(operand));
  if (!Array.isArray(operand)) return null;
  const lines = operand.map((item: unknown) => {
    const path = referenceOf(item);
    return path === null ? (isScalar(item) ? lineOf(item, operator) : null) : `{{${path}}}`;
  });
  return lines.includes(null) ? null : as('list', lines.join('\n'));
}

/** Returns the path in a reference of the form `{"$ref": path}` or `{{path}}`; null for other values. */
function referenceOf(value: unknown): string | null {
  if (isObject(value))
    return typeof value['$ref'] === 'string' && Object.keys(value).length === 1 ? value['$ref'] : null;
  return typeof value === 'string' && /^\{\{.*\}\}$/s.test(value) ? value.slice(2, -2) : null;
}

const takesTexts = (operator: Operator): boolean => operator.startsWith('String');

/** Formats a list item as a line. Texts that would be read as a number, `true` or `null`, or don't fit, are quoted. */
function lineOf(item: unknown, operator: Operator): string {
  if (typeof item !== 'string') return JSON.stringify(item);
  return item.trim() === item && item !== '' && !item.includes('\n') && itemOf(item, operator) === item
    ? item
    : JSON.stringify(item);
}

function itemOf(line: string, operator: Operator): unknown {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'string' || (isScalar(value) && !takesTexts(operator)) ? value : line;
  } catch {
    return line;
  }
}

/** Converts a tree to the JSON of a condition; null if it is unconditional. */
export function writeCondition(root: Clauses): unknown {
  return root.nodes.length === 0 ? null : writeNode(root);
}

export function writeNode(node: ConditionNode): Json {
  if (node.kind === 'comparison') return { [node.operator]: { [node.path]: operandOf(node) } };
  const parts = node.nodes.map(writeNode);
  const [first] = parts;
  if (node.kind === 'any') return { Or: parts };
  if (node.kind === 'none') return { Not: parts.length === 1 ? first : { Or: parts } };
  return parts.length === 0 ? { And: [] } : (merged(parts) ?? { And: parts });
}

/** Merges expressions into one object, one level flatter than `And`. Returns null if two have the same member. */
function merged(parts: readonly Json[]): Json | null {
  const whole = new Map<string, unknown>();
  for (const [name, value] of parts.flatMap((part) => Object.entries(part))) {
    const before = whole.get(name);
    if (before === undefined) whole.set(name, value);
    else if (name === 'Not' || !isObject(before) || !isObject(value)) return null;
    else if (Object.keys(value).some((path) => Object.hasOwn(before, path))) return null;
    else whole.set(name, { ...before, ...value });
  }
  return Object.fromEntries(whole);
}

function operandOf({ type, text, operator }: Comparison): unknown {
  switch (type) {
    case 'text':
      return text;
    case 'attribute':
      return `{{${text}}}`;
    case 'boolean':
      return text === 'true';
    case 'null':
      return null;
    case 'number':
      // The service refuses an object as an operand, and reports the position of this comparison.
      return text.trim() === '' || !Number.isFinite(Number(text)) ? {} : Number(text);
    case 'list':
      return text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '')
        .map((line) => itemOf(line, operator));
  }
}
