import type { Detail, DetailCode } from '../errors.ts';
import { inexactCode, isInexact } from './inexact.ts';

/**
 * The grammar of conditions (authorization §7.1): JSON in, a tree or a list of problems out.
 *
 * The tree is the only thing that is ever evaluated, so whatever this file refuses can never be met. Everything is
 * bounded here, once: a tree that left this file is at most 8 levels deep and 64 nodes large.
 *
 * @example parseCondition({ Equals: { 'resource.ownerId': '{{user.id}}' } }, 'condition').root
 */
export const limits = { depth: 8, nodes: 64, bytes: 8192, items: 100, segments: 7, problems: 20 } as const;

/** What an operator takes as a literal; references are always allowed, their values are judged at evaluation. */
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

/** All leaf operators, in the order of the contract. */
export const operators: readonly Operator[] = [...operands.keys()];

/** A JSON value that `Equals` can compare. */
export type Scalar = string | number | boolean | null;

/** A checked attribute path; `parts` begins with the root. */
export interface Path {
  readonly text: string;
  readonly parts: readonly string[];
}

/** A value that is known when written, or read at the time of the decision. */
export type Item = { readonly value: Scalar } | { readonly path: Path };
export type Operand = Item | { readonly items: readonly Item[] };

/** A checked condition. */
export type Node =
  | { readonly kind: 'and' | 'or'; readonly nodes: readonly Node[] }
  | { readonly kind: 'not'; readonly node: Node }
  | { readonly kind: 'leaf'; readonly operator: Operator; readonly path: Path; readonly operand: Operand };

/** `root` is null for an unconditional condition, and meaningless when there are problems. */
export interface Parsed {
  readonly root: Node | null;
  readonly problems: readonly Detail[];
}

interface State {
  readonly problems: Detail[];
  nodes: number;
}

/** True for objects that JSON can make: no arrays, no instances. Only these are ever walked. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** True for null, strings, booleans and finite numbers. */
export function isScalar(value: unknown): value is Scalar {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

// No column of PostgreSQL can keep these, so they may not come as far as a statement.
const isUnstorable = /[\0\p{Surrogate}]/u;
/** What a path may begin with. */
export const roots = ['user', 'role', 'group', 'scope', 'resource'] as const;
const isRoot = new RegExp(`^(?:${roots.join('|')})$`);
const isSegment = /^(?!(?:__proto__|constructor|prototype)$)[A-Za-z0-9_-]{1,64}$/;

/** The path that a text spells, or undefined. */
export function parsePath(text: unknown): Path | undefined {
  if (typeof text !== 'string') return undefined;
  const [root = '', ...segments] = text.split('.');
  const sized = segments.length >= 1 && segments.length <= limits.segments;
  if (!sized || !isRoot.test(root) || !segments.every((segment) => isSegment.test(segment))) return undefined;
  return { text, parts: [root, ...segments] };
}

/** The path inside a whole-string `{{path}}`, or undefined. */
export function parseTemplate(text: string): Path | undefined {
  return text.startsWith('{{') && text.endsWith('}}') ? parsePath(text.slice(2, -2)) : undefined;
}

/** Never throws for JSON of any shape and size; `place` is the path by which problems are named. */
export function parseCondition(raw: unknown, place: string): Parsed {
  const state: State = { problems: [], nodes: 0 };
  if (raw === null) return { root: null, problems: state.problems };
  if (!isPlainObject(raw)) report(state, place, 'type');
  else if (Object.keys(raw).length === 0) return { root: null, problems: state.problems };
  else if (!fits(raw)) report(state, place, 'limit');
  else return { root: parseExpression(raw, place, 0, state), problems: state.problems };
  return { root: null, problems: state.problems };
}

/** Measured first: what follows then works on 8 KB at most. Nesting too deep for the serializer does not fit either. */
function fits(raw: Record<string, unknown>): boolean {
  try {
    return Buffer.byteLength(JSON.stringify(raw)) <= limits.bytes;
  } catch {
    return false;
  }
}

function report(state: State, path: string, code: DetailCode): void {
  if (state.problems.length < limits.problems) state.problems.push({ path, code });
}

/** Counts one node; past the cap it reports once and stays false, so that the parser stops walking. */
function count(state: State, place: string): boolean {
  state.nodes += 1;
  if (state.nodes === limits.nodes + 1) report(state, place, 'limit');
  return state.nodes <= limits.nodes;
}

/** The nodes returned beside a problem are placeholders: the caller of parseCondition drops them. */
const nothing: Node = { kind: 'and', nodes: [] };

function parseExpression(raw: unknown, place: string, depth: number, state: State): Node {
  if (!isPlainObject(raw)) {
    report(state, place, 'type');
    return nothing;
  }
  const clauses = Object.entries(raw);
  if (clauses.length === 0) report(state, place, 'empty');
  return all(clauses.map(([key, value]) => parseClause(key, value, `${place}.${key}`, depth + 1, state)));
}

function parseClause(key: string, value: unknown, place: string, depth: number, state: State): Node {
  if (depth > limits.depth) {
    report(state, place, 'limit');
    return nothing;
  }
  if (key === 'And' || key === 'Or') {
    if (!count(state, place)) return nothing;
    const nodes = parseList(value, place, depth, state);
    return { kind: key === 'And' ? 'and' : 'or', nodes };
  }
  if (key === 'Not') {
    if (!count(state, place)) return nothing;
    return { kind: 'not', node: parseExpression(value, place, depth, state) };
  }
  const literal = operands.get(key as Operator);
  if (literal !== undefined) return parseOperator(key as Operator, literal, value, place, state);
  report(state, place, 'operator');
  return nothing;
}

function parseList(value: unknown, place: string, depth: number, state: State): readonly Node[] {
  if (!Array.isArray(value)) {
    report(state, place, 'type');
    return [];
  }
  if (value.length === 0) report(state, place, 'empty');
  return value.map((item, at) => parseExpression(item, `${place}.${at}`, depth, state));
}

function parseOperator(
  operator: Operator,
  literal: Literal,
  value: unknown,
  place: string,
  state: State,
): Node {
  if (!isPlainObject(value)) {
    report(state, place, 'type');
    return nothing;
  }
  const entries = Object.entries(value);
  if (entries.length === 0) report(state, place, 'empty');
  const leaves = entries.map(([text, raw]): Node => {
    const here = `${place}.${text}`;
    if (!count(state, here)) return nothing;
    const path = parsePath(text);
    if (path === undefined) report(state, here, 'path');
    const operand = parseOperand(literal, raw, here, state);
    return path && operand ? { kind: 'leaf', operator, path, operand } : nothing;
  });
  return all(leaves);
}

function parseOperand(literal: Literal, raw: unknown, place: string, state: State): Operand | undefined {
  if (literal !== 'list' && literal !== 'strings') return parseItem(literal, raw, place, state);
  if (!Array.isArray(raw)) return parseItem('none', raw, place, state);
  if (raw.length === 0) report(state, place, 'empty');
  if (raw.length > limits.items) {
    report(state, place, 'limit');
    return undefined;
  }
  const rule = literal === 'list' ? 'scalar' : 'string';
  const items = Array.from(raw, (item: unknown, at) => parseItem(rule, item, `${place}.${at}`, state));
  return { items: items.filter((item) => item !== undefined) };
}

type ItemRule = Exclude<Literal, 'list' | 'strings'> | 'none';

function parseItem(rule: ItemRule, raw: unknown, place: string, state: State): Item | undefined {
  if (isPlainObject(raw) && Object.hasOwn(raw, '$ref') && Object.keys(raw).length === 1) {
    const path = parsePath(raw['$ref']);
    if (path === undefined) report(state, `${place}.$ref`, 'path');
    return path && { path };
  }
  if (typeof raw === 'string' && raw.includes('{{')) {
    const path = parseTemplate(raw);
    const code = raw.startsWith('{{') && raw.indexOf('}}') === raw.length - 2 ? 'path' : 'operand';
    if (path === undefined) report(state, place, code);
    return path && { path };
  }
  // An empty prefix would hold for every text: surely not what was meant.
  if (rule === 'text' && raw === '') report(state, place, 'empty');
  else if (!isScalar(raw) || !allows(rule, raw)) report(state, place, 'operand');
  else if (isInexact(raw)) report(state, place, inexactCode(raw));
  else return { value: raw };
  return undefined;
}

function allows(rule: ItemRule, value: Scalar): boolean {
  if (typeof value === 'string' && isUnstorable.test(value)) return false;
  if (rule === 'scalar') return true;
  if (rule === 'number') return typeof value === 'number';
  return rule !== 'none' && typeof value === 'string';
}

function all(nodes: readonly Node[]): Node {
  const [first] = nodes;
  return nodes.length === 1 && first ? first : { kind: 'and', nodes };
}
