import { sentEvents } from '../packages/server/src/webhooks/event-types/sent-events.ts';
import { takesIdempotencyKey, type NamedOperation } from '../packages/server/src/kernel/operation.ts';
import { schemasOf } from '../packages/server/src/kernel/output/json-schema.ts';
import { accessOf, buildOpenapi } from '../packages/server/src/openapi/openapi.ts';
import { pathTemplates } from '../packages/server/src/openapi/path-templates.ts';
import { operations, tagDescriptions } from '../packages/server/src/operations.ts';

/**
 * The client of packages/node/src/client/generated as the OpenAPI document describes it: types, the table of operations, and their
 * interface. scripts/generate-client.mjs writes the files.
 */
const notice = '// Generated from the OpenAPI document by scripts/client.ts. Do not edit.\n';

/**
 * Steps of a browser through hosted pages, the check for proxies, and the endpoints for clients of AuthZEN: programs with
 * this client do not call them.
 */
const isForPrograms = (op: NamedOperation): boolean =>
  (op.status ?? 200) < 300 && !op.forBrowsers && op.takesForm === undefined && op.protocol === undefined;
const called = operations.filter((op) => isForPrograms(op) || op.protocol === 'oauth');

const isPaged = (op: NamedOperation): boolean => 'cursor' in op.input;
const isFeed = (op: NamedOperation): boolean => op.name === 'events';
const answersJson = ({ bare = true }: NamedOperation): boolean => bare === true;

/**
 * What the client must know of an operation to send it, in one short text: method, path, flags, secrets.
 * `s`: takes a scope. `i`: takes an Idempotency-Key. `c`: can be repeated although it is a POST. `b`: answers without
 * envelope. `r`: the answer is no JSON. `w`: changes something. `p`: in pages. `f`: a feed. `x`: public.
 */
function entryOf(op: NamedOperation): string {
  const flags = [
    op.scoped && 's',
    takesIdempotencyKey(op) && 'i',
    (op.kind === 'query' || op.name === 'exchangeApiKey') && op.method === 'POST' && 'c',
    op.bare && answersJson(op) && 'b',
    !answersJson(op) && 'r',
    op.kind === 'mutation' && 'w',
    isPaged(op) && 'p',
    isFeed(op) && 'f',
    op.access === 'public' && 'x',
  ];
  const path = op.path.startsWith('/api/') ? op.path.slice('/api'.length) : `~${op.path}`;
  return [op.method, path, flags.filter(Boolean).join('') || '-', ...(op.secrets ?? [])].join(' ');
}

const tableText = (): string =>
  [
    notice,
    '/** How each operation is sent; scripts/client.ts describes the form. */',
    'export const operationTable = {',
    ...called.map((op) => `  ${op.name}: '${entryOf(op)}',`),
    '} as const;',
    '',
  ].join('\n');

const templateOf = pathTemplates(operations);

function memberOf(op: NamedOperation): string {
  const kind = isFeed(op) ? 'Feed' : isPaged(op) ? 'Pages' : 'Operation';
  const text = [
    `${op.summary}.`,
    ...(op.description ? [op.description] : []),
    `Access: ${accessOf(op)}. \`${op.method} ${op.path}\``,
  ];
  const lines = text.join('\n\n').replaceAll('*/', '*\\/').split('\n');
  return [
    '  /**',
    ...lines.map((line) => `   * ${line}`.trimEnd()),
    '   */',
    `  ${op.name}: ${kind}<'${op.name}'>;`,
  ].join('\n');
}

const apiText = (): string =>
  [
    notice,
    `import type { Feed, Operation, Pages } from '../operation-types.ts';`,
    '',
    '/** Every operation of the service. Input is flat: parameters of path, query and body; the result is `data`. */',
    'export interface Api {',
    ...called.map(memberOf),
    '}',
    '',
  ].join('\n');

/** Examples are half of the text, and no type. A field of that name stays. */
function withoutExamples(part: unknown, isMap = false): unknown {
  if (Array.isArray(part)) return part.map((item) => withoutExamples(item));
  if (typeof part !== 'object' || part === null) return part;
  const members = Object.entries(part).filter(([name]) => isMap || !/^examples?$/.test(name));
  return Object.fromEntries(
    members.map(([name, value]) => [name, withoutExamples(value, !isMap && name === 'properties')]),
  );
}

interface Part {
  readonly $ref?: string;
  readonly [member: string]: unknown;
}
interface Described {
  readonly parameters?: readonly Part[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, Part>>;
}
interface Schema extends Part {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
}

/** The document, with three more schemas: of each operation its flat input and its `data`, and the `data` of each event. */
function documentWithOperations(): Part {
  const document = withoutExamples(
    buildOpenapi({
      operations,
      schemas: schemasOf(operations),
      version: '0.0.0',
      tags: tagDescriptions,
      events: sentEvents(),
    }),
  ) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
    readonly webhooks: Readonly<Record<string, { readonly post: Described }>>;
    readonly components: { readonly schemas: Record<string, Schema> };
    readonly [member: string]: unknown;
  };
  const resolve = (part: Part): Part => {
    if (!part.$ref?.startsWith('#/components/') || part.$ref.startsWith('#/components/schemas/')) return part;
    const [section = '', name = ''] = part.$ref.slice('#/components/'.length).split('/');
    return (document.components as unknown as Record<string, Record<string, Part>>)[section]?.[name] ?? part;
  };
  const inputs: Record<string, Schema> = {};
  const outputs: Record<string, Schema> = {};
  for (const op of called) {
    const described = document.paths[templateOf(op).path]?.[op.method.toLowerCase()];
    if (!described) throw new Error(`the document has no ${op.name}`);
    inputs[op.name] = inputOf(op, described, resolve);
    if (answersJson(op)) outputs[op.name] = outputOf(described, resolve);
  }
  const all = (properties: Record<string, Schema>, description: string): Schema => ({
    ...{ type: 'object', description, properties, required: Object.keys(properties) },
  });
  document.components.schemas['OperationInputs'] = all(
    inputs,
    'Parameters of path, query and body together.',
  );
  const data = Object.entries(document.webhooks).map(
    ([name, { post }]) => [name, eventDataOf(post)] as const,
  );
  document.components.schemas['EventData'] = all(Object.fromEntries(data), '`data` of each event type.');
  document.components.schemas['OperationOutputs'] = all(outputs, '`data` of each operation.');
  return document;
}

function inputOf(op: NamedOperation, described: Described, resolve: (part: Part) => Part): Schema {
  const fieldOf = new Map(templateOf(op).parameters.map(({ field, name }) => [name, field]));
  const parameters = (described.parameters ?? [])
    .map(resolve)
    .filter(
      ({ in: where, name }) =>
        where !== 'header' && !(op.scoped && /^(tenant|scopeId)$/.test(name as string)),
    );
  const named = parameters.map((parameter) => {
    const name = parameter['name'] as string;
    const { description, schema, required } = parameter;
    const member = { ...(schema as Schema), ...(description ? { description } : {}) };
    return {
      name: parameter['in'] === 'path' ? (fieldOf.get(name) ?? name) : name,
      member,
      required: required === true,
    };
  });
  const body = described.requestBody?.content['application/json']?.schema ?? {};
  const properties = {
    ...Object.fromEntries(named.map(({ name, member }) => [name, member as Schema])),
    ...body.properties,
    ...(op.scoped ? { scope: body.properties?.['scope'] ?? scopeSchema(op) } : {}),
  };
  const required = [
    ...named.filter((item) => item.required).map(({ name }) => name),
    ...(body.required ?? []),
  ];
  // The client has a default for the scope of a call.
  return {
    type: 'object',
    properties,
    required: required.filter((name) => !(op.scoped && name === 'scope')),
  };
}

const scopeSchema = ({ tenants }: NamedOperation): Schema => ({
  type: 'object',
  description: 'Default: the scope of the client.',
  properties: { tenant: { type: 'string', ...(tenants ? { enum: tenants } : {}) }, id: { type: 'string' } },
  required: ['tenant', 'id'],
});

/** The body of a webhook is an event, narrowed by the schema of its `data`. */
function eventDataOf({ requestBody }: Described): Schema {
  const body = requestBody?.content['application/json']?.schema as
    { readonly allOf: readonly Schema[] } | undefined;
  return body?.allOf[1]?.properties?.['data'] ?? {};
}

/** Without the answer of a dry run, which `Operation` adds. */
function outputOf({ responses }: Described, resolve: (part: Part) => Part): Schema {
  const answers = ['200', '201', '202'].flatMap((status) => {
    const { content } = resolve(responses[status] ?? {}) as { content?: Described['requestBody'] & object };
    const answer = (content as Record<string, { schema: Schema }> | undefined)?.['application/json']?.schema;
    if (!answer) return [];
    const json = answer.anyOf?.[0]?.properties?.['success'] ? answer.anyOf[0] : answer;
    const data = json.properties?.['success'] ? (json.properties['data'] ?? {}) : json;
    return data.anyOf?.filter(({ $ref }) => !$ref?.endsWith('/Impact')) ?? [data];
  });
  return answers.length === 1 ? (answers[0] as Schema) : { anyOf: answers };
}

async function typesText(): Promise<string> {
  // It brings a compiler along, which the table does not need.
  const { default: openapiTypescript, astToString } = await import('openapi-typescript');
  const document = documentWithOperations() as unknown as Parameters<typeof openapiTypescript>[0];
  // A default of the service does not make a field of an input required.
  const ast = await openapiTypescript(document, { defaultNonNullable: false });
  return `${notice}\n${astToString(ast)}`;
}

/** Renders the text of each file of the client, by its name. */
export const clientFiles: Readonly<Record<string, () => string | Promise<string>>> = {
  'table.ts': tableText,
  'api.ts': apiText,
  'openapi.ts': typesText,
};
