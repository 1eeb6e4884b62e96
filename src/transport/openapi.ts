import { catalogue, type Code } from '../errors.ts';
import type { JsonSchema, OperationSchemas, Schemas } from '../kernel/json-schema.ts';
import { takesIdempotencyKey, type NamedOperation } from '../kernel/operation.ts';
import { errorSchema } from './error-body.ts';
import { pathTemplates, type PathTemplate } from './path-templates.ts';

/** Declarations → OpenAPI 3.1. The document equals the routes, because both come from the same list. */
export function buildOpenapi(options: {
  readonly operations: readonly NamedOperation[];
  readonly schemas: Schemas;
  readonly version: string;
}): Record<string, unknown> {
  const { operations, schemas, version } = options;
  const templateOf = pathTemplates(operations);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const op of operations) {
    const template = templateOf(op);
    (paths[template.path] ??= {})[op.method.toLowerCase()] = describe(op, schemas, template);
  }
  const tags = [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name }));
  return referred({
    openapi: '3.1.0',
    info: {
      title: 'Doorward API',
      version,
      description:
        'May this subject do this, here, now, and why? Every scoped operation takes `scope: {tenant, id}`: in the query (`tenant`, `scopeId`) of GET and DELETE, in the body of the others.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags,
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: { ...renamed(schemas), Error: errorSchema },
    },
  });
}

/** A name that reads differently in inputs and outputs keeps its name for outputs. */
function renamed({ inputs, outputs }: Schemas): Record<string, JsonSchema> {
  const open = Object.fromEntries(
    Object.entries(outputs).map(([name, { additionalProperties: _, ...schema }]) => [name, schema]),
  );
  return { ...inputs, ...open };
}

function describe(op: NamedOperation, schemas: Schemas, template: PathTemplate): Record<string, unknown> {
  const { input, answers } = schemas.of(op);
  const properties = { ...input.properties };
  const required = new Set(input.required ?? []);
  const parameters: Record<string, unknown>[] = template.parameters.map(({ field, name }) => {
    const schema = properties[field];
    delete properties[field];
    const meant = name === field ? {} : { description: `Here: \`${field}\`.` };
    return { name, in: 'path', required: true, schema, ...meant };
  });
  if (takesIdempotencyKey(op)) parameters.push(idempotencyKey);
  if (op.etag) parameters.push(ifNoneMatch);
  const inQuery = op.method === 'GET' || op.method === 'DELETE';
  if (op.headers) {
    parameters.push(...questionIn(op.headers, properties));
  } else if (inQuery) {
    if (op.scoped) {
      delete properties['scope'];
      const needed = required.has('scope');
      parameters.push(
        { name: 'tenant', in: 'query', required: needed, schema: { $ref: '#/$defs/Tenant' } },
        { name: 'scopeId', in: 'query', required: needed, schema: { type: 'string', maxLength: 73 } },
      );
    }
    for (const [name, schema] of Object.entries(properties)) {
      const list = schema.type === 'array' ? { style: 'form', explode: false } : {};
      const { restOnly: _, ...plain } = schema;
      parameters.push({ name, in: 'query', required: required.has(name), schema: plain, ...list });
    }
  }
  const bodyNames = inQuery ? [] : Object.keys(properties);
  const needed = bodyNames.filter((name) => required.has(name));
  const body = { schema: { type: 'object', properties, required: needed, additionalProperties: false } };
  return {
    operationId: op.name,
    tags: [op.tag],
    summary: op.summary,
    ...(op.description ? { description: op.description } : {}),
    'x-permission': op.access,
    ...(op.tenants ? { 'x-tenants': op.tenants } : {}),
    ...(op.access === 'public' ? { security: [] } : { security: [{ bearer: [] }] }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(bodyNames.length > 0
      ? {
          requestBody: {
            required: needed.length > 0,
            content: {
              'application/json': body,
              ...(op.takesForm ? { 'application/x-www-form-urlencoded': body } : {}),
            },
          },
        }
      : {}),
    responses: { ...successes(op, answers), ...failures(codesOf(op)) },
  };
}

/** Each field has two places, of which one is used. */
const questionIn = (
  headers: Readonly<Record<string, string>>,
  fields: OperationSchemas['input']['properties'],
) =>
  Object.entries(headers).flatMap(([field, header]) => {
    const text = { type: 'string' };
    const schema =
      field === 'scope' ? { ...text, description: '`<tenant>:<id>`' } : (fields?.[field] ?? text);
    return [
      { name: header, in: 'header', required: false, schema },
      { name: field, in: 'query', required: false, schema },
    ];
  });

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'The same key and the same input within 24 hours get the stored answer.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
};
const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  description: 'An ETag, or a list of them: 304 without a body if the answer is still that one.',
  schema: { type: 'string' },
};
const contentOf = ({ bare = true }: NamedOperation, schema: object) =>
  Object.fromEntries((bare === true ? ['application/json'] : bare).map((type) => [type, { schema }]));
const replayed = { description: 'A stored answer: one-time secrets are null.', schema: { const: 'true' } };
const version = { description: 'The version of the answer.', schema: { type: 'string' } };
const revision = { description: '`minRevision` of a later question.', schema: { type: 'string' } };

const redirection = {
  description: 'The browser goes on there',
  headers: { Location: { schema: { type: 'string', format: 'uri' } } },
};

function successes(op: NamedOperation, answers: Readonly<Record<number, JsonSchema>>) {
  const enveloped = (data: JsonSchema) => ({
    type: 'object',
    properties: { success: { const: true }, data },
    required: ['success', 'data'],
  });
  if ((op.status ?? 200) >= 300) return { [op.status ?? 303]: redirection };
  const headers = {
    ...(op.kind === 'mutation' ? { 'X-Doorward-Revision': revision } : {}),
    ...(takesIdempotencyKey(op) ? { 'Idempotency-Replayed': replayed } : {}),
    ...(op.etag ? { ETag: version } : {}),
  };
  if (op.status === 204) return { 204: { description: 'Success, without a body' } };
  const contents = Object.entries(answers).map(([status, data]) => {
    const content = contentOf(op, op.bare ? data : enveloped(data));
    return [status, { description: 'Success', headers, content }] as const;
  });
  const unchanged = { 304: { description: 'The caller has this version', headers } };
  return { ...Object.fromEntries(contents), ...(op.etag ? unchanged : {}) };
}

/** All codes of an operation: its own, and those implied by conventions §4. */
export function codesOf(op: NamedOperation): Code[] {
  const hasBody = op.method !== 'GET' && op.method !== 'DELETE';
  const hasIds = Object.keys(op.input).some(
    (name) => name === 'id' || (/[a-z]Ids?$/.test(name) && name !== 'providerId'),
  );
  const when = (holds: boolean | undefined, ...codes: Code[]) => (holds ? codes : []);
  const codes: Code[] = [
    ...when(op.rate !== 'exempt', 'RATE_LIMITED'),
    'INTERNAL_ERROR',
    'UNAVAILABLE',
    'VALIDATION_ERROR',
    ...when(hasBody, 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'),
    ...when(op.access !== 'public', 'UNAUTHENTICATED', 'MFA_REQUIRED'),
    ...when(op.scoped, 'SCOPE_REQUIRED', 'SCOPE_CONFLICT', 'TENANT_NOT_ALLOWED'),
    ...when(op.scoped, 'FORBIDDEN', 'EMAIL_VERIFICATION_REQUIRED'),
    ...when(hasIds, 'NOT_FOUND'),
    ...when('cursor' in op.input, 'INVALID_CURSOR'),
    ...when(op.related !== undefined, 'QUERY_TOO_COMPLEX'),
    ...when(op.sessionOnly || op.access === 'session', 'SESSION_REQUIRED'),
    ...when(op.stepUp, 'STEP_UP_REQUIRED'),
    ...when(takesIdempotencyKey(op), 'IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED'),
    ...(op.codes ?? []),
  ];
  return [...new Set(codes)];
}

function failures(codes: readonly Code[]) {
  const byStatus = new Map<number, Code[]>();
  for (const code of codes) {
    const { status } = catalogue[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, list]) => [
        status,
        {
          description: list.map((code) => `\`${code}\` ${catalogue[code].message}`).join(' · '),
          'x-codes': list,
          content: { 'application/json': { schema: { $ref: '#/$defs/Error' } } },
        },
      ]),
  );
}

/** Definitions stand under `components.schemas` in an OpenAPI document. */
function referred(document: object): Record<string, unknown> {
  const published = (key: string, value: unknown) => (key === 'restOnly' ? undefined : value);
  const text = JSON.stringify(document, published).replaceAll(
    '"$ref":"#/$defs/',
    '"$ref":"#/components/schemas/',
  );
  return JSON.parse(text) as Record<string, unknown>;
}
