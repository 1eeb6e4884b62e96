import {
  assertValidSchema,
  getNullableType,
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLError,
  GraphQLFloat,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  valueFromASTUntyped,
  visit,
  type GraphQLFieldConfig,
  type GraphQLFieldResolver,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLNullableType,
  type GraphQLOutputType,
} from 'graphql';
import { isDeepStrictEqual } from 'node:util';
import type { AnyEntity } from '../kernel/entity.ts';
import { definitionName, type JsonSchema, type Schemas } from '../kernel/output/json-schema.ts';
import type { NamedOperation } from '../kernel/operation.ts';

interface GraphqlSchemaOptions {
  readonly operations: readonly NamedOperation[];
  readonly schemas: Schemas;
  /** Entities by name. */
  readonly entities: ReadonlyMap<string, AnyEntity>;
  readonly resolve: {
    readonly field: (op: NamedOperation) => Resolver;
    readonly relation: (entity: AnyEntity, relation: string) => Resolver;
  };
}

/**
 * Resolver of a root field or relation. Other fields have none: they are property reads, which graphql-jit inlines.
 */
export type Resolver = GraphQLFieldResolver<unknown, unknown, Args>;
type Field = GraphQLFieldConfig<unknown, unknown, Args>;
type Args = Readonly<Record<string, unknown>>;

/** Writes dates in UTC with three fraction digits. Inputs stay text, which the operation validates. */
const DateTime = new GraphQLScalarType<string, unknown>({
  name: 'DateTime',
  description: 'RFC 3339 with time and zone; answers are UTC with three fraction digits.',
  serialize: (value) => (value instanceof Date ? value.toISOString() : value),
  parseValue: (value) => {
    if (typeof value === 'string') return value;
    throw new GraphQLError('DateTime is a string.');
  },
});

export const Json = new GraphQLScalarType<unknown>({
  name: 'JSON',
  description: 'Any JSON value.',
  parseValue: (value) => value,
  parseLiteral(literal, variables) {
    visit(literal, {
      ObjectField({ name }) {
        // Refused, as in a JSON body, because schemas would drop the member in silence.
        if (name.value === '__proto__') throw new GraphQLError('No member may be called __proto__.');
      },
    });
    return valueFromASTUntyped(literal, variables);
  },
});

/** Scalars by the format of a JSON Schema. If no scalar has the format, its type counts. */
const scalars = new Map<string, GraphQLScalarType>([
  ['uuid', GraphQLID],
  ['date-time', DateTime],
  ['boolean', GraphQLBoolean],
  ['integer', GraphQLInt],
  ['number', GraphQLFloat],
  ['string', GraphQLString],
]);

interface ResolvedSchema {
  readonly schema: JsonSchema;
  readonly name: string | undefined;
  readonly nullable: boolean;
}

/**
 * Builds the GraphQL schema from the JSON Schemas of the declarations: one root field per operation, with one argument
 * `input`. Nullability, enums and descriptions come from the JSON Schema, relations from the entities. Defaults are not
 * declared: a member that the caller omits is also omitted for the operation.
 * @throws Error for a declaration that GraphQL cannot express, so that the service does not start
 */
export function buildGraphqlSchema(options: GraphqlSchemaOptions): GraphQLSchema {
  const { schemas, entities, resolve } = options;
  const types = new Map<string, { source: JsonSchema; type: GraphQLNamedType }>();

  /** Creates one type per name. @throws Error if two different schemas have the same name */
  function namedType<T extends GraphQLNamedType>(name: string, source: JsonSchema, create: () => T): T {
    const existing = types.get(name) ?? { source, type: create() };
    types.set(name, existing);
    if (existing.source !== source && !isDeepStrictEqual(existing.source, source)) {
      throw new Error(`GraphQL: two different types are named ${name}`);
    }
    return existing.type as T;
  }

  const described = (json: JsonSchema, schema = json) => ({
    description: json.description ?? schema.description ?? null,
  });
  const wrap = <T extends GraphQLNullableType>(type: T, nullable: boolean): T | GraphQLNonNull<T> =>
    nullable ? type : new GraphQLNonNull(type);

  function leaf(
    schema: JsonSchema,
    name: string | undefined,
  ): GraphQLScalarType | GraphQLEnumType | undefined {
    const { enum: values } = schema;
    if (values && name !== undefined) {
      const make = () =>
        new GraphQLEnumType({
          name,
          ...described(schema),
          values: Object.fromEntries(values.map((value) => [String(value), {}])),
        });
      return namedType(name, schema, make);
    }
    if (isFree(schema)) return Json;
    return scalars.get(schema.format ?? '') ?? scalars.get(String(schema.type));
  }

  function output(json: JsonSchema, derived: string): GraphQLOutputType {
    const { schema, name, nullable } = resolveSchema(json, schemas.outputs, derived);
    if (schema.type === 'array') {
      return wrap(new GraphQLList(output(itemsOf(schema, derived), `${derived}Item`)), nullable);
    }
    const type = leaf(schema, name) ?? object(schema, name ?? derived);
    return wrap(type, nullable);
  }

  function object(schema: JsonSchema, name: string): GraphQLObjectType {
    // `ApiKeyWithSecret` extends the schema of `ApiKey`, so it has the relations of `ApiKey`.
    const entity = entities.get(name) ?? entities.get(name.replace(/With[A-Z]\w*$/, ''));
    const field = (key: string, json: JsonSchema): Field => {
      if (entity?.relations[key]) return relationField(entity, key, json);
      const type = output(json, name + capital(key));
      return { type: schema.required?.includes(key) ? type : getNullableType(type), ...described(json) };
    };
    return namedType(name, schema, () => {
      assertObject(schema, name);
      return new GraphQLObjectType({
        name,
        ...described(schema),
        fields: () => mapProperties(schema.properties, (json, key) => field(key, json)),
      });
    });
  }

  function relationField(entity: AnyEntity, key: string, json: JsonSchema): Field {
    const relation = entity.relations[key];
    const target = relation?.to().name ?? '';
    if (relation?.kind === 'one' && !(relation.column in entity.schema.shape)) {
      throw new Error(`GraphQL: ${entity.name}.${key} needs ${relation.column}, which is not public`);
    }
    const type = output({ $ref: `#/$defs/${target}` }, target);
    return {
      type: relation?.kind === 'one' ? getNullableType(type) : new GraphQLNonNull(new GraphQLList(type)),
      ...described(json),
      resolve: resolve.relation(entity, key),
      extensions: { relation: relation?.kind === 'one' ? 'one' : 'many', selected: { name: key, relation } },
    };
  }

  function input(json: JsonSchema, derived: string): GraphQLInputType {
    const { schema, name, nullable } = resolveSchema(json, schemas.inputs, derived);
    if (schema.type === 'array') {
      return wrap(new GraphQLList(input(itemsOf(schema, derived), `${derived}Item`)), nullable);
    }
    return wrap(leaf(schema, name) ?? inputObject(schema, name ?? derived), nullable);
  }

  function inputObject(schema: JsonSchema, base: string): GraphQLInputObjectType {
    const name = base.endsWith('Input') ? base : `${base}Input`;
    const member = (key: string, json: JsonSchema) => {
      const type = input(json, name.slice(0, -'Input'.length) + capital(key));
      return { type: schema.required?.includes(key) ? type : getNullableType(type), ...described(json) };
    };
    return namedType(name, schema, () => {
      assertObject(schema, name);
      return new GraphQLInputObjectType({
        name,
        ...described(schema),
        fields: () => mapProperties(schema.properties, (json, key) => member(key, json)),
      });
    });
  }

  function rootField(op: NamedOperation): Field {
    const name = capital(op.name);
    const { input: members, output: answer } = schemas.of(op);
    const properties = Object.fromEntries(
      Object.entries(members.properties ?? {}).filter(([, member]) => !member.restOnly),
    );
    const type = inputObject({ ...members, properties }, name);
    const needed = members.required?.some((key) => key in properties) ?? false;
    return {
      type: wrap(getNullableType(output(answer, `${name}Result`)), false),
      description: op.description ? `${op.summary}.\n\n${op.description}` : op.summary,
      args: Object.keys(properties).length > 0 ? { input: { type: wrap(type, !needed) } } : {},
      resolve: resolve.field(op),
    };
  }

  const root = (kind: NamedOperation['kind']) => {
    const served = options.operations.filter((op) => op.kind === kind && op.only !== 'rest');
    const fields = Object.fromEntries(served.map((op) => [op.name, rootField(op)]));
    return served.length > 0 ? new GraphQLObjectType({ name: capital(kind), fields }) : null;
  };
  const schema = new GraphQLSchema({ query: root('query'), mutation: root('mutation'), types: [Json] });
  assertValidSchema(schema);
  return schema;
}

/** Resolves the references of a schema, and determines whether it allows `null`. */
function resolveSchema(json: JsonSchema, definitions: Schemas['outputs'], location: string): ResolvedSchema {
  const name = definitionName(json);
  if (name !== undefined) {
    const definition = definitions[name];
    if (!definition) throw new Error(`GraphQL: ${location} refers to ${name}, which is not defined`);
    return { ...resolveSchema(definition, definitions, name), name };
  }
  const { type: kinds } = json;
  const options =
    typeof kinds === 'object' ? kinds.map((type) => ({ ...json, type })) : (json.anyOf ?? json.oneOf);
  if (!options) return { schema: json, name: undefined, nullable: isFree(json) && json.type === undefined };
  const [only, ...others] = options.filter(({ type, restOnly }) => type !== 'null' && !restOnly);
  if (!only || others.length > 0) throw new Error(`GraphQL: ${location} is a union`);
  const resolved = resolveSchema(only, definitions, location);
  return { ...resolved, nullable: resolved.nullable || options.some(({ type }) => type === 'null') };
}

/** Whether a schema accepts any JSON, or an object without declared members. */
function isFree({
  type,
  properties,
  additionalProperties: more,
  enum: values,
  const: value,
  ...rest
}: JsonSchema): boolean {
  if (type === undefined)
    return values === undefined && value === undefined && !rest.allOf && !rest.anyOf && !rest.oneOf;
  return type === 'object' && (!properties || more === true || typeof more === 'object');
}

function assertObject(schema: JsonSchema, name: string): void {
  if (schema.type !== 'object') throw new Error(`GraphQL: ${name} is neither a scalar, a list nor an object`);
}

function itemsOf({ items }: JsonSchema, location: string): JsonSchema {
  // A tuple has `false` here, because its items have different types.
  if (typeof items !== 'object') throw new Error(`GraphQL: ${location} is a list of no one type`);
  return items;
}

function mapProperties<T>(properties: JsonSchema['properties'], make: (json: JsonSchema, key: string) => T) {
  return Object.fromEntries(Object.entries(properties ?? {}).map(([key, json]) => [key, make(json, key)]));
}

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
