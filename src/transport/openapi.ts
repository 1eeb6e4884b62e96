import { catalogue, decisionReasons, detailMessages, type Code } from '../errors.ts';
import type { JsonSchema, Schemas } from '../kernel/json-schema.ts';
import type { NamedOperation } from '../kernel/operation.ts';

/** Declarations → OpenAPI 3.1. The document equals the routes, because both come from the same list. */
export function buildOpenapi(options: {
  readonly operations: readonly NamedOperation[];
  readonly schemas: Schemas;
  readonly version: string;
}): Record<string, unknown> {
  const { operations, schemas, version } = options;
  const paths: Record<string, Record<string, unknown>> = {};
  for (const op of operations) {
    const path = op.path.replace(/:([A-Za-z]+)/g, '{$1}');
    (paths[path] ??= {})[op.method.toLowerCase()] = describe(op, schemas);
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
  }) as Record<string, unknown>;
}

/** A name that reads differently in inputs and outputs keeps its name for outputs. */
function renamed({ inputs, outputs }: Schemas): Record<string, JsonSchema> {
  const open = Object.fromEntries(
    Object.entries(outputs).map(([name, { additionalProperties: _, ...schema }]) => [name, schema]),
  );
  return { ...inputs, ...open };
}

function describe(op: NamedOperation, schemas: Schemas): Record<string, unknown> {
  const { input, answers } = schemas.of(op);
  const properties = { ...input.properties };
  const required = new Set(input.required ?? []);
  const pathNames = [...op.path.matchAll(/:([A-Za-z]+)/g)].map(([, name]) => name as string);
  const parameters: Record<string, unknown>[] = pathNames.map((name) => {
    const schema = properties[name];
    delete properties[name];
    return { name, in: 'path', required: true, schema };
  });
  const inQuery = op.method === 'GET' || op.method === 'DELETE';
  if (inQuery) {
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
              'application/json': {
                schema: { type: 'object', properties, required: needed, additionalProperties: false },
              },
            },
          },
        }
      : {}),
    responses: { ...successes(op, answers), ...failures(codesOf(op)) },
  };
}

function successes(op: NamedOperation, answers: Readonly<Record<number, JsonSchema>>) {
  const enveloped = (data: JsonSchema) => ({
    type: 'object',
    properties: { success: { const: true }, data },
    required: ['success', 'data'],
  });
  return Object.fromEntries(
    Object.entries(answers).map(([status, data]) => [
      status,
      {
        description: 'Success',
        content: { 'application/json': { schema: op.bare ? data : enveloped(data) } },
      },
    ]),
  );
}

/** All codes of an operation: its own, and those implied by conventions §4. */
export function codesOf(op: NamedOperation): Code[] {
  const hasBody = op.method !== 'GET' && op.method !== 'DELETE';
  const hasIds = Object.keys(op.input).some(
    (name) => name === 'id' || (/[a-z]Ids?$/.test(name) && name !== 'providerId'),
  );
  const codes: Code[] = [
    ...(op.rate === 'exempt' ? [] : (['RATE_LIMITED'] as const)),
    'INTERNAL_ERROR',
    'UNAVAILABLE',
    'VALIDATION_ERROR',
    ...(hasBody ? (['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const) : []),
    ...(op.access === 'public' ? [] : (['UNAUTHENTICATED', 'MFA_REQUIRED'] as const)),
    ...(op.scoped
      ? ([
          'SCOPE_REQUIRED',
          'SCOPE_CONFLICT',
          'TENANT_NOT_ALLOWED',
          'FORBIDDEN',
          'EMAIL_VERIFICATION_REQUIRED',
        ] as const)
      : []),
    ...(hasIds ? (['NOT_FOUND'] as const) : []),
    ...('cursor' in op.input ? (['INVALID_CURSOR'] as const) : []),
    ...(op.sessionOnly || op.access === 'session' ? (['SESSION_REQUIRED'] as const) : []),
    ...(op.stepUp ? (['STEP_UP_REQUIRED'] as const) : []),
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

const errorSchema: JsonSchema = {
  type: 'object',
  description: 'Every failure on REST.',
  required: ['error', 'code', 'requestId'],
  properties: {
    error: { type: 'string', description: 'Localised message.' },
    code: { type: 'string', enum: Object.keys(catalogue) },
    requestId: { type: 'string' },
    details: {
      type: 'array',
      maxItems: 20,
      items: {
        type: 'object',
        required: ['path', 'message', 'code'],
        properties: {
          path: { type: 'string' },
          message: { type: 'string' },
          code: { type: 'string', enum: Object.keys(detailMessages) },
        },
      },
    },
    fix: { type: 'string', description: 'What to do about it.' },
    reason: { type: 'string', enum: decisionReasons },
  },
};

/** Definitions stand under `components.schemas` in an OpenAPI document. */
function referred(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(referred);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === '$ref' && typeof member === 'string'
        ? member.replace('#/$defs/', '#/components/schemas/')
        : referred(member),
    ]),
  );
}
