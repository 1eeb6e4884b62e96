import { definitionName, type JsonSchema, type OperationSchemas } from '../../kernel/json-schema.ts';
import { takesIdempotencyKey, type NamedOperation } from '../../kernel/operation.ts';
import { headerRefs } from './failures.ts';

/** The answers of an operation that went well, by status. */
export function successes(op: NamedOperation, schemas: OperationSchemas): Record<string, object> {
  const { answers, dryRun, formSuccess } = schemas;
  if ((op.status ?? 200) >= 300) {
    const headers = headerRefs(['X-Request-Id', 'Location']);
    return { [op.status ?? 303]: { description: 'The browser goes on there.', headers } };
  }
  const headers = headerRefs([
    'X-Request-Id',
    ...(op.rate === 'exempt' ? [] : ['RateLimit']),
    ...(op.kind === 'mutation' ? ['X-Doorward-Revision'] : []),
    ...(takesIdempotencyKey(op) ? ['Idempotency-Replayed'] : []),
    ...(op.etag ? ['ETag'] : []),
  ]);
  if (op.status === 204) return { 204: { description: 'Success, without a body.', headers } };
  const answer = (description: string, schema: JsonSchema) => ({
    description,
    headers,
    content: contentOf(op, schema),
  });
  const contents = Object.entries(answers).map(([status, data]) => {
    const inEnvelope = op.bare ? data : enveloped(dryRun && status === '200' ? either(data, dryRun) : data);
    const schema = formSuccess
      ? {
          anyOf: [inEnvelope, formSuccess],
          description: 'To a JSON request the first, to a form the second.',
        }
      : inEnvelope;
    return [status, answer(descriptions[status] ?? 'Success.', schema)] as const;
  });
  return {
    ...Object.fromEntries(contents),
    ...(dryRun && !answers[200] && { '2XX': answer(ofDryRun, enveloped(dryRun)) }),
    ...(op.etag && { 304: { description: 'The caller has this version.', headers } }),
  };
}

/**
 * A range (`2XX`), because generators of clients take the first status that is written out as the type of the call.
 * That must be the entity, not the answer of its dry run.
 */
const ofDryRun = '200, if `dryRun` is true: nothing was changed. Whose permissions the change would affect.';

const descriptions: Readonly<Record<string, string>> = {
  201: 'Created.',
  202: 'Accepted; it happens soon after.',
};

const either = (data: JsonSchema, dryRun: JsonSchema): JsonSchema => ({
  anyOf: [data, dryRun],
  description: 'The second if `dryRun` is true.',
});

const enveloped = (data: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { success: { const: true }, data },
  required: ['success', 'data'],
});

interface Described {
  readonly headers?: object;
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}

/** By which an answer is shared: `Role`, and `RoleChanged` with the headers of a change. */
export function nameOfSuccess({ headers = {}, content }: Described): string | undefined {
  const schema = content?.['application/json']?.schema;
  const name = definitionName(schema?.properties?.['data'] ?? schema ?? {});
  if (name === undefined) return undefined;
  if ('Idempotency-Replayed' in headers) return `${name}Created`;
  return 'X-Doorward-Revision' in headers ? `${name}Changed` : name;
}

const contentOf = ({ bare = true }: NamedOperation, schema: JsonSchema) =>
  Object.fromEntries((bare === true ? ['application/json'] : bare).map((type) => [type, { schema }]));
