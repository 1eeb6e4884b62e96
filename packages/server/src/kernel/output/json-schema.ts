import { z } from 'zod';
import type { FormAnswers, NamedOperation } from '../operation.ts';
import { jsonSchemaOptions } from '../input/values.ts';

/**
 * JSON Schema is the intermediate form between declarations and documents: OpenAPI embeds it, and the GraphQL schema is
 * built from it. Named schemas (`.meta({ id })`) become definitions that all operations share.
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
  /** Only REST accepts this member; GraphQL selects nested fields instead. */
  readonly restOnly?: boolean;
  readonly [keyword: string]: unknown;
}

export interface OperationSchemas {
  /** An object schema with the members of path, query and body together. */
  readonly input: JsonSchema;
  readonly output: JsonSchema;
  /** Successful REST responses by status, without the envelope. */
  readonly answers: Readonly<Record<number, JsonSchema>>;
  /** The response to `dryRun: true`, without the envelope. Its status is 200. */
  readonly dryRun?: JsonSchema;
  /** The successful response to a form, if it differs. */
  readonly formSuccess?: JsonSchema;
  /** An error response in another form than usual: to a form, or to any REST request (`restAnswers.refusalSchema`). */
  readonly formFailure?: JsonSchema;
}

export interface Schemas {
  readonly of: (op: NamedOperation) => OperationSchemas;
  /** Definitions by name, separate for inputs and outputs, because a schema may render differently as each. */
  readonly inputs: Readonly<Record<string, JsonSchema>>;
  readonly outputs: Readonly<Record<string, JsonSchema>>;
}

type Members = Record<string, JsonSchema>;

/** Renders all schemas as members of one object, so that a shared schema is rendered once and names are unique. */
function render(all: Record<string, z.ZodType>, io: 'input' | 'output') {
  const json = z.toJSONSchema(z.object(all), { ...jsonSchemaOptions, io });
  const { properties = {}, $defs = {} } = json as { readonly properties?: Members; readonly $defs?: Members };
  const definitions = Object.entries($defs).map(([name, { id: _, ...schema }]) => [name, schema] as const);
  return {
    of: (name: string) => properties[name] as JsonSchema,
    definitions: Object.fromEntries(definitions),
  };
}

export function schemasOf(operations: readonly NamedOperation[]): Schemas {
  const inputSchemas = operations.map((op) => [op.name, z.strictObject({ ...op.input })] as const);
  const outputSchemas = operations.map((op) => {
    const { name, output, dryRun, status = 200, restAnswers, takesForm } = op;
    const answers = restAnswers?.answerSchemas ?? { [status]: output };
    const onForms: Partial<FormAnswers> = typeof takesForm === 'object' ? takesForm : {};
    const { answerSchema: formSuccess, refusalSchema: formFailure = restAnswers?.refusalSchema } = onForms;
    const form = { ...(formSuccess && { formSuccess }), ...(formFailure && { formFailure }) };
    return [name, z.object({ ...answers, output, ...(dryRun && { dryRun }), ...form })] as const;
  });
  const inputs = render(Object.fromEntries(inputSchemas), 'input');
  const outputs = render(Object.fromEntries(outputSchemas), 'output');
  const byOperation = new Map(
    operations.map((op) => {
      const input = inputs.of(op.name);
      const required = op.scopeOptional ? input.required?.filter((name) => name !== 'scope') : input.required;
      const members = outputs.of(op.name).properties as Members;
      const { output, dryRun, formSuccess, formFailure, ...answers } = members;
      const others = {
        ...(dryRun && { dryRun }),
        ...(formSuccess && { formSuccess }),
        ...(formFailure && { formFailure }),
      };
      const all = { input: { ...input, ...(required ? { required } : {}) }, output, answers, ...others };
      return [op.name, all] as const;
    }),
  );
  return {
    inputs: inputs.definitions,
    outputs: outputs.definitions,
    of: (op) => byOperation.get(op.name) as OperationSchemas,
  };
}

/** The name under which a schema is a definition; undefined for an anonymous schema. */
export const definitionName = (schema: JsonSchema): string | undefined => schema.$ref?.split('/').at(-1);
