import { madeUpIds, type ExampleIds } from '../kernel/output/example-ids.ts';
import type { JsonSchema, Schemas } from '../kernel/output/json-schema.ts';
import type { NamedOperation } from '../kernel/operation.ts';
import { errorSchema } from '../http/error-body.ts';
import { exampleBody } from './examples.ts';
import { errorExamples, failures, sharedFailures } from './failures.ts';
import { headers } from './headers.ts';
import { parametersOf } from './parameters.ts';
import { SharedComponents } from './shared-components.ts';
import { authzenServers, canonicalTenants, narrowedScopes, scopeRef } from './scopes.ts';
import { nameOfSuccess, successes } from './successes.ts';
import { describeWebhooks, webhookReceived, type SentEvent } from './webhooks.ts';
import { pathTemplates, type PathTemplate } from './path-templates.ts';

/** The input of `buildOpenapi`. */
export interface DocumentSource {
  readonly operations: readonly NamedOperation[];
  readonly schemas: Schemas;
  readonly version: string;
  /** Descriptions of the tags. */
  readonly tags: Readonly<Record<string, string>>;
  readonly events: readonly SentEvent[];
  /** Ids to use in examples; if absent, made-up ids. */
  readonly exampleIds?: ExampleIds | undefined;
}

/** The inputs of `describe` besides the declaration of the operation. */
interface OperationContext {
  readonly schemas: Schemas;
  readonly template: PathTemplate;
  readonly ids: ExampleIds;
}

/**
 * Builds the OpenAPI 3.1 document from the declarations. It matches the routes, because both are made from the same
 * declarations.
 */
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
  return withUsedSchemas({
    openapi: '3.1.0',
    info: {
      title: 'Doorward API',
      version,
      description:
        'Decides whether a subject may do something in a scope, and explains why. Every scoped operation takes `scope: {tenant, id}`: in the query (`tenant`, `scopeId`) of GET and DELETE, in the body of the others.',
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
          description: 'Client id and secret of an app, form-encoded (RFC 6749).',
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

/** Named schemas. If the input schema and the output schema of a name differ, the name means the output schema. */
function definitions(operations: readonly NamedOperation[], { inputs, outputs }: Schemas) {
  const open = Object.fromEntries(
    Object.entries(outputs).map(([name, { additionalProperties: _, ...schema }]) => [name, schema]),
  );
  const { Tenant = {}, ScopeInput = {}, ...all }: Record<string, JsonSchema> = { ...inputs, ...open };
  return {
    ...all,
    Tenant: canonicalTenants(Tenant),
    ScopeInput,
    ...narrowedScopes(operations, ScopeInput),
    Error: errorSchema,
  };
}

interface Entry extends Record<string, unknown> {
  parameters?: readonly object[];
  responses: Record<string, object>;
}

/**
 * Returns the component name of a parameter. It contains the values of an enum, because they differ between operations.
 */
function nameOfParameter(parameter: object): string {
  const { name, schema } = parameter as { readonly name: string; readonly schema: JsonSchema };
  return [name, ...(schema.enum ?? [])].join('-');
}

/** Replaces repeated parameters and responses with references, and returns the components that these refer to. */
function shareParts(entries: readonly Entry[]) {
  const allParameters = entries.flatMap(({ parameters = [] }) => parameters);
  const allResponses = entries.flatMap(({ responses }) => Object.values(responses));
  const parameters = new SharedComponents('parameters', allParameters, nameOfParameter);
  const responses = new SharedComponents('responses', allResponses, nameOfSuccess);
  for (const entry of entries) {
    if (entry.parameters) entry.parameters = entry.parameters.map(parameters.refer);
    for (const [status, answer] of Object.entries(entry.responses))
      entry.responses[status] = responses.refer(answer);
  }
  return { parameters: parameters.components, responses: responses.components };
}

function describe(op: NamedOperation, context: OperationContext): Entry {
  const { input, ...answers } = context.schemas.of(op);
  const properties = { ...input.properties };
  if (op.protocol === 'authzen') delete properties['scope'];
  else if (op.scoped) properties['scope'] = scopeRef(op.tenants);
  const pathParameters = context.template.parameters.map(({ field, name }) => {
    const { description, ...schema } = properties[field] ?? {};
    delete properties[field];
    const text = name === field ? description : `Here \`${field}\`. ${description ?? ''}`;
    return { name, in: 'path', required: true, description: text, schema };
  });
  const hasQuery = op.method === 'GET' || op.method === 'DELETE';
  const members = { ...input, properties };
  const parameters = [...pathParameters, ...parametersOf(op, members, context.ids)];
  return {
    operationId: op.name,
    tags: [op.tag],
    summary: op.summary,
    description: descriptionOf(op),
    'x-permission': op.access,
    ...(op.tenants ? { 'x-tenants': op.tenants } : {}),
    ...(op.protocol === 'authzen' ? { servers: authzenServers } : {}),
    security: securityOf(op),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(hasQuery ? {} : bodyOf(op, members, context)),
    responses: { ...successes(op, { input, ...answers }), ...failures(op) },
  };
}

function bodyOf(
  op: NamedOperation,
  { properties = {}, required = [] }: JsonSchema,
  operation: OperationContext,
) {
  const needed = Object.keys(properties).filter((name) => required.includes(name));
  if (Object.keys(properties).length === 0) return {};
  const schema = {
    type: 'object',
    properties,
    required: needed,
    additionalProperties: op.protocol === 'authzen',
  };
  const context = { definitions: operation.schemas.inputs, ids: operation.ids };
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

/** Whether a client may authenticate by HTTP Basic instead of by fields of the form. */
const takesBasic = ({ protocol, input }: NamedOperation): boolean =>
  protocol === 'oauth' && 'client_secret' in input;

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

/** Returns a description of who may call an operation. */
export function accessOf(op: NamedOperation): string {
  const access = accessText[op.access] ?? `\`${op.access}\` in the scope`;
  const gates = [
    op.sessionOnly === true ? 'session token only' : '',
    typeof op.sessionOnly === 'function' ? 'session token only for some inputs or keys' : '',
    op.notForApps === undefined ? '' : 'no app token',
    op.stepUp ? 'recent sign-in' : '',
  ];
  return [access, ...gates.filter(Boolean)].join('; ');
}

/** Moves definitions to `components.schemas`. Drops those that nothing refers to: only GraphQL uses them. */
function withUsedSchemas(document: Document): Document {
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
  const usedSchemas = Object.entries(schemas).filter(([name]) => used.has(name));
  return { ...parsed, components: { ...others, schemas: Object.fromEntries(usedSchemas) } };
}

interface Document extends Record<string, unknown> {
  readonly components: Record<string, unknown> & { readonly schemas: Readonly<Record<string, unknown>> };
}

/** Writes `anyOf: [string, null]` in the short form `type: ['string', 'null']`, unless an `enum` would exclude null. */
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
