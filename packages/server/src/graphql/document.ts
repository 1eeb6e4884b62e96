import {
  GraphQLError,
  getOperationAST,
  getVariableValues,
  isEnumType,
  isNonNullType,
  Kind,
  NoSchemaIntrospectionCustomRule,
  OperationTypeNode,
  parse,
  specifiedRules,
  validate,
  valueFromAST,
  type DocumentNode,
  type ExecutionResult,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  type SourceLocation,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { fail, type DoorwardError } from '../errors.ts';
import { useOneOf } from '../kernel/input/fix.ts';
import { measureFields, tooComplex } from './limits.ts';
import type { RootField } from './charges.ts';
import { createExecutor, inputVariables } from './execution.ts';

interface Plan {
  readonly kind: 'query' | 'mutation';
  /** Names of the selected operations. */
  readonly names: readonly string[];
  /** Number of introspection fields. */
  readonly introspections: number;
  /** Number of selections, with every fragment expanded. */
  readonly selections: number;
  /** Number of selected operations with which a caller can guess secrets. */
  readonly sensitive: number;
  /** Reads the variables and computes the cost of a run. @throws InvalidDocument, VALIDATION_ERROR for a deep value */
  readonly bind: (variables: Readonly<Record<string, unknown>>) => Run;
}

export interface Run {
  readonly cost: number;
  /** Root fields except `__typename`. Fields with the same response key are merged into one. */
  readonly fields: readonly RootField[];
  readonly start: (context: unknown) => ExecutionResult | Promise<ExecutionResult>;
}

interface PlannerOptions {
  readonly schema: GraphQLSchema;
  readonly limits: { readonly depth: number; readonly aliases: number };
  readonly sensitive: ReadonlySet<string>;
  readonly introspection: boolean;
  readonly production: boolean;
}

export interface Fault {
  readonly error: DoorwardError;
  readonly locations?: readonly SourceLocation[] | undefined;
  readonly path?: readonly (string | number)[] | undefined;
}

/** A document that cannot be executed. */
export class InvalidDocument extends Error {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super('document cannot be executed');
    this.faults = faults;
  }
}

const MAX_BYTES = 20 * 1024;
const MAX_TOKENS = 2000;
const MAX_INPUT_DEPTH = 32;
const MAX_ERRORS = 20;
/**
 * graphql-js puts the complete value into each message about a variable, so many such errors would take much memory.
 */
const MAX_VARIABLE_ERRORS = 3;
const DEFAULT_LIMIT = 50;
/** Maximum total length of the cached documents. Their syntax trees take about a hundred times as much memory. */
const CACHE_CHARACTERS = 300_000;

const introspective = new Set(['__schema', '__type']);

const validationFault = (fix: string, source?: GraphQLError): Fault => ({
  error: fail('GRAPHQL_VALIDATION_FAILED', { fix }),
  locations: source?.locations,
});

/**
 * Returns a function that makes a GraphQL document ready to run: parsed, measured, validated, and compiled from its
 * second run on.
 *
 * The compiler must never get string literals from a caller, because graphql-jit 0.8.9 turns some of them into code. So
 * each argument becomes a variable of the service, which graphql-js evaluates for each run, and only the selection is
 * compiled. Mutations are not compiled, because the compiler continues with the next mutation after an error.
 */
export function createPlanner(options: PlannerOptions): (source: string, operationName?: string) => Plan {
  const plans = new LRUCache<string, Plan>({
    maxSize: CACHE_CHARACTERS,
    sizeCalculation: (_, key) => key.length,
  });
  return (source, operationName = '') => {
    const key = `${operationName}:${source}`;
    const existing = plans.get(key);
    if (existing) return existing;
    const plan = createPlan(source, operationName, options);
    // A document that may contain a secret is not cached.
    if (plan.sensitive === 0) plans.set(key, plan);
    return plan;
  };
}

function createPlan(source: string, operationName: string, options: PlannerOptions): Plan {
  const { schema, limits, production } = options;
  const document = parseDocument(source);
  const operation = getOperationAST(document, operationName || null);
  if (!operation)
    throw new InvalidDocument([validationFault('Name one operation of the document in operationName.')]);
  const rootType = schema.getRootType(operation.operation);
  if (!rootType)
    throw new InvalidDocument([validationFault(`There are no operations of type ${operation.operation}.`)]);
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  const { roots, selections } = measureFields(
    { schema, document, fragments, limits },
    operation.selectionSet,
    rootType,
  );

  const rules = options.introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule];
  const errorOptions = { maxErrors: MAX_ERRORS, hideSuggestions: production };
  assertNoErrors(validate(schema, document, rules, errorOptions), schema);

  const definitions = operation.variableDefinitions ?? [];
  const nodes = roots.map(({ node }) => node);
  const names = nodes.map(({ name }) => name.value).filter((name) => !name.startsWith('__'));
  const inputs = inputVariables(nodes, rootType, definitions);
  const run = createExecutor(schema, operation, [...fragments.values()], inputs);
  const kind = operation.operation === OperationTypeNode.MUTATION ? 'mutation' : 'query';
  return {
    kind,
    names,
    selections,
    introspections: nodes.filter(({ name }) => introspective.has(name.value)).length,
    sensitive: names.filter((name) => options.sensitive.has(name)).length,
    bind(variables) {
      const { errors, coerced } = getVariableValues(schema, definitions, variables, {
        ...errorOptions,
        maxErrors: MAX_VARIABLE_ERRORS,
      });
      assertNoErrors(errors ?? [], schema);
      const values: Record<string, unknown> = {};
      for (const { name, type, node } of inputs.values()) {
        const value = valueFromAST(node, type, coerced);
        if (isTooDeep(value)) throw fail('VALIDATION_ERROR', { details: [{ path: '', code: 'too_deep' }] });
        if (value !== undefined) values[name] = value;
        else if (isNonNullType(type))
          throw new InvalidDocument([validationFault('Give the argument input a value.')]);
      }
      const cost = roots.reduce((sum, { node, fixed, perItem }) => {
        const input = values[inputs.get(node)?.name ?? ''] as { limit?: unknown } | null | undefined;
        const limit = typeof input?.limit === 'number' ? Math.max(1, input.limit) : DEFAULT_LIMIT;
        return sum + fixed + perItem * limit;
      }, 0);
      const fields = new Map<string, RootField>();
      for (const node of nodes) {
        const [name, key] = [node.name.value, (node.alias ?? node.name).value];
        if (name !== '__typename')
          fields.set(key, { key, name, input: values[inputs.get(node)?.name ?? ''] });
      }
      return { cost, fields: [...fields.values()], start: (context) => run(context, variables, values) };
    },
  };
}

function parseDocument(source: string): DocumentNode {
  if (Buffer.byteLength(source) > MAX_BYTES) throw tooComplex(`document > ${MAX_BYTES / 1024} KB`);
  try {
    return parse(source, { maxTokens: MAX_TOKENS });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    if (/more tha[nt] \d+ tokens/.test(error.message)) throw tooComplex(`tokens > ${MAX_TOKENS}`);
    const { line = 1, column = 1 } = error.locations?.[0] ?? {};
    const fix = `Correct the syntax at line ${line}, column ${column}.`;
    throw new InvalidDocument([{ error: fail('GRAPHQL_PARSE_FAILED', { fix }), locations: error.locations }]);
  }
}

function assertNoErrors(errors: readonly GraphQLError[], schema: GraphQLSchema): void {
  if (errors.length > 0)
    throw new InvalidDocument(errors.map((error) => validationFault(fixOf(error, schema), error)));
}

/** Returns the message of graphql-js, unless it contains a value, which may be a secret. */
function fixOf({ message, nodes }: GraphQLError, schema: GraphQLSchema): string {
  const member = /Field "[^"\\]{1,100}" (?:of required type|is not defined by) .*$/.exec(message)?.[0];
  if (member) return member;
  const variable = /^Variable "(\$\w+)" got invalid value/.exec(message)?.[1];
  const isValue = nodes?.[0]?.kind.endsWith('Value') === true;
  if (!variable && !isValue) return message;
  const allowed = enumValuesIn(message, schema);
  if (allowed) return `${variable ? `${variable}: u` : 'U'}${useOneOf(allowed).slice(1)}.`;
  return variable ? `Give ${variable} a value of its type.` : 'Write a value of the type that belongs here.';
}

/**
 * Returns the values of the enum that a message names; undefined if it names none. The message may quote any input, so
 * the name counts only if the schema has an enum of this name.
 */
function enumValuesIn(message: string, schema: GraphQLSchema): string[] | undefined {
  const [, name] =
    /"(\w+)" enum\.(?: Did you mean .*)?$/.exec(message) ??
    /Enum "(\w+)" cannot represent/.exec(message) ??
    [];
  const type = name === undefined ? undefined : schema.getType(name);
  return isEnumType(type) ? type.getValues().map((value) => value.name) : undefined;
}

function isTooDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth >= MAX_INPUT_DEPTH || Object.values(value).some((member) => isTooDeep(member, depth + 1));
}
