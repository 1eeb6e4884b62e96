import { describe, expect, it } from 'vitest';
import { sentEvents } from '../../src/webhooks/event-types/sent-events.ts';
import { schemasOf, type JsonSchema } from '../../src/kernel/output/json-schema.ts';
import { operations, tagDescriptions } from '../../src/operations.ts';
import { buildOpenapi } from '../../src/openapi/openapi.ts';
import { dereferenced } from '../support/cases/openapi-document.ts';
import { faultsOf, type Document } from './schema-check.ts';

/** Descriptions and examples of the OpenAPI document: every part has a description, and every example can be sent. */
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly schema: JsonSchema;
}
interface Body {
  readonly content: Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>>;
}
interface Entry {
  readonly operationId: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Body;
  readonly responses: Readonly<
    Record<string, { readonly headers?: object; readonly content?: Body['content'] }>
  >;
}
interface OpenApi extends Document {
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Entry>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Entry }>>;
}

const written = buildOpenapi({
  operations,
  schemas: schemasOf(operations),
  version: '0.0.0',
  tags: tagDescriptions,
  events: sentEvents(),
});
const document = dereferenced(written as unknown as OpenApi);
const entries = Object.values(document.paths).flatMap((item) => Object.values(item));
const { schemas } = document.components;

const named = ({ $ref }: JsonSchema): JsonSchema => schemas[$ref?.split('/').at(-1) ?? ''] ?? {};

/** Declared directly, or by the one schema that is referenced. */
function isDescribed(schema: JsonSchema): boolean {
  const options = schema.anyOf?.filter(({ type }) => type !== 'null') ?? [];
  return Boolean(
    schema.description ??
    named(schema).description ??
    (options.length === 1 && options[0] && isDescribed(options[0])),
  );
}

/** Paths of members without a description, at every depth. */
function* silent(schema: JsonSchema, place: string): Generator<string> {
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    if (!isDescribed(member)) yield `${place}.${name}`;
    yield* silent(member, `${place}.${name}`);
  }
  const { items, additionalProperties: more } = schema;
  if (items) yield* silent(items, `${place}[]`);
  if (typeof more === 'object') yield* silent(more, `${place}{}`);
  for (const option of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]) {
    yield* silent(option, place);
  }
}

describe('a description', () => {
  it('has every tag, every operation and every schema', () => {
    expect(document.tags.filter(({ description }) => !description)).toEqual([]);
    expect(entries.filter(({ description }) => !description)).toEqual([]);
    expect(Object.entries(schemas).filter(([, { description }]) => !description)).toEqual([]);
  });

  it('has every member of every schema and body', () => {
    const bodies = entries.flatMap(({ operationId, requestBody }) =>
      Object.values(requestBody?.content ?? {}).map(({ schema }) => [operationId, schema] as const),
    );
    const all = [...Object.entries(schemas), ...bodies];
    expect(all.flatMap(([name, schema]) => [...silent(schema, name)])).toEqual([]);
  });

  it('has every parameter', () => {
    const undescribed = entries.flatMap(({ operationId, parameters = [] }) =>
      parameters
        .filter(({ description, schema }) => !description && !isDescribed(schema))
        .map(({ name }) => `${operationId} ${name}`),
    );
    expect(undescribed).toEqual([]);
  });

  it('says more than the name', () => {
    const repeats = (name: string, text = '') =>
      text.toLowerCase().replace(/[^a-z]/g, '') === name.toLowerCase().replace(/[^a-z]/g, '');
    const members = Object.entries(schemas).flatMap(([noun, { properties = {} }]) =>
      Object.entries(properties)
        .filter(([name, { description }]) => repeats(name, description))
        .map(([name]) => `${noun}.${name}`),
    );
    expect(members).toEqual([]);
  });
});

describe('an example', () => {
  const bodies = entries.flatMap(({ operationId, requestBody }) =>
    Object.entries(requestBody?.content ?? {}).map(
      ([type, media]) => [`${operationId} ${type}`, media] as const,
    ),
  );

  it.each(bodies)('of %s is valid by its schema', (_, { schema, example }) => {
    expect(example).toBeTypeOf('object');
    expect(faultsOf(document, schema, example)).toEqual([]);
  });

  it('of a JSON body is accepted by the operation', () => {
    const refused = operations.flatMap((op) => {
      const { example } =
        entries.find(({ operationId }) => operationId === op.name)?.requestBody?.content[
          'application/json'
        ] ?? {};
      if (example === undefined) return [];
      const inPath = Object.fromEntries(
        [...op.path.matchAll(/:([A-Za-z]+)/g)].map(([, name = '']) => [
          name,
          '0190b6f0-0000-7000-8000-000000000009',
        ]),
      );
      const { error } = op.schema.safeParse({ ...inPath, ...(example as object) });
      return error ? [`${op.name}: ${error.message}`] : [];
    });
    expect(refused).toEqual([]);
  });

  it('of a scope names a tenant that the operation supports', () => {
    for (const op of operations.filter(({ scoped, protocol }) => scoped && protocol === undefined)) {
      const entry = entries.find(({ operationId }) => operationId === op.name);
      const inBody = entry?.requestBody?.content['application/json']?.example as {
        scope?: { tenant: string };
      };
      const inQuery = entry?.parameters?.find(({ name }) => name === 'tenant') as
        { example?: string } | undefined;
      expect(op.tenants, op.name).toContain(inBody?.scope?.tenant ?? inQuery?.example);
    }
  });

  it('of an error has the code of its response', () => {
    const shared = written.components['responses'] as Record<
      string,
      { 'x-codes'?: string[]; content?: Body['content'] }
    >;
    for (const [name, { 'x-codes': codes, content }] of Object.entries(shared)) {
      const media = content?.['application/json'] as { examples?: object } | undefined;
      // Errors in the form of a standard have no example in the form of this API.
      const isStandard = name.endsWith('-STANDARD');
      expect(Object.keys(media?.examples ?? {}), name).toEqual(isStandard ? [] : (codes ?? []));
    }
    const examples = written.components['examples'] as Record<
      string,
      { value: { code: string; error: string } }
    >;
    for (const [code, { value }] of Object.entries(examples)) {
      expect(value.code).toBe(code);
      expect(value.error, code).not.toMatch(/[{}]/);
      expect(faultsOf(document, schemas['Error'] ?? {}, value), code).toEqual([]);
    }
  });
});

describe('the document', () => {
  it('is within its size limit', () => {
    expect(Buffer.byteLength(JSON.stringify(written))).toBeLessThan(860_000);
  });

  it('has no schema with a generated name, and no bounds that apply to every integer', () => {
    expect(Object.keys(schemas).filter((name) => name.startsWith('_'))).toEqual([]);
    expect(JSON.stringify(written)).not.toContain(String(Number.MAX_SAFE_INTEGER));
  });

  it('documents one spelling of each value of an enum', () => {
    const all = [...JSON.stringify(written).matchAll(/"enum":(\[[^\]]*\])/g)].map(
      ([, list = '[]']) => JSON.parse(list) as unknown[],
    );
    for (const values of all) {
      const spellings = values.map((value) => String(value).toLowerCase());
      expect(new Set(spellings).size, spellings.join()).toBe(spellings.length);
    }
  });

  it('has the entity as its first success schema where a dry run has another', () => {
    for (const op of operations.filter(({ dryRun, status }) => dryRun && status === 201)) {
      const { responses } = entries.find(({ operationId }) => operationId === op.name) as Entry;
      expect(Object.keys(responses).filter((status) => status.startsWith('2'))).toEqual(['201', '2XX']);
    }
  });

  it('declares the headers of refusals', () => {
    const headersOf = (status: string) =>
      entries
        .map(({ responses }) => Object.keys(responses[status]?.headers ?? {}))
        .filter((all) => all.length > 0);
    for (const headers of headersOf('429'))
      expect(headers).toEqual(expect.arrayContaining(['Retry-After', 'RateLimit']));
    for (const headers of headersOf('503')) expect(headers).toContain('Retry-After');
    for (const headers of headersOf('401')) expect(headers).toContain('WWW-Authenticate');
  });

  it('has a webhook with its payload for each type of event', () => {
    const types = sentEvents().map(({ name }) => name);
    expect(Object.keys(document.webhooks)).toEqual(types);
    for (const [name, { post }] of Object.entries(document.webhooks)) {
      const { schema } = post.requestBody?.content['application/json'] ?? {};
      expect(JSON.stringify(schema), name).toContain(`{"const":"${name}"}`);
    }
  });
});
