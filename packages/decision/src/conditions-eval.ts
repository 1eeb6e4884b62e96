/*
 * Evaluates a parsed condition (authorization §7.2) in Kleene's three-valued logic.
 *
 * Unknown is not false: `Not` of a comparison with a missing attribute stays unknown, so a caller cannot meet a negated
 * condition by leaving an attribute out. Attribute values are data; they are never read as references.
 */

import { isPlainObject, isScalar } from './conditions-parse.ts';
import { isInexact } from './inexact.ts';
import { areComparable, listOf, Lists, ShortList, type List } from './lists.ts';
import type { Item, Node, Operand, Operator, Path } from './conditions-parse.ts';

/**
 * The result of a condition or of one comparison. Only `true` means that the condition is met.
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

/**
 * Returns the value at a path, or undefined. Reads only own members of plain objects, so a path never sees inherited
 * members.
 */
export function readPath({ parts }: Path, attributes: Attributes): unknown {
  let value: unknown = attributes;
  for (let index = 0; index < parts.length; index++) value = member(value, parts[index] as string);
  return value;
}

/** Like `readPath`, but prepared once for repeated reads, and fast for the common path of a root and one name. */
export function pathReader(path: Path): Read {
  const [first = '', name = '', ...deeper] = path.parts;
  const root = roots.get(first);
  if (!root || name === '' || deeper.length > 0) return (attributes) => readPath(path, attributes);
  return (attributes) => member(root(attributes), name);
}

/** One function per root, so that V8 compiles each property access to a single load. */
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

/**
 * Compares `constructor` first, because that is faster than reading the prototype. JSON cannot fake it, because no JSON
 * value is the function `Object`.
 */
const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && (value.constructor === Object || isPlainObject(value));

/** Compiles a condition to a function. The function throws only if `lists` has a work limit and exceeds it. */
export const compileNode = (node: Node): ((attributes: Attributes, lists?: Lists) => Truth) => {
  const truthOf = compileFrom(node, pathReader);
  return (attributes, lists = new Lists()) => truthOf(attributes, lists);
};

/** Compiles a condition that reads its values from any source; `readerOf` returns the function that reads one path. */
export function compileFrom<S>(
  node: Node,
  readerOf: (path: Path) => Read<S>,
): (source: S, lists: Lists) => Truth {
  if (node.kind === 'leaf') {
    const read = readerOf(node.path);
    if ('items' in node.operand) return compileListed(node.operator, read, node.operand.items, readerOf);
    const readRight = itemReader(node.operand, readerOf);
    const test = tests[node.operator];
    return (source, lists) => {
      const left = read(source);
      const right = readRight(source);
      if (left === undefined || right === undefined) return 'unknown';
      return readsInexact(left, lists) || readsInexact(right, lists) ? 'unknown' : test(left, right, lists);
    };
  }
  if (node.kind === 'not') {
    const inner = compileFrom(node.node, readerOf);
    return (source, lists) => not(inner(source, lists));
  }
  // And and Or mirror each other: one truth value decides immediately; the other is the result if no member is unknown.
  const [decisive, otherwise] =
    node.kind === 'and' ? (['false', 'true'] as const) : (['true', 'false'] as const);
  const inner = node.nodes.map((node) => compileFrom(node, readerOf));
  return (source, lists) => {
    let result: Truth = otherwise;
    for (const evaluate of inner) {
      const value = evaluate(source, lists);
      if (value === decisive) return decisive;
      if (value === 'unknown') result = 'unknown';
    }
    return result;
  };
}

/** Compiles `left In [items]` and its variants. A list without references is prepared once, at compile time. */
function compileListed<S>(
  operator: Operator,
  read: Read<S>,
  items: readonly Item[],
  readerOf: (path: Path) => Read<S>,
): (source: S, lists: Lists) => Truth {
  const test = listTests[operator];
  if (!test) return () => 'unknown';
  const readers = items.map((item) => itemReader(item, readerOf));
  const hasReferences = items.some((item) => 'path' in item);
  const constant = hasReferences ? undefined : listOf(literalsOf(items));
  return (source, lists) => {
    const left = read(source);
    if (left === undefined) return 'unknown';
    const list = constant ?? new ShortList(readers.map((readItem) => readItem(source)));
    return readsInexact(left, lists) || list.isInexact ? 'unknown' : test(left, list, lists);
  };
}

/** Returns a function that reads the value of an operand; it returns undefined if the value is missing. */
export function readOperand(operand: Operand): Read {
  if (!('items' in operand)) return itemReader(operand, pathReader);
  const readers = operand.items.map((item) => itemReader(item, pathReader));
  return (attributes) => readers.map((read) => read(attributes));
}

const itemReader = <S>(item: Item, readerOf: (path: Path) => Read<S>): Read<S> =>
  'path' in item ? readerOf(item.path) : () => item.value;

const literalsOf = (items: readonly Item[]): unknown[] =>
  items.map((item) => ('path' in item ? undefined : item.value));

/** Whether JSON parsing may have rounded a compared value, or any item of it. */
const readsInexact = (value: unknown, lists: Lists): boolean =>
  Array.isArray(value) ? lists.of(value).isInexact : isInexact(value);

type Test = (left: unknown, right: unknown, lists: Lists) => Truth;
type ListTest = (left: unknown, list: List, lists: Lists) => Truth;

/** Negates true and false; unknown stays unknown. */
export function not(truth: Truth): Truth {
  if (truth === 'unknown') return truth;
  return truth === 'true' ? 'false' : 'true';
}

const negate =
  <R>(test: (left: unknown, right: R, lists: Lists) => Truth) =>
  (left: unknown, right: R, lists: Lists): Truth =>
    not(test(left, right, lists));

const truthOf = (holds: boolean): Truth => (holds ? 'true' : 'false');

/**
 * Never converts types. Values of different types cannot be compared, so the result is unknown, not false. Only null
 * can be compared with every type.
 */
const equals: Test = (left, right, lists) => {
  if (!isScalar(left) || !areComparable(right, left)) return 'unknown';
  chargeText(left, lists);
  return truthOf(left === right);
};

const isIn: ListTest = (left, list, lists) => {
  if (!isScalar(left)) return 'unknown';
  chargeText(left, lists);
  return list.includes(left);
};

const contains: Test = (left, right, lists) => {
  if (!Array.isArray(left) || !isScalar(right)) return 'unknown';
  chargeText(right, lists);
  const list = lists.of(left);
  return list.hasOnlyScalars ? list.includes(right) : 'unknown';
};

/**
 * How many characters can be compared in about the time of one step. Only longer texts are charged for their length.
 */
const TEXT_STEP = 64;

/** Charges for a long text, because a comparison may have to read it to the last character. */
function chargeText(text: unknown, { work }: Lists): void {
  if (typeof text === 'string' && text.length > TEXT_STEP)
    work.charge('comparisons', Math.ceil(text.length / TEXT_STEP));
}

const ifText =
  (test: ListTest): ListTest =>
  (left, list, lists) =>
    typeof left === 'string' ? test(left, list, lists) : 'unknown';

const notIn: ListTest = negate(isIn);

/** Operators with a list on the right, when the condition itself contains the list. */
const listTests: Partial<Readonly<Record<Operator, ListTest>>> = {
  In: isIn,
  NotIn: notIn,
  StringIn: ifText(isIn),
  StringNotIn: ifText(notIn),
};

/**
 * Adapts a list operator to a right-hand side that is the value of an attribute; unknown if that value is not a list.
 */
const inAttribute =
  (test: ListTest): Test =>
  (left, right, lists) =>
    Array.isArray(right) ? test(left, lists.of(right), lists) : 'unknown';

const compareTexts =
  (compare: (left: string, right: string) => boolean): Test =>
  (left, right, lists) => {
    if (typeof left !== 'string' || typeof right !== 'string') return 'unknown';
    chargeText(left, lists);
    return truthOf(compare(left, right));
  };

const compareAffix = (compare: (left: string, right: string) => boolean): Test => {
  const test = compareTexts(compare);
  return (left, right, lists) => (right === '' ? 'unknown' : test(left, right, lists));
};

const compareNumbers =
  (compare: (left: number, right: number) => boolean): Test =>
  (left, right) =>
    isNumber(left) && isNumber(right) ? truthOf(compare(left, right)) : 'unknown';

const isNumber = (value: unknown): value is number => Number.isFinite(value);

/**
 * Whether cutting the text at the index would split a surrogate pair: text is compared by code point, not by UTF-16
 * unit.
 */
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
  In: inAttribute(isIn),
  NotIn: inAttribute(notIn),
  StringIn: inAttribute(ifText(isIn)),
  StringNotIn: inAttribute(ifText(notIn)),
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
