import { madeUpIds, type ExampleIds } from '../kernel/example-ids.ts';
import type { JsonSchema, Schemas } from '../kernel/json-schema.ts';
import { takesIdempotencyKey, type NamedOperation } from '../kernel/operation.ts';
import { errorSchema } from './error-body.ts';
import { exampleBody } from './openapi/examples.ts';
import { errorExamples, failures, sharedFailures } from './openapi/failures.ts';
import { headers } from './openapi/headers.ts';
import { RepeatedParts } from './openapi/repeated-parts.ts';
import { inOneSpelling, narrowedScopes, scopeParameters, scopeRef } from './openapi/scopes.ts';
import { nameOfSuccess, successes } from './openapi/successes.ts';
import { describeWebhooks, webhookReceived, type SentEvent } from './openapi/webhooks.ts';
import { pathTemplates, type PathTemplate } from './path-templates.ts';

/** What the document is written from. */
export interface DocumentSource {
  readonly operations: readonly NamedOperation[];
  readonly schemas: Schemas;
  readonly version: string;
  /** What each tag is about. */
  readonly tags: Readonly<Record<string, string>>;
  readonly events: readonly SentEvent[];
  /** Whose ids examples name; made up unless given. */
  readonly exampleIds?: ExampleIds | undefined;
}

/** What the description of one operation needs beside its declaration. */
interface Place {
  readonly schemas: Schemas;
  readonly template: PathTemplate;
  readonly ids: ExampleIds;
}

/** Declarations → OpenAPI 3.1. The document equals the routes, because both come from the same list. */
export function buildOpenapi(source: DocumentSource): Document {
  const { operations, schemas, version, tags, exampleIds: ids = madeUpIds } = source;
  const templateOf = pathTemplates(operations);
  const paths: Record<string, Record<string, Entry>> = {};
  for (const op of operations) {
    const template = templateOf(op);
    (paths[template.path] ??= {})[op.method.toLowerCase()] = describe(op, { schemas, template, ids });
  }
  const webhooks = describeWebhooks(source.events);
  const entries = Object.values(paths).flatMap((item) => Object.values(item));
  const shared = shareParts([...entries, ...Object.values(webhooks).map(({ post }) => post)]);
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
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name, description: tags[name] })),
    paths,
    webhooks,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'The access token of a session, of an API key or of an app.',
        },
        client: {
          type: 'http',
          scheme: 'basic',
          description: 'An app at the token endpoint, in a form: client id and secret (RFC 6749 §2.3.1).',
        },
      },
      parameters: shared.parameters,
      headers,
      responses: {
        ...shared.responses,
        ...sharedFailures(operations, (op) => schemas.of(op).formFailure),
        WebhookReceived: webhookReceived,
      },
      examples: errorExamples(),
      schemas: definitions(operations, schemas),
    },
  });
}

/** Named schemas. A name that reads differently in inputs and outputs keeps its name for outputs. */
function definitions(operations: readonly NamedOperation[], { inputs, outputs }: Schemas) {
  const open = Object.fromEntries(
    Object.entries(outputs).map(([name, { additionalProperties: _, ...schema }]) => [name, schema]),
  );
  const { Tenant = {}, ScopeInput = {}, ...all }: Record<string, JsonSchema> = { ...inputs, ...open };
  return {
    ...all,
    Tenant: inOneSpelling(Tenant),
    ScopeInput,
    ...narrowedScopes(operations, ScopeInput),
    Error: errorSchema,
  };
}

interface Entry extends Record<string, unknown> {
  parameters?: readonly object[];
  responses: Record<string, object>;
}

/** A parameter with an enum is another parameter when the values differ. */
function nameOfParameter(parameter: object): string {
  const { name, schema } = parameter as { readonly name: string; readonly schema: JsonSchema };
  return [name, ...(schema.enum ?? [])].join('-');
}

/** Replaces what repeats by references, and tells what they lead to. */
function shareParts(entries: readonly Entry[]) {
  const given = entries.flatMap(({ parameters = [] }) => parameters);
  const answered = entries.flatMap(({ responses }) => Object.values(responses));
  const parameters = new RepeatedParts('parameters', given, nameOfParameter);
  const responses = new RepeatedParts('responses', answered, nameOfSuccess);
  for (const entry of entries) {
    if (entry.parameters) entry.parameters = entry.parameters.map(parameters.refer);
    for (const [status, answer] of Object.entries(entry.responses))
      entry.responses[status] = responses.refer(answer);
  }
  return { parameters: parameters.components, responses: responses.components };
}

function describe(op: NamedOperation, place: Place): Entry {
  const { input, ...answers } = place.schemas.of(op);
  const properties = { ...input.properties };
  if (op.scoped) properties['scope'] = scopeRef(op.tenants);
  const inPath = place.template.parameters.map(({ field, name }) => {
    const { description, ...schema } = properties[field] ?? {};
    delete properties[field];
    const meant = name === field ? description : `Here \`${field}\`. ${description ?? ''}`;
    return { name, in: 'path', required: true, description: meant, schema };
  });
  const inQuery = op.method === 'GET' || op.method === 'DELETE';
  const members = { ...input, properties };
  const parameters = [
    ...inPath,
    ...(takesIdempotencyKey(op) ? [idempotencyKey] : []),
    ...(op.etag ? [ifNoneMatch] : []),
    ...(op.headers ? questionIn(op.headers, properties) : []),
    ...(inQuery && !op.headers ? queryParameters(op, members, place.ids) : []),
  ];
  return {
    operationId: op.name,
    tags: [op.tag],
    summary: op.summary,
    description: descriptionOf(op),
    'x-permission': op.access,
    ...(op.tenants ? { 'x-tenants': op.tenants } : {}),
    security: securityOf(op),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(inQuery ? {} : bodyOf(op, members, place)),
    responses: { ...successes(op, { input, ...answers }), ...failures(op) },
  };
}

/** Each field has two places, of which one is used. */
const questionIn = (
  headers: Readonly<Record<string, string>>,
  fields: Readonly<Record<string, JsonSchema>>,
) =>
  Object.entries(headers).flatMap(([field, header]) => {
    const text = { type: 'string' };
    const { description, ...schema }: JsonSchema = fields[field] ?? text;
    const asked =
      field === 'scope'
        ? { description: 'The scope, written `<tenant>:<id>`.', schema: text }
        : { description, schema };
    return [
      { name: header, in: 'header', ...asked },
      { name: field, in: 'query', ...asked },
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

function bodyOf(op: NamedOperation, { properties = {}, required = [] }: JsonSchema, place: Place) {
  const needed = Object.keys(properties).filter((name) => required.includes(name));
  if (Object.keys(properties).length === 0) return {};
  const schema = { type: 'object', properties, required: needed, additionalProperties: false };
  const context = { definitions: place.schemas.inputs, ids: place.ids };
  const example = exampleBody(op, schema, context);
  const form = { ...schema, required: needed.filter((name) => !(name === 'client_id' && takesBasic(op))) };
  return {
    requestBody: {
      required: needed.length > 0,
      content: {
        'application/json': { schema, example },
        ...(op.takesForm ? { 'application/x-www-form-urlencoded': { schema: form, example } } : {}),
      },
    },
  };
}

/** An app may say who it is by HTTP Basic instead of two fields of the form. */
const takesBasic = ({ oauth, input }: NamedOperation): boolean =>
  oauth === 'endpoint' && 'client_secret' in input;

const securityOf = (op: NamedOperation): readonly object[] =>
  op.access === 'public' ? (takesBasic(op) ? [{}, { client: [] }] : []) : [{ bearer: [] }];

function descriptionOf(op: NamedOperation): string {
  return [...(op.description ? [op.description] : []), `Access: ${accessOf(op)}.`].join('\n\n');
}

const accessText: Readonly<Record<string, string>> = {
  public: 'public',
  session: 'any signed-in user (session token)',
  any: 'any valid token',
};

/** Who may call an operation, in words. */
export function accessOf(op: NamedOperation): string {
  const access = accessText[op.access] ?? `\`${op.access}\` in the scope`;
  const gates = [op.sessionOnly ? 'session token only' : '', op.stepUp ? 'recent sign-in' : ''];
  return [access, ...gates.filter(Boolean)].join('; ');
}

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

/** Definitions stand under `components.schemas`, those that something refers to; the others exist in GraphQL only. */
function referred(document: Document): Document {
  const published = (key: string, value: unknown): unknown => (key === 'restOnly' ? undefined : value);
  const text = JSON.stringify(document, published).replaceAll(
    '"$ref":"#/$defs/',
    '"$ref":"#/components/schemas/',
  );
  const { components, ...parsed } = JSON.parse(text, nullableType) as Document;
  const { schemas, ...others } = components;
  const used = new Set<string>();
  const visit = (part: unknown): void => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      visit(schemas[name]);
    }
  };
  visit([parsed, others]);
  const kept = Object.entries(schemas).filter(([name]) => used.has(name));
  return { ...parsed, components: { ...others, schemas: Object.fromEntries(kept) } };
}

interface Document extends Record<string, unknown> {
  readonly components: Record<string, unknown> & { readonly schemas: Readonly<Record<string, unknown>> };
}

/** `string or null` in the short form of JSON Schema, wherever the type alone says what else there may be. */
function nullableType(_key: string, value: unknown): unknown {
  const { anyOf = [], ...rest } = (value ?? {}) as JsonSchema;
  const [only, none, ...more] = anyOf;
  if (more.length > 0 || none?.type !== 'null' || typeof only?.type !== 'string' || only.enum) return value;
  return {
    ...rest,
    ...only,
    type: [only.type, 'null'],
    ...(rest.description && { description: rest.description }),
  };
}
