import { forwardAuthHeaders } from '../http/protocols/forward-auth-headers.ts';
import { takesIdempotencyKey, type NamedOperation } from '../kernel/operation.ts';
import type { ExampleIds } from '../kernel/output/example-ids.ts';
import type { JsonSchema } from '../kernel/output/json-schema.ts';
import { scopeParameters } from './scopes.ts';

/** Returns the parameters of an operation in headers and in the query. */
export const parametersOf = (op: NamedOperation, members: JsonSchema, ids: ExampleIds): object[] => [
  ...(takesIdempotencyKey(op) ? [idempotencyKey] : []),
  ...(op.etag ? [ifNoneMatch] : []),
  ...fieldParameters(op, members, ids),
];

function fieldParameters(op: NamedOperation, members: JsonSchema, ids: ExampleIds): object[] {
  if (op.protocol === 'forward-auth') return headerOrQueryParameters(members.properties ?? {});
  return op.method === 'GET' || op.method === 'DELETE' ? queryParameters(op, members, ids) : [];
}

/** Returns the parameters for fields that can be sent either in a header or in the query: each appears twice. */
const headerOrQueryParameters = (fields: Readonly<Record<string, JsonSchema>>) =>
  Object.entries(forwardAuthHeaders).flatMap(([field, header]) => {
    const text = { type: 'string' };
    const { description, ...schema }: JsonSchema = fields[field] ?? text;
    const parameter =
      field === 'scope'
        ? { description: '`<tenant>:<id>`, or `own`: that of the token.', schema: text }
        : { description, schema };
    return [
      { name: header, in: 'header', ...parameter },
      { name: field, in: 'query', ...parameter },
    ];
  });

function queryParameters(
  op: NamedOperation,
  { properties = {}, required = [] }: JsonSchema,
  ids: ExampleIds,
) {
  const { scope, ...others } = properties;
  const ofScope = { required: required.includes('scope'), ids };
  return [
    ...(scope && op.scoped ? scopeParameters(op.tenants, ofScope) : []),
    ...Object.entries(others).map(([name, { restOnly: _, description, examples: __, ...schema }]) => {
      const list = schema.type === 'array' ? { explode: false } : {};
      const needed = required.includes(name) ? { required: true } : {};
      return { name, in: 'query', ...needed, description, schema, ...list };
    }),
  ];
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'A request with the same key and the same input within 24 hours gets the stored answer.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
};
const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  description:
    'An ETag, or a list of them. If the answer still has one of them, the status is 304 without a body.',
  schema: { type: 'string' },
};
