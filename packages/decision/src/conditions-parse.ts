/*
 * The grammar of conditions (authorization §7.1): parses JSON into a tree or a list of problems.
 *
 * Only the tree is evaluated, so a condition that this file refuses is never met. Only this file enforces the limits: a
 * condition has at most 8 levels and 64 nodes (`And`, `Or`, `Not` and comparisons).
 */

import { inexactCode, isInexact } from './inexact.ts';

/**
 * Limits of one condition, and of the problems that are reported about it.
 *
 * @example parseCondition({ Equals: { 'resource.ownerId': '{{user.id}}' } }, 'condition').root
 */
export const limits = { depth: 8, nodes: 64, bytes: 8192, items: 100, segments: 7, problems: 20 } as const;

/** The literals that each operator takes. References are always allowed; their values are checked at evaluation. */
const operands = new Map([
  ['Equals', 'scalar'],
  ['NotEquals', 'scalar'],
  ['StringEquals', 'string'],
  ['StringNotEquals', 'string'],
  ['In', 'list'],
  ['NotIn', 'list'],
  ['StringIn', 'strings'],
  ['StringNotIn', 'strings'],
  ['Contains', 'scalar'],
  ['StartsWith', 'text'],
  ['EndsWith', 'text'],
  ['NumericEquals', 'number'],
  ['NumericGreaterThan', 'number'],
  ['NumericLessThan', 'number'],
  ['NumericGreaterThanEquals', 'number'],
  ['NumericLessThanEquals', 'number'],
] as const);

/** Name of a leaf operator. */
export type Operator = Parameters<typeof operands.get>[0];
type Literal = NonNullable<ReturnType<typeof operands.get>>;

/** All leaf operators, in the order of authorization §7.2. */
export const operators: readonly Operator[] = [...operands.keys()];

/** A JSON value that `Equals` can compare. */
export type Scalar = string | number | boolean | null;

/** A checked attribute path; `parts` begins with the root. */
export interface Path {
  readonly text: string;
  readonly parts: readonly string[];
}

/** A literal, or a reference to an attribute that is read when the decision is made. */
export type Item = { readonly value: Scalar } | { readonly path: Path };
export type Operand = Item | { readonly items: readonly Item[] };

/** A checked condition. */
export type Node =
  | { readonly kind: 'and' | 'or'; readonly nodes: readonly Node[] }
  | { readonly kind: 'not'; readonly node: Node }
  | { readonly kind: 'leaf'; readonly operator: Operator; readonly path: Path; readonly operand: Operand };

/** The kinds of problems in a condition. */
export type ConditionProblemCode =
  'type' | 'empty' | 'limit' | 'operator' | 'path' | 'operand' | 'too_big' | 'too_small';

/** One problem in a condition. Never contains the value itself. */
export interface ConditionProblem {
  /** Dotted path of the problem. It begins with the `location` that was passed to `parseCondition`. */
  readonly path: string;
  readonly code: ConditionProblemCode;
}

/** `root` is null for a condition that is always met (null or `{}`). Ignore it if there are problems. */
export interface Parsed {
  readonly root: Node | null;
  readonly problems: readonly ConditionProblem[];
}

interface State {
  readonly problems: ConditionProblem[];
  nodes: number;
}

/** True for plain objects, as in JSON; false for arrays and class instances. Only plain objects are traversed. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** True for null, strings, booleans and finite numbers. */
export function isScalar(value: unknown): value is Scalar {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

// PostgreSQL cannot store NUL or lone surrogates, so they must not reach a statement.
const isUnstorable = /[\0\p{Surrogate}]/u;
/** The possible first segments of a path. */
export const roots = ['user', 'role', 'group', 'organization', 'scope', 'resource'] as const;
const isRoot = new RegExp(`^(?:${roots.join('|')})$`);
const isSegment = /^(?!(?:__proto__|constructor|prototype)$)[A-Za-z0-9_-]{1,64}$/;

/** Parses a dotted path; returns undefined if the text is not a valid path. */
export function parsePath(text: unknown): Path | undefined {
  if (typeof text !== 'string') return undefined;
  const [root = '', ...segments] = text.split('.');
  const hasValidLength = segments.length >= 1 && segments.length <= limits.segments;
  if (!hasValidLength || !isRoot.test(root) || !segments.every((segment) => isSegment.test(segment)))
    return undefined;
  return { text, parts: [root, ...segments] };
}

/** Returns the path of a text that consists of one `{{path}}`, else undefined. */
export function parseTemplate(text: string): Path | undefined {
  return text.startsWith('{{') && text.endsWith('}}') ? parsePath(text.slice(2, -2)) : undefined;
}

/** Parses a condition. Never throws for JSON of any shape and size. The paths of problems begin with `location`. */
export function parseCondition(raw: unknown, location: string): Parsed {
  const state: State = { problems: [], nodes: 0 };
  if (raw === null) return { root: null, problems: state.problems };
  if (!isPlainObject(raw)) report(state, location, 'type');
  else if (Object.keys(raw).length === 0) return { root: null, problems: state.problems };
  else if (!fitsSizeLimit(raw)) report(state, location, 'limit');
  else return { root: parseExpression(raw, location, 0, state), problems: state.problems };
  return { root: null, problems: state.problems };
}

/** Runs before the parser, so that the parser reads at most 8 KB. Also false for nesting too deep to serialize. */
function fitsSizeLimit(raw: Record<string, unknown>): boolean {
  try {
    return new TextEncoder().encode(JSON.stringify(raw)).length <= limits.bytes;
  } catch {
    return false;
  }
}

function report(state: State, path: string, code: ConditionProblemCode): void {
  if (state.problems.length < limits.problems) state.problems.push({ path, code });
}

/** Counts a node and returns whether the parser may go on. Reports only one problem when the limit is exceeded. */
function countNode(state: State, location: string): boolean {
  state.nodes += 1;
  if (state.nodes === limits.nodes + 1) report(state, location, 'limit');
  return state.nodes <= limits.nodes;
}

/** Stands for a clause with a reported problem. The caller of `parseCondition` discards a tree with problems. */
const placeholder: Node = { kind: 'and', nodes: [] };

function parseExpression(raw: unknown, location: string, depth: number, state: State): Node {
  if (!isPlainObject(raw)) {
    report(state, location, 'type');
    return placeholder;
  }
  const clauses = Object.entries(raw);
  if (clauses.length === 0) report(state, location, 'empty');
  return conjunction(
    clauses.map(([key, value]) => parseClause(key, value, `${location}.${key}`, depth + 1, state)),
  );
}

function parseClause(key: string, value: unknown, location: string, depth: number, state: State): Node {
  if (depth > limits.depth) {
    report(state, location, 'limit');
    return placeholder;
  }
  if (key === 'And' || key === 'Or') {
    if (!countNode(state, location)) return placeholder;
    const nodes = parseList(value, location, depth, state);
    return { kind: key === 'And' ? 'and' : 'or', nodes };
  }
  if (key === 'Not') {
    if (!countNode(state, location)) return placeholder;
    return { kind: 'not', node: parseExpression(value, location, depth, state) };
  }
  const literal = operands.get(key as Operator);
  if (literal !== undefined) return parseOperator(key as Operator, literal, value, location, state);
  report(state, location, 'operator');
  return placeholder;
}

function parseList(value: unknown, location: string, depth: number, state: State): readonly Node[] {
  if (!Array.isArray(value)) {
    report(state, location, 'type');
    return [];
  }
  if (value.length === 0) report(state, location, 'empty');
  return value.map((item, index) => parseExpression(item, `${location}.${index}`, depth, state));
}

function parseOperator(
  operator: Operator,
  literal: Literal,
  value: unknown,
  location: string,
  state: State,
): Node {
  if (!isPlainObject(value)) {
    report(state, location, 'type');
    return placeholder;
  }
  const entries = Object.entries(value);
  if (entries.length === 0) report(state, location, 'empty');
  const leaves = entries.map(([text, raw]): Node => {
    const leafLocation = `${location}.${text}`;
    if (!countNode(state, leafLocation)) return placeholder;
    const path = parsePath(text);
    if (path === undefined) report(state, leafLocation, 'path');
    const operand = parseOperand(literal, raw, leafLocation, state);
    return path && operand ? { kind: 'leaf', operator, path, operand } : placeholder;
  });
  return conjunction(leaves);
}

function parseOperand(literal: Literal, raw: unknown, location: string, state: State): Operand | undefined {
  if (literal !== 'list' && literal !== 'strings') return parseItem(literal, raw, location, state);
  if (!Array.isArray(raw)) return parseItem('none', raw, location, state);
  if (raw.length === 0) report(state, location, 'empty');
  if (raw.length > limits.items) {
    report(state, location, 'limit');
    return undefined;
  }
  const rule = literal === 'list' ? 'scalar' : 'string';
  const items = Array.from(raw, (item: unknown, index) =>
    parseItem(rule, item, `${location}.${index}`, state),
  );
  return { items: items.filter((item) => item !== undefined) };
}

type ItemRule = Exclude<Literal, 'list' | 'strings'> | 'none';

function parseItem(rule: ItemRule, raw: unknown, location: string, state: State): Item | undefined {
  if (isPlainObject(raw) && Object.hasOwn(raw, '$ref') && Object.keys(raw).length === 1) {
    const path = parsePath(raw['$ref']);
    if (path === undefined) report(state, `${location}.$ref`, 'path');
    return path && { path };
  }
  if (typeof raw === 'string' && raw.includes('{{')) {
    const path = parseTemplate(raw);
    const code = raw.startsWith('{{') && raw.indexOf('}}') === raw.length - 2 ? 'path' : 'operand';
    if (path === undefined) report(state, location, code);
    return path && { path };
  }
  // An empty prefix or suffix matches every text, which cannot be what the author intended.
  if (rule === 'text' && raw === '') report(state, location, 'empty');
  else if (!isScalar(raw) || !allows(rule, raw)) report(state, location, 'operand');
  else if (isInexact(raw)) report(state, location, inexactCode(raw));
  else return { value: raw };
  return undefined;
}

function allows(rule: ItemRule, value: Scalar): boolean {
  if (typeof value === 'string' && isUnstorable.test(value)) return false;
  if (rule === 'scalar') return true;
  if (rule === 'number') return typeof value === 'number';
  return rule !== 'none' && typeof value === 'string';
}

function conjunction(nodes: readonly Node[]): Node {
  const [first] = nodes;
  return nodes.length === 1 && first ? first : { kind: 'and', nodes };
}
