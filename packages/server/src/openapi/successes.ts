import { definitionName, type JsonSchema, type OperationSchemas } from '../kernel/output/json-schema.ts';
import { takesIdempotencyKey, type NamedOperation } from '../kernel/operation.ts';
import { headerRefs } from './failures.ts';

/** Returns the success responses of an operation by status. */
export function successes(op: NamedOperation, schemas: OperationSchemas): Record<string, object> {
  const { answers, dryRun, formSuccess } = schemas;
  if ((op.status ?? 200) >= 300) {
    const headers = headerRefs(['X-Request-Id', 'Location']);
    return { [op.status ?? 303]: { description: 'Redirects the browser.', headers } };
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
    const inEnvelope = op.bare
      ? data
      : envelopeOf(dryRun && status === '200' ? dataOrDryRun(data, dryRun) : data);
    const schema = formSuccess
      ? {
          anyOf: [inEnvelope, formSuccess],
          description: 'The first for a JSON request, the second for a form.',
        }
      : inEnvelope;
    return [status, answer(descriptions[status] ?? 'Success.', schema)] as const;
  });
  return {
    ...Object.fromEntries(contents),
    ...(dryRun && !answers[200] && { '2XX': answer(dryRunDescription, envelopeOf(dryRun)) }),
    ...(op.etag && { 304: { description: 'The client already has this version.', headers } }),
  };
}

/**
 * If an operation succeeds with a status other than 200, the document lists its dry run under the range `2XX`. Client
 * generators take the type of a call from the first explicit status, which must be the entity.
 */
const dryRunDescription =
  '200 if `dryRun` is true. Nothing was changed; the answer lists whose permissions the change would affect.';

const descriptions: Readonly<Record<string, string>> = {
  201: 'Created.',
  202: 'Accepted. The service processes it soon after.',
};

const dataOrDryRun = (data: JsonSchema, dryRun: JsonSchema): JsonSchema => ({
  anyOf: [data, dryRun],
  description: 'The second if `dryRun` is true.',
});

const envelopeOf = (data: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { success: { const: true }, data },
  required: ['success', 'data'],
});

interface Described {
  readonly headers?: object;
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}

/**
 * Returns the component name of a response: `Role`, `RoleChanged` with the headers of a mutation, or `RoleCreated` if
 * the mutation takes an idempotency key. Undefined if the schema has no name.
 */
export function nameOfSuccess({ headers = {}, content }: Described): string | undefined {
  const schema = content?.['application/json']?.schema;
  const name = definitionName(schema?.properties?.['data'] ?? schema ?? {});
  if (name === undefined) return undefined;
  if ('Idempotency-Replayed' in headers) return `${name}Created`;
  return 'X-Doorward-Revision' in headers ? `${name}Changed` : name;
}

const contentOf = ({ bare = true }: NamedOperation, schema: JsonSchema) =>
  Object.fromEntries((bare === true ? ['application/json'] : bare).map((type) => [type, { schema }]));
