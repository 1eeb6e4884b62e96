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
import { useOneOf } from '../kernel/fix.ts';
import { measuredFields, tooComplex } from './graphql-limits.ts';
import type { RootField } from './graphql-charges.ts';
import { executing, inputsOf } from './graphql-execution.ts';

/**
 * One GraphQL document, ready to run: parsed, measured, validated, and compiled when it comes again.
 *
 * The compiler must never see what a caller wrote between quotes: graphql-jit 0.8.9 turns some string literals
 * of a document into code of the process. So every argument becomes a variable of ours, filled for each call by
 * graphql-js, and what is compiled is only the selection. Mutations are not compiled at all, because the
 * compiler goes on with the next one after an error.
 */
export interface Plan {
  readonly kind: 'query' | 'mutation';
  /** Names of the operations that it selects. */
  readonly names: readonly string[];
  /** How many fields of it ask for the schema. */
  readonly introspections: number;
  /** How much it selects, with every fragment written out. */
  readonly selections: number;
  /** How many fields that take guesses at secrets it selects. */
  readonly sensitive: number;
  /** Reads the variables, and tells what the run would cost. @throws Unrunnable */
  readonly bind: (variables: Readonly<Record<string, unknown>>) => Run;
}

export interface Run {
  readonly cost: number;
  /** What it asks of itself; fields that are answered at one place are one. */
  readonly fields: readonly RootField[];
  readonly start: (context: unknown) => ExecutionResult | Promise<ExecutionResult>;
}

export interface PlannerOptions {
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
export class Unrunnable extends Error {
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
/** graphql-js writes the whole value into each of its messages about a variable. */
const MAX_VARIABLE_ERRORS = 3;
const DEFAULT_LIMIT = 50;
/** Characters of documents kept ready; their trees take some hundred times that. */
const CACHED_CHARACTERS = 300_000;

const introspective = new Set(['__schema', '__type']);

const misfit = (fix: string, source?: GraphQLError): Fault => ({
  error: fail('GRAPHQL_VALIDATION_FAILED', { fix }),
  locations: source?.locations,
});

export function createPlanner(options: PlannerOptions): (source: string, operationName?: string) => Plan {
  const plans = new LRUCache<string, Plan>({
    maxSize: CACHED_CHARACTERS,
    sizeCalculation: (_, key) => key.length,
  });
  return (source, operationName = '') => {
    const key = `${operationName}:${source}`;
    const known = plans.get(key);
    if (known) return known;
    const plan = prepare(source, operationName, options);
    // A document that is there to carry a secret does not stay in memory.
    if (plan.sensitive === 0) plans.set(key, plan);
    return plan;
  };
}

function prepare(source: string, operationName: string, options: PlannerOptions): Plan {
  const { schema, limits, production } = options;
  const document = parsed(source);
  const operation = getOperationAST(document, operationName || null);
  if (!operation) throw new Unrunnable([misfit('Name one operation of the document in operationName.')]);
  const rootType = schema.getRootType(operation.operation);
  if (!rootType) throw new Unrunnable([misfit(`There are no operations of type ${operation.operation}.`)]);
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  const { roots, selections } = measuredFields(
    { schema, document, fragments, limits },
    operation.selectionSet,
    rootType,
  );

  const rules = options.introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule];
  const reporting = { maxErrors: MAX_ERRORS, hideSuggestions: production };
  refuseAny(validate(schema, document, rules, reporting), schema);

  const definitions = operation.variableDefinitions ?? [];
  const nodes = roots.map(({ node }) => node);
  const names = nodes.map(({ name }) => name.value).filter((name) => !name.startsWith('__'));
  const inputs = inputsOf(nodes, rootType, definitions);
  const run = executing(schema, operation, [...fragments.values()], inputs);
  const kind = operation.operation === OperationTypeNode.MUTATION ? 'mutation' : 'query';
  return {
    kind,
    names,
    selections,
    introspections: nodes.filter(({ name }) => introspective.has(name.value)).length,
    sensitive: names.filter((name) => options.sensitive.has(name)).length,
    bind(variables) {
      const { errors, coerced } = getVariableValues(schema, definitions, variables, {
        ...reporting,
        maxErrors: MAX_VARIABLE_ERRORS,
      });
      refuseAny(errors ?? [], schema);
      const values: Record<string, unknown> = {};
      for (const { name, type, node } of inputs.values()) {
        const value = valueFromAST(node, type, coerced);
        if (isTooDeep(value)) throw fail('VALIDATION_ERROR', { details: [{ path: '', code: 'too_deep' }] });
        if (value !== undefined) values[name] = value;
        else if (isNonNullType(type)) throw new Unrunnable([misfit('Give the argument input a value.')]);
      }
      const cost = roots.reduce((sum, { node, fixed, perItem }) => {
        const input = values[inputs.get(node)?.name ?? ''] as { limit?: unknown } | null | undefined;
        const limit = typeof input?.limit === 'number' ? Math.max(1, input.limit) : DEFAULT_LIMIT;
        return sum + fixed + perItem * limit;
      }, 0);
      const fields = new Map<string, RootField>();
      for (const node of nodes) {
        const [name, place] = [node.name.value, (node.alias ?? node.name).value];
        if (name !== '__typename')
          fields.set(place, { place, name, input: values[inputs.get(node)?.name ?? ''] });
      }
      return { cost, fields: [...fields.values()], start: (context) => run(context, variables, values) };
    },
  };
}

function parsed(source: string): DocumentNode {
  if (Buffer.byteLength(source) > MAX_BYTES) throw tooComplex(`document > ${MAX_BYTES / 1024} KB`);
  try {
    return parse(source, { maxTokens: MAX_TOKENS });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    if (/more tha[nt] \d+ tokens/.test(error.message)) throw tooComplex(`tokens > ${MAX_TOKENS}`);
    const { line = 1, column = 1 } = error.locations?.[0] ?? {};
    const fix = `Mend the syntax at line ${line}, column ${column}.`;
    throw new Unrunnable([{ error: fail('GRAPHQL_PARSE_FAILED', { fix }), locations: error.locations }]);
  }
}

function refuseAny(errors: readonly GraphQLError[], schema: GraphQLSchema): void {
  if (errors.length > 0) throw new Unrunnable(errors.map((error) => misfit(fixOf(error, schema), error)));
}

/** What graphql-js says, unless it repeats a value, which may be a secret. */
function fixOf({ message, nodes }: GraphQLError, schema: GraphQLSchema): string {
  const member = /Field "[^"\\]{1,100}" (?:of required type|is not defined by) .*$/.exec(message)?.[0];
  if (member) return member;
  const variable = /^Variable "(\$\w+)" got invalid value/.exec(message)?.[1];
  const isValue = nodes?.[0]?.kind.endsWith('Value') === true;
  if (!variable && !isValue) return message;
  const allowed = valuesOf(message, schema);
  if (allowed) return `${variable ? `${variable}: u` : 'U'}${useOneOf(allowed).slice(1)}.`;
  return variable ? `Give ${variable} a value of its type.` : 'Write a value of the type that belongs here.';
}

/** The values of the enum of which it says that what was given is none; what it repeats before that may be anything. */
function valuesOf(message: string, schema: GraphQLSchema): string[] | undefined {
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
