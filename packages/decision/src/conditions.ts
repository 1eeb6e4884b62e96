/*
 * Conditions of permissions (authorization §7): validated when they are written, compiled when they are read.
 *
 * Validation reports up to 20 problems. Reading never throws: a stored condition that does not parse is never met,
 * because ignoring it would remove the restriction from the permission.
 */

import { compileFrom, pathReader } from './conditions-eval.ts';
import type { Attributes, Truth } from './conditions-eval.ts';
import { Lists } from './lists.ts';
import { isPlainObject, isScalar, parseCondition, parseTemplate } from './conditions-parse.ts';
import type { ConditionProblem, Node, Path } from './conditions-parse.ts';

/**
 * A condition as JSON. Null and `{}` are always met.
 *
 * @example compileCondition({ Equals: { 'resource.ownerId': '{{user.id}}' } }).evaluate({ user, resource })
 */
export type Condition = Record<string, unknown> | null;

/** A stored condition, ready for any number of decisions. */
export interface CompiledCondition {
  /** True for null and `{}`, which are always met. */
  readonly unconditional: boolean;
  /**
   * Every path that the condition uses, on the left or as a reference: each once, in the order written. Empty if the
   * condition does not parse.
   */
  readonly paths: readonly string[];
  /** Whether the result can depend on the role or the group that grants the permission. */
  readonly readsRole: boolean;
  readonly readsGroup: boolean;
  /**
   * The condition is met only if the result is 'true'. Never throws for JSON attributes, unless `lists` exceeds a work
   * limit.
   */
  evaluate(attributes: Attributes, lists?: Lists): Truth;
  /** The attribute values at `paths`, without missing ones. */
  context(attributes: Attributes): Record<string, unknown>;
  /**
   * Reads the values at `paths` once, for callers that then need both `truthOf` and `contextOf`: reading is a third of
   * the work.
   */
  read(attributes: Attributes): Values;
  truthOf(values: Values, lists?: Lists): Truth;
  contextOf(values: Values): Record<string, unknown>;
}

/** The values at the `paths` of a condition, in the same order. */
export type Values = readonly unknown[];

/**
 * Thrown for a value that is not a valid condition. Lists up to 20 problems; neither they nor the message contain
 * values of the condition.
 */
export class ConditionError extends TypeError {
  override readonly name = 'ConditionError';
  readonly problems: readonly ConditionProblem[];

  constructor(problems: readonly ConditionProblem[]) {
    super(`Not a condition: ${problems.map(({ path, code }) => `${path} (${code})`).join(', ')}.`);
    this.problems = problems;
  }
}

/**
 * Checks a condition as the service does when a permission is written.
 *
 * @throws ConditionError
 * @example assertCondition({ Equals: { 'resource.ownerId': '{{user.id}}' } })
 */
export function assertCondition(raw: unknown, path = 'condition'): asserts raw is Condition {
  const { problems } = parseCondition(raw, path);
  if (problems.length > 0) throw new ConditionError(problems);
}

const compiled = new WeakMap<object, CompiledCondition>();

/**
 * Compiles a condition. Never throws: a value that `parseCondition` refuses (also undefined) compiles to a condition
 * that is never met. The result is cached for the object `raw`, because thousands of permissions that subjects have may
 * share one condition, so do not change that object afterwards.
 *
 * @example compileCondition(condition).evaluate({ user: { id: 'u1' }, resource: order }) === 'true'
 */
export function compileCondition(raw: unknown): CompiledCondition {
  if (typeof raw !== 'object' || raw === null) return compile(raw);
  const cached = compiled.get(raw);
  if (cached) return cached;
  const condition = compile(raw);
  compiled.set(raw, condition);
  return condition;
}

function compile(raw: unknown): CompiledCondition {
  const root = parseStoredCondition(raw);
  if (root === undefined) return never;
  if (root === null) return always;
  const used = new Map<string, Path>();
  collect(root, used);
  const paths = [...used.keys()];
  const readers = [...used.values()].map(pathReader);
  const read = (attributes: Attributes): Values => {
    const values = new Array<unknown>(readers.length);
    for (let index = 0; index < readers.length; index++) values[index] = readers[index]?.(attributes);
    return values;
  };
  const decide = compileFrom<Values>(root, ({ text }) => {
    const index = paths.indexOf(text);
    return (values) => values[index];
  });
  const steps = paths.length + stepsOf(root);
  const truthOf = (values: Values, lists = new Lists()): Truth => {
    lists.work.charge('comparisons', steps);
    return decide(values, lists);
  };
  const contextOf = (values: Values): Record<string, unknown> => {
    // A plain object is safe: every path contains a dot, so it cannot collide with the name of an inherited member.
    const context: Record<string, unknown> = {};
    for (let index = 0; index < paths.length; index++) {
      const value = values[index];
      if (value !== undefined) context[paths[index] as string] = value;
    }
    return context;
  };
  const reads = (root: string): boolean => paths.some((path) => path.startsWith(`${root}.`));
  return {
    unconditional: false,
    paths,
    readsRole: reads('role'),
    readsGroup: reads('group'),
    evaluate: (attributes, lists) => truthOf(read(attributes), lists),
    context: (attributes) => contextOf(read(attributes)),
    read,
    truthOf,
    contextOf,
  };
}

/**
 * Returns a text that is equal for two conditions if and only if they mean the same JSON: the order of members does not
 * matter, `{{p}}` equals `{"$ref": p}`, and `{}` equals null. Never throws; conditions that do not parse have such a
 * text too.
 *
 * @example canonicalCondition({}) === canonicalCondition(null)
 */
export function canonicalCondition(raw: unknown): string {
  if (raw === null || (isPlainObject(raw) && Object.keys(raw).length === 0)) return 'null';
  const existing = isPlainObject(raw) ? canonicalForms.get(raw) : undefined;
  if (existing !== undefined) return existing;
  const form = formOf(raw);
  if (isPlainObject(raw)) canonicalForms.set(raw, form);
  return form;
}

const canonicalForms = new WeakMap<object, string>();

function formOf(raw: unknown): string {
  try {
    return canonical(raw);
  } catch {
    return 'unreadable'; // not JSON, or nested too deeply for the stack; such a condition is never met
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

/** Returns the tree of a stored condition: null if it is always met, undefined if it does not parse. Never throws. */
export function parseStoredCondition(raw: unknown): Node | null | undefined {
  try {
    const { root, problems } = parseCondition(raw, '');
    return problems.length > 0 ? undefined : root;
  } catch {
    return undefined; // reached only for objects with throwing getters, which JSON never has
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

/**
 * Counts the comparisons in a condition, plus the references among list items, because every evaluation reads them all.
 */
function stepsOf(node: Node): number {
  if (node.kind === 'not') return stepsOf(node.node);
  if (node.kind !== 'leaf') return node.nodes.reduce((sum, inner) => sum + stepsOf(inner), 0);
  return 'items' in node.operand ? 1 + node.operand.items.filter((item) => 'path' in item).length : 1;
}

function canonical(value: unknown): string {
  if (typeof value === 'string') {
    const path = parseTemplate(value);
    // Written as a `$ref`. The text of a path is never a template itself.
    return path ? `{"$ref":${JSON.stringify(path.text)}}` : JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (isScalar(value)) return JSON.stringify(value);
  // Refuses NaN, among others: JSON.stringify would write it as null, and a null condition is always met.
  if (!isPlainObject(value)) throw new TypeError('not JSON');
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join()}}`;
}
