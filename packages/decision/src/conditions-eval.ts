import { isPlainObject, isScalar } from './conditions-parse.ts';
import { readsInexact } from './inexact.ts';
import type { Item, Node, Operand, Operator, Path } from './conditions-parse.ts';

/**
 * Evaluates a parsed condition (authorization §7.2) in Kleene's three-valued logic.
 *
 * Unknown is not false: `Not` of a comparison with a missing attribute stays unknown, so a caller cannot meet a negated
 * condition by leaving an attribute out. Values of attributes are data; they are never read as references.
 *
 * @example compileNode(node)({ user: { id: 'u1' }, resource: { ownerId: 'u1' } }) // 'true'
 */
export type Truth = 'true' | 'false' | 'unknown';

/** The attributes that conditions read, by root; a root that is absent or null has none. */
export interface Attributes {
  readonly user?: unknown;
  readonly role?: unknown;
  readonly group?: unknown;
  readonly organization?: unknown;
  readonly scope?: unknown;
  readonly resource?: unknown;
}

type Read<S = Attributes> = (source: S) => unknown;

/** The value at a path, or undefined. Reads own members of plain objects only, so a path never sees inherited members. */
export function readPath({ parts }: Path, attributes: Attributes): unknown {
  let value: unknown = attributes;
  for (let index = 0; index < parts.length; index++) value = member(value, parts[index] as string);
  return value;
}

/** `readPath` prepared for repeated use, fast for the common path of a root and one name. */
export function pathReader(path: Path): Read {
  const [first = '', name = '', ...deeper] = path.parts;
  const root = roots.get(first);
  if (!root || name === '' || deeper.length > 0) return (attributes) => readPath(path, attributes);
  return (attributes) => member(root(attributes), name);
}

/** One function for each root, so that the compiler turns each property access into one load. */
const roots: ReadonlyMap<string, Read> = new Map<keyof Attributes, Read>([
  ['user', (attributes) => attributes.user],
  ['role', (attributes) => attributes.role],
  ['group', (attributes) => attributes.group],
  ['organization', (attributes) => attributes.organization],
  ['scope', (attributes) => attributes.scope],
  ['resource', (attributes) => attributes.resource],
]);

const member = (value: unknown, name: string): unknown =>
  isPlain(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** `constructor` is faster to read than the prototype, and JSON never contains the function `Object`. */
const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && (value.constructor === Object || isPlainObject(value));

/** Compiles a condition to a function that never throws. */
export const compileNode = (node: Node): ((attributes: Attributes) => Truth) => compileFrom(node, pathReader);

/** Compiles a condition for another source of values, which `readerOf` reads by path. */
export function compileFrom<S>(node: Node, readerOf: (path: Path) => Read<S>): (source: S) => Truth {
  if (node.kind === 'leaf') {
    const read = readerOf(node.path);
    const readRight = operandReader(node.operand, readerOf);
    const test = tests[node.operator];
    return (source) => {
      const left = read(source);
      const right = readRight(source);
      if (left === undefined || right === undefined) return 'unknown';
      return readsInexact(left) || readsInexact(right) ? 'unknown' : test(left, right);
    };
  }
  if (node.kind === 'not') {
    const inner = compileFrom(node.node, readerOf);
    return (source) => not(inner(source));
  }
  // And and Or mirror each other: one value decides at once; the other is the result if no value is unknown.
  const [decisive, otherwise] =
    node.kind === 'and' ? (['false', 'true'] as const) : (['true', 'false'] as const);
  const inner = node.nodes.map((node) => compileFrom(node, readerOf));
  return (source) => {
    let result: Truth = otherwise;
    for (const evaluate of inner) {
      const value = evaluate(source);
      if (value === decisive) return decisive;
      if (value === 'unknown') result = 'unknown';
    }
    return result;
  };
}

/** Returns a function that reads the value of an operand; undefined if it is missing. */
export const readOperand = (operand: Operand): Read => operandReader(operand, pathReader);

function operandReader<S>(operand: Operand, readerOf: (path: Path) => Read<S>): Read<S> {
  const reader = (item: Item): Read<S> => ('path' in item ? readerOf(item.path) : () => item.value);
  if (!('items' in operand)) return reader(operand);
  const items = operand.items.map(reader);
  if (operand.items.some((item) => 'path' in item)) return (source) => items.map((read) => read(source));
  const constant = operand.items.map((item) => ('path' in item ? undefined : item.value));
  return () => constant;
}

type Test = (left: unknown, right: unknown) => Truth;

function not(truth: Truth): Truth {
  if (truth === 'unknown') return truth;
  return truth === 'true' ? 'false' : 'true';
}

const negate =
  (test: Test): Test =>
  (left, right) =>
    not(test(left, right));

const truthOf = (holds: boolean): Truth => (holds ? 'true' : 'false');

/** Never converts: values of two types cannot be compared, so the result is unknown, not false. */
const equals: Test = (left, right) => {
  if (!isScalar(left) || !isScalar(right)) return 'unknown';
  if (left !== null && right !== null && typeof left !== typeof right) return 'unknown';
  return truthOf(left === right);
};

/** True if an item is equal; unknown if none is, but one cannot be compared. */
function anyEquals(items: readonly unknown[], value: unknown): Truth {
  let result: Truth = 'false';
  for (const item of items) {
    const same = equals(item, value);
    if (same === 'true') return same;
    if (same === 'unknown') result = same;
  }
  return result;
}

const isIn: Test = (left, right) =>
  isScalar(left) && Array.isArray(right) ? anyEquals(right, left) : 'unknown';

const contains: Test = (left, right) =>
  Array.isArray(left) && left.every(isScalar) && isScalar(right) ? anyEquals(left, right) : 'unknown';

const ifText =
  (test: Test): Test =>
  (left, right) =>
    typeof left === 'string' ? test(left, right) : 'unknown';

const compareTexts =
  (compare: (left: string, right: string) => boolean): Test =>
  (left, right) =>
    typeof left === 'string' && typeof right === 'string' ? truthOf(compare(left, right)) : 'unknown';

const compareAffix = (compare: (left: string, right: string) => boolean): Test => {
  const test = compareTexts(compare);
  return (left, right) => (right === '' ? 'unknown' : test(left, right));
};

const compareNumbers =
  (compare: (left: number, right: number) => boolean): Test =>
  (left, right) =>
    isNumber(left) && isNumber(right) ? truthOf(compare(left, right)) : 'unknown';

const isNumber = (value: unknown): value is number => Number.isFinite(value);

/** Whether a cut at the index splits a surrogate pair: text is compared by code point, not by UTF-16 unit. */
function splitsCharacter(text: string, at: number): boolean {
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return before >= 0xd800 && before < 0xdc00 && after >= 0xdc00 && after < 0xe000;
}

const stringEquals = compareTexts((left, right) => left === right);

const tests: Readonly<Record<Operator, Test>> = {
  Equals: equals,
  NotEquals: negate(equals),
  StringEquals: stringEquals,
  StringNotEquals: negate(stringEquals),
  In: isIn,
  NotIn: negate(isIn),
  StringIn: ifText(isIn),
  StringNotIn: ifText(negate(isIn)),
  Contains: contains,
  StartsWith: compareAffix((left, right) => left.startsWith(right) && !splitsCharacter(left, right.length)),
  EndsWith: compareAffix(
    (left, right) => left.endsWith(right) && !splitsCharacter(left, left.length - right.length),
  ),
  NumericEquals: compareNumbers((left, right) => left === right),
  NumericGreaterThan: compareNumbers((left, right) => left > right),
  NumericLessThan: compareNumbers((left, right) => left < right),
  NumericGreaterThanEquals: compareNumbers((left, right) => left >= right),
  NumericLessThanEquals: compareNumbers((left, right) => left <= right),
};
