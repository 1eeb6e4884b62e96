import { isPlainObject, isScalar } from './conditions-parse.ts';
import { readsInexact } from './inexact.ts';
import type { Item, Node, Operand, Operator, Path } from './conditions-parse.ts';

/**
 * The truth of a parsed condition (authorization §7.2), in Kleene's logic of three values.
 *
 * Unknown is not false: `Not` of a comparison with a missing attribute stays unknown, so a negated condition can
 * never be met by leaving an attribute out. Values read from attributes are data and never read as references.
 *
 * @example compileNode(node)({ user: { id: 'u1' }, resource: { ownerId: 'u1' } }) // 'true'
 */
export type Truth = 'true' | 'false' | 'unknown';

/** What conditions read, by root; a root that is absent or null has no attributes. */
export interface Attributes {
  readonly user?: unknown;
  readonly role?: unknown;
  readonly group?: unknown;
  readonly scope?: unknown;
  readonly resource?: unknown;
}

type Read<S = Attributes> = (source: S) => unknown;

/** The value at a path, or undefined: own members of plain objects only, so nothing inherited is ever seen. */
export function readPath({ parts }: Path, attributes: Attributes): unknown {
  let value: unknown = attributes;
  for (let at = 0; at < parts.length; at++) value = member(value, parts[at] as string);
  return value;
}

/** The same, prepared for many attributes: most paths are a root and a name. */
export function pathReader(path: Path): Read {
  const [first = '', name = '', ...deeper] = path.parts;
  const root = roots.get(first);
  if (!root || name === '' || deeper.length > 0) return (attributes) => readPath(path, attributes);
  return (attributes) => member(root(attributes), name);
}

/** Each a place of its own in the code, which the compiler turns into one load. */
const roots: ReadonlyMap<string, Read> = new Map<keyof Attributes, Read>([
  ['user', (attributes) => attributes.user],
  ['role', (attributes) => attributes.role],
  ['group', (attributes) => attributes.group],
  ['scope', (attributes) => attributes.scope],
  ['resource', (attributes) => attributes.resource],
]);

const member = (value: unknown, name: string): unknown =>
  isPlain(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** Most objects tell by what they inherit, which is read faster than their prototype; no JSON has `Object` in it. */
const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && (value.constructor === Object || isPlainObject(value));

/** A function that gives the truth of the condition for any attributes, without throwing. */
export const compileNode = (node: Node): ((attributes: Attributes) => Truth) => compileFrom(node, pathReader);

/** The same for whatever `readerOf` has values of paths read from. */
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
  // And and Or mirror each other: one value decides at once, the other stands if none is unknown.
  const [decisive, otherwise] =
    node.kind === 'and' ? (['false', 'true'] as const) : (['true', 'false'] as const);
  const inner = node.nodes.map((one) => compileFrom(one, readerOf));
  return (source) => {
    let result: Truth = otherwise;
    for (const truth of inner) {
      const value = truth(source);
      if (value === decisive) return decisive;
      if (value === 'unknown') result = 'unknown';
    }
    return result;
  };
}

/** A function that gives what an operand stands for; undefined where that is missing. */
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

const truth = (holds: boolean): Truth => (holds ? 'true' : 'false');

/** Never converts: values of two types are not different but incomparable. */
const equals: Test = (left, right) => {
  if (!isScalar(left) || !isScalar(right)) return 'unknown';
  if (left !== null && right !== null && typeof left !== typeof right) return 'unknown';
  return truth(left === right);
};

/** True if one item equals; unknown if none does but one cannot be told. */
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

const onText =
  (test: Test): Test =>
  (left, right) =>
    typeof left === 'string' ? test(left, right) : 'unknown';

const texts =
  (compare: (left: string, right: string) => boolean): Test =>
  (left, right) =>
    typeof left === 'string' && typeof right === 'string' ? truth(compare(left, right)) : 'unknown';

const affix = (compare: (left: string, right: string) => boolean): Test => {
  const test = texts(compare);
  return (left, right) => (right === '' ? 'unknown' : test(left, right));
};

const numbers =
  (compare: (left: number, right: number) => boolean): Test =>
  (left, right) =>
    isNumber(left) && isNumber(right) ? truth(compare(left, right)) : 'unknown';

const isNumber = (value: unknown): value is number => Number.isFinite(value);

/** True if cutting the text at an index cuts a character in two; text is compared by code point, not by UTF-16 unit. */
function splits(text: string, at: number): boolean {
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return before >= 0xd800 && before < 0xdc00 && after >= 0xdc00 && after < 0xe000;
}

const stringEquals = texts((left, right) => left === right);

const tests: Readonly<Record<Operator, Test>> = {
  Equals: equals,
  NotEquals: negate(equals),
  StringEquals: stringEquals,
  StringNotEquals: negate(stringEquals),
  In: isIn,
  NotIn: negate(isIn),
  StringIn: onText(isIn),
  StringNotIn: onText(negate(isIn)),
  Contains: contains,
  StartsWith: affix((left, right) => left.startsWith(right) && !splits(left, right.length)),
  EndsWith: affix((left, right) => left.endsWith(right) && !splits(left, left.length - right.length)),
  NumericEquals: numbers((left, right) => left === right),
  NumericGreaterThan: numbers((left, right) => left > right),
  NumericLessThan: numbers((left, right) => left < right),
  NumericGreaterThanEquals: numbers((left, right) => left >= right),
  NumericLessThanEquals: numbers((left, right) => left <= right),
};
