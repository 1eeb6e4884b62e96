import { z } from 'zod';
import type { NamedOperation } from './operation.ts';
import { jsonSchemaOptions } from './values.ts';

/**
 * JSON Schema is the one form between declarations and documents: OpenAPI embeds it, the GraphQL schema is
 * built from it. Named schemas (`.meta({ id })`) become definitions, shared by all operations.
 */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly default?: unknown;
  readonly description?: string;
  /** Only REST takes it: GraphQL selects nested fields instead. */
  readonly restOnly?: boolean;
  readonly [keyword: string]: unknown;
}

export interface OperationSchemas {
  /** An object schema: path, query and body members together. */
  readonly input: JsonSchema;
  readonly output: JsonSchema;
  /** Success answers of REST by status, before the envelope. */
  readonly answers: Readonly<Record<number, JsonSchema>>;
}

export interface Schemas {
  readonly of: (op: NamedOperation) => OperationSchemas;
  /** Definitions by name, for inputs and for outputs: one name may read differently in the two. */
  readonly inputs: Readonly<Record<string, JsonSchema>>;
  readonly outputs: Readonly<Record<string, JsonSchema>>;
}

type Definitions = { readonly $defs?: Readonly<Record<string, JsonSchema>> };

export function schemasOf(operations: readonly NamedOperation[]): Schemas {
  const inputs: Record<string, JsonSchema> = {};
  const outputs: Record<string, JsonSchema> = {};
  const render = (schema: z.ZodType, io: 'input' | 'output', definitions: Record<string, JsonSchema>) => {
    const json = z.toJSONSchema(schema, { ...jsonSchemaOptions, io }) as Definitions & JsonSchema;
    const { $schema: _, $defs, ...rendered } = json;
    for (const [name, definition] of Object.entries($defs ?? {})) definitions[name] = withoutId(definition);
    // A named schema at the top is rendered in place: it becomes a definition like every other.
    const { id } = rendered as { id?: unknown };
    if (typeof id !== 'string') return rendered;
    definitions[id] = withoutId(rendered);
    return { $ref: `#/$defs/${id}` };
  };
  const known = new Map(
    operations.map((op) => {
      const shape = z.strictObject({ ...op.input });
      const input = render(shape, 'input', inputs);
      const required = op.scopeOptional ? input.required?.filter((name) => name !== 'scope') : input.required;
      const output = render(op.output, 'output', outputs);
      const answers: Record<string, JsonSchema> = {};
      for (const [status, schema] of Object.entries(op.restAnswers ?? { [op.status ?? 200]: op.output })) {
        answers[status] = render(schema, 'output', outputs);
      }
      if (op.dryRun) {
        const impact = render(op.dryRun, 'output', outputs);
        answers[200] = answers[200] ? { anyOf: [answers[200], impact] } : impact;
      }
      return [op.name, { input: { ...input, ...(required ? { required } : {}) }, output, answers }] as const;
    }),
  );
  return {
    inputs,
    outputs,
    of: (op) => known.get(op.name) as OperationSchemas,
  };
}

/** The name under which a schema is a definition; undefined for anonymous ones. */
export const definitionName = (schema: JsonSchema): string | undefined => schema.$ref?.split('/').at(-1);

const withoutId = ({ id: _, ...schema }: JsonSchema): JsonSchema => schema;
