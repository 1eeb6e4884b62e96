import { fail, type DetailCode } from '../errors.ts';
import { fixOf, useOneOf, type Hint } from '../kernel/fix.ts';
import { compileFrom, pathReader } from './conditions-eval.ts';
import type { Attributes, Truth } from './conditions-eval.ts';
import {
  isPlainObject,
  isScalar,
  operators,
  parseCondition,
  parseTemplate,
  roots,
} from './conditions-parse.ts';
import type { Node, Path } from './conditions-parse.ts';

/**
 * Conditions of permissions (authorization §7): checked when written, compiled when read.
 *
 * Writing is strict and names every bad place. Reading never throws: a stored condition that no longer parses is
 * never met, because the alternative (ignoring it) would turn a restricted permission into an unrestricted one.
 *
 * @example compileCondition({ Equals: { 'resource.ownerId': '{{user.id}}' } }).evaluate({ user, resource })
 */
export type Condition = Record<string, unknown> | null;

/** A stored condition, ready for any number of decisions. */
export interface CompiledCondition {
  /** True for null and `{}`: always met. */
  readonly unconditional: boolean;
  /** Every path and reference used, each once, in the order written; none if the condition does not parse. */
  readonly paths: readonly string[];
  /** Whether the answer can depend on the role or the group by which the permission is held. */
  readonly readsRole: boolean;
  readonly readsGroup: boolean;
  /** Met only if 'true'. Never throws for JSON attributes. */
  evaluate(attributes: Attributes): Truth;
  /** The values at `paths`; missing ones left out. */
  context(attributes: Attributes): Record<string, unknown>;
  /** Both of these in two steps, for whoever wants both: what is read is a third of the work. */
  read(attributes: Attributes): Values;
  truthOf(values: Values): Truth;
  contextOf(values: Values): Record<string, unknown>;
}

/** What stands at the paths of a condition, in their order. */
export type Values = readonly unknown[];

/**
 * Guarantees that what it returns parses; null and `{}` become null, the rest is the argument itself.
 *
 * @throws INVALID_CONDITION with one detail per bad place (20 at most), below `path`
 */
export function assertCondition(raw: unknown, path = 'condition'): Condition {
  const { root, problems } = parseCondition(raw, path);
  if (problems.length > 0) {
    const hinted = problems.flatMap(({ path: at, code }) => hints[code]?.(at) ?? []);
    const fix = fixOf(hinted, problems.length);
    throw fail('INVALID_CONDITION', { details: problems, ...(fix === undefined ? {} : { fix }) });
  }
  return root === null ? null : (raw as Record<string, unknown>);
}

/** What would be accepted, by the code of a problem. */
const hints: Partial<Record<DetailCode, (path: string) => Hint>> = {
  operator: (path) => ({ path, hint: useOneOf(['And', 'Or', 'Not', ...operators]) }),
  path: (path) => ({
    path,
    hint: `begin with ${roots.join('., ')}. and name an attribute, as in resource.ownerId; 7 names of letters, digits, _ and - at most`,
  }),
};

const compiled = new WeakMap<object, CompiledCondition>();

/**
 * Never throws; what assertCondition would refuse (undefined too) is never met. One condition may be held on thousands
 * of paths: an object is compiled once, so it must not change afterwards.
 */
export function compileCondition(raw: unknown): CompiledCondition {
  if (typeof raw !== 'object' || raw === null) return compile(raw);
  const known = compiled.get(raw);
  if (known) return known;
  const fresh = compile(raw);
  compiled.set(raw, fresh);
  return fresh;
}

function compile(raw: unknown): CompiledCondition {
  const root = parseStored(raw);
  if (root === undefined) return never;
  if (root === null) return always;
  const used = new Map<string, Path>();
  collect(root, used);
  const paths = [...used.keys()];
  const readers = [...used.values()].map(pathReader);
  const read = (attributes: Attributes): Values => {
    const values: unknown[] = [];
    for (const one of readers) values.push(one(attributes));
    return values;
  };
  const truthOf = compileFrom<Values>(root, ({ text }) => {
    const place = paths.indexOf(text);
    return (values) => values[place];
  });
  const contextOf = (values: Values): Record<string, unknown> => {
    // No path is called as a member that objects inherit: each has a dot in it.
    const context: Record<string, unknown> = {};
    for (let place = 0; place < paths.length; place++) {
      const value = values[place];
      if (value !== undefined) context[paths[place] as string] = value;
    }
    return context;
  };
  const reads = (root: string): boolean => paths.some((path) => path.startsWith(`${root}.`));
  return {
    unconditional: false,
    paths,
    readsRole: reads('role'),
    readsGroup: reads('group'),
    evaluate: (attributes) => truthOf(read(attributes)),
    context: (attributes) => contextOf(read(attributes)),
    read,
    truthOf,
    contextOf,
  };
}

/**
 * Equal for two conditions exactly if they are written alike but for the order of members, `{{p}}` against
 * `{"$ref": p}`, and null against `{}`. Never throws; conditions that do not parse equal themselves.
 */
export function canonicalCondition(raw: unknown): string {
  if (raw === null || (isPlainObject(raw) && Object.keys(raw).length === 0)) return 'null';
  const known = isPlainObject(raw) ? canonicalForms.get(raw) : undefined;
  if (known !== undefined) return known;
  const form = formOf(raw);
  if (isPlainObject(raw)) canonicalForms.set(raw, form);
  return form;
}

const canonicalForms = new WeakMap<object, string>();

function formOf(raw: unknown): string {
  try {
    return canonical(raw);
  } catch {
    return 'unreadable'; // not JSON, or nested beyond the stack: never met either
  }
}

const never: CompiledCondition = {
  unconditional: false,
  paths: [],
  readsRole: false,
  readsGroup: false,
  evaluate: () => 'unknown',
  context: () => ({}),
  read: () => [],
  truthOf: () => 'unknown',
  contextOf: () => ({}),
};

const met = (): Truth => 'true';
const always: CompiledCondition = { ...never, unconditional: true, evaluate: met, truthOf: met };

/** The tree of a stored condition: null if it is unconditional, undefined if it does not parse. Never throws. */
export function parseStored(raw: unknown): Node | null | undefined {
  try {
    const { root, problems } = parseCondition(raw, '');
    return problems.length > 0 ? undefined : root;
  } catch {
    return undefined; // only objects with throwing getters come here; JSON has none
  }
}

function collect(node: Node, used: Map<string, Path>): void {
  const add = (path: Path): unknown => used.set(path.text, path);
  if (node.kind === 'not') collect(node.node, used);
  else if (node.kind === 'leaf') {
    add(node.path);
    const items = 'items' in node.operand ? node.operand.items : [node.operand];
    for (const item of items) if ('path' in item) add(item.path);
  } else for (const inner of node.nodes) collect(inner, used);
}

function canonical(value: unknown): string {
  if (typeof value === 'string') {
    const path = parseTemplate(value);
    // As a `$ref` is written; the text of a path is never a template itself.
    return path ? `{"$ref":${JSON.stringify(path.text)}}` : JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (isScalar(value)) return JSON.stringify(value);
  // JSON.stringify would write NaN as null, which is a condition that is always met.
  if (!isPlainObject(value)) throw new TypeError('not JSON');
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join()}}`;
}
