import type { InjectOptions } from 'fastify';
import {
  buildClientSchema,
  getIntrospectionQuery,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type IntrospectionQuery,
} from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonSchema } from '../../src/kernel/output/json-schema.ts';
import { house, type House } from '../contract/world.ts';
import { dereferenced } from '../support/cases/openapi-document.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { chanceFrom } from '../support/cases/chance.ts';
import { drawn, members, type Drawing } from '../support/cases/odd-values.ts';

/**
 * Requests generated from the documents that the service publishes, valid and invalid ones. Every one is answered with
 * a status below 500, and no response contains a stack or a statement.
 */
const INPUTS = Number(process.env['FUZZ_INPUTS'] ?? 100);
/** The suite uses a fixed seed, so that a failure can be repeated. */
const SEED = Number(process.env['FUZZ_SEED'] ?? (process.env['FUZZ_INPUTS'] ? Date.now() % 1_000_000 : 7));
const HANG_MS = 20_000;
/** The callers are replaced after this many requests, because some requests delete them. */
const ROUND = 100;

interface Described {
  readonly operationId: string;
  readonly parameters?: readonly { name: string; in: string; schema?: JsonSchema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> };
}
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

const chance = chanceFrom(SEED);
let app: TestApp;
let document: OpenApi;
let schema: GraphQLSchema;

beforeAll(async () => {
  app = await startOwnApp();
  document = dereferenced((await app.server.inject('/api-docs.json')).json<OpenApi>());
  const introspected = await app.server.inject({
    method: 'POST',
    url: '/graphql',
    payload: { query: getIntrospectionQuery() },
  });
  schema = buildClientSchema(introspected.json<{ data: IntrospectionQuery }>().data);
}, 120_000);
afterAll(() => app.close());

/** The caller of a round, and the ids that the requests may contain. */
interface Round extends Drawing {
  readonly tokens: readonly (string | undefined)[];
}

/** One after the other, for both kinds, so that a request meets what an earlier one created or deleted. */
const rounds: Promise<Round>[] = [];

async function newRound(): Promise<Round> {
  const [own, foreign]: House[] = [await house(app), await house(app)];
  const places = [own, foreign].flatMap((house) => Object.values(house?.places ?? {}));
  return {
    chance,
    definitions: document.components.schemas,
    ids: places.flatMap(({ rows }) =>
      Object.values(rows).flatMap(({ live, deleted }) => [...live, ...deleted]),
    ),
    scopes: places.map(({ scope }) => scope),
    odd: 0.12,
    tokens: [own?.person.token, own?.person.token, own?.keyToken, undefined, 'x.y.z', foreign?.person.token],
  };
}

const headersOf = ({ tokens }: Round): Record<string, string> => {
  const token = chance.pick(tokens);
  return {
    ...(token === undefined ? {} : { authorization: `${chance.of(0.97) ? 'Bearer' : 'Basic'} ${token}` }),
    ...(chance.of(0.05)
      ? { 'accept-language': chance.pick(['de', '*;q=0', 'zz-,,;', 'x'.repeat(500)]) }
      : {}),
    ...(chance.of(0.05) ? { 'idempotency-key': chance.pick(['a', 'b', 'x'.repeat(256), 'é']) } : {}),
    ...(chance.of(0.03)
      ? { cookie: chance.pick(['doorward_refresh=x', 'doorward_flow=%', '=;=', 'a']) }
      : {}),
    ...(chance.of(0.03) ? { 'if-none-match': chance.pick(['*', '"x"', 'W/', ',,,']) } : {}),
    ...(chance.of(0.03) ? { accept: chance.pick(['text/html', '*/*', 'x']) } : {}),
  };
};

function restRequest(round: Round): InjectOptions & { readonly what: string } {
  const [path, methods] = chance.pick(Object.entries(document.paths));
  const [method, described] = chance.pick(Object.entries(methods));
  const query = new URLSearchParams();
  let url = path;
  for (const { name, in: place, schema: form = {} } of described.parameters ?? []) {
    const value = String(drawn(form, name, round));
    if (place === 'path') url = url.replace(`{${name}}`, encodeURIComponent(wellFormed(value)));
    else if (place === 'query' && chance.of(0.6)) query.append(name, wellFormed(value));
  }
  if (chance.of(0.02)) query.append(chance.pick(['page', '__proto__', 'relations']), chance.pick(['-1', '']));
  const body = described.requestBody?.content['application/json']?.schema;
  const payload = body && (chance.of(0.97) ? JSON.stringify(members(body, round)) : chance.pick(broken));
  return {
    what: `${method} ${path}`,
    method: method.toUpperCase(),
    url: `${url}?${query.toString()}`,
    headers: {
      ...headersOf(round),
      ...(payload === undefined
        ? {}
        : { 'content-type': chance.of(0.97) ? 'application/json' : chance.pick(mediaTypes) }),
    },
    ...(payload === undefined ? {} : { payload }),
  };
}

/** An address cannot carry half a character. */
const wellFormed = (value: string): string => Buffer.from(value).toString();

const broken = [
  '',
  '{',
  '[]',
  'null',
  '"x"',
  '{"a":1,"a":2}',
  '{"__proto__":1}',
  '\ufeff{}',
  '['.repeat(5000),
];
const mediaTypes = [
  'text/plain',
  'application/json; charset=utf-16',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'x',
];

function graphqlRequest(round: Round): InjectOptions & { readonly what: string } {
  const mutates = chance.of(0.5);
  const type = (mutates ? schema.getMutationType() : schema.getQueryType()) as GraphQLObjectType;
  const fields = Array.from({ length: chance.pick([1, 1, 1, 1, 1, 2, 2, 3, 16]) }, (_, at) => {
    const field = chance.pick(Object.values(type.getFields()));
    const given = field.args
      .filter(({ type: of }) => isNonNullType(of) || chance.of(0.7))
      .map((argument) => `${argument.name}: ${literal(argument.type, argument.name, round)}`);
    const of = getNamedType(field.type);
    return `${at === 0 ? '' : `f${at}: `}${field.name}${given.length > 0 ? `(${given.join(', ')})` : ''} ${selection(of, 0)}`;
  });
  const text = `${mutates ? 'mutation' : 'query'} ${chance.of(0.1) ? 'Named' : ''} { ${fields.join('\n')} }`;
  const query = chance.of(0.9) ? text : spoiled(text);
  const item = {
    query,
    ...(chance.of(0.1) ? { variables: chance.pick<unknown>([{}, [], null, 'x', { a: 1 }]) } : {}),
  };
  const payload = JSON.stringify(
    chance.of(0.97) ? item : chance.pick<unknown>([[item, item], [], { query: 1 }, null]),
  );
  return {
    what: query.slice(0, 200),
    method: 'POST',
    url: '/graphql',
    headers: { ...headersOf(round), 'content-type': 'application/json' },
    payload,
  };
}

function selection(type: unknown, depth: number): string {
  if (!isObjectType(type)) return '';
  const all = Object.values(type.getFields()).filter((field) =>
    field.args.every((arg) => !isNonNullType(arg.type)),
  );
  const some = all.filter(() => chance.of(depth < 3 ? 0.5 : 0.2));
  const inner = some.map((field) => {
    const of = getNamedType(field.type);
    if (!isObjectType(of)) return field.name;
    return depth > 4 ? '' : `${field.name} ${selection(of, depth + 1)}`;
  });
  return `{ __typename ${inner.join(' ')} }`;
}

/** A value as a GraphQL literal. */
function literal(type: GraphQLInputType, name: string, round: Round, depth = 0): string {
  if (isNonNullType(type)) return literal(type.ofType, name, round, depth);
  if (chance.of(0.03)) return chance.pick(['null', '{}', '[]', '""', '-1', 'X', '"\\u0000"', '$a', '1e400']);
  if (isListType(type)) {
    const items = Array.from({ length: chance.below(3) }, () => literal(type.ofType, name, round, depth + 1));
    return `[${items.join(', ')}]`;
  }
  if (name === 'scope' && chance.of(0.9)) {
    const { tenant, id } = chance.pick(round.scopes) as { tenant: string; id: string };
    return `{ tenant: ${tenant}, id: "${id}" }`;
  }
  if (isInputObjectType(type)) {
    if (depth > 6) return '{}';
    const given = Object.values(type.getFields())
      .filter((item) => chance.of(isNonNullType(item.type) ? 0.99 : 0.25))
      .map((item) => `${item.name}: ${literal(item.type, item.name, round, depth + 1)}`);
    return `{ ${given.join(', ')} }`;
  }
  if (isEnumType(type)) return chance.pick(type.getValues()).name;
  switch (type.name) {
    case 'Int':
    case 'Float':
      return String(chance.pick([1, 2, 50, 50, 0, 101, -1, 2_147_483_647]));
    case 'Boolean':
      return String(chance.of(0.5));
    default: {
      const form: JsonSchema = { type: 'string', ...(/Id$|^id$|^ID$/.test(name) ? { format: 'uuid' } : {}) };
      return JSON.stringify(drawn(form, name, { ...round, odd: 0.05 }) ?? '');
    }
  }
}

/** An invalid document: a part is missing, changed, or repeated too often. */
function spoiled(text: string): string {
  const at = chance.below(text.length);
  switch (chance.below(6)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1);
    case 1:
      return (
        text.slice(0, at) + chance.pick(['{', '}', '"', '...', '@', '\0', '#', '$', '&']) + text.slice(at)
      );
    case 2:
      return `${text} fragment F on Query { ...F }`;
    case 3:
      return `query { ${'a:__typename '.repeat(200)} }`;
    case 4:
      return `query { __schema { types { ${'fields { type { '.repeat(20)} name ${'} }'.repeat(20)} } } }`;
    default:
      return '{'.repeat(2000);
  }
}

/** What a response must not contain: stack frames, source files, and parts of SQL and of its errors. */
const leaks =
  /\n\s+at \S+ \(|node_modules|\.ts:\d+|Failed query|syntax error at or near|violates (?:foreign|unique|check)|\b(?:select|insert into|update) [^"]{0,200}\b(?:from|values|set)\b/i;

/** Whether the call succeeded. */
async function answered(request: InjectOptions & { readonly what: string }): Promise<boolean> {
  const { what, ...options } = request;
  const reported = `seed ${SEED}: ${what}`;
  let timer: NodeJS.Timeout | undefined;
  const hang = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${HANG_MS} ms, ${reported}`)), HANG_MS);
  });
  const answer = await Promise.race([app.server.inject(options), hang]).finally(() => clearTimeout(timer));
  if (answer.statusCode >= 500) {
    expect.fail(
      `${answer.statusCode}, ${reported}\n${JSON.stringify(options).slice(0, 2000)}\n${answer.body}`,
    );
  }
  // A response may repeat what the caller sent, and SQL in it is not that of the service.
  const html = String(answer.headers['content-type']).startsWith('text/html');
  if (!html && answer.statusCode >= 400) expect(answer.body, reported).not.toMatch(leaks);
  if (options.url === '/graphql') {
    const { errors = [] } = answer.json<{ errors?: { extensions?: { code?: string } }[] }>();
    for (const { extensions } of errors)
      expect(extensions?.code, `${reported}\n${answer.body}`).not.toBe('INTERNAL_ERROR');
    return answer.statusCode === 200 && errors.length === 0;
  }
  return answer.statusCode < 400;
}

const kinds: readonly [string, (round: Round) => InjectOptions & { readonly what: string }][] = [
  ['requests from the OpenAPI document', restRequest],
  ['GraphQL documents', graphqlRequest],
];

test.each(kinds)(
  `${INPUTS} %s: each answered, none above 499, none with a stack or a statement`,
  async (_, draw) => {
    let succeeded = 0;
    for (let done = 0; done < INPUTS; done += ROUND) {
      const round = await (rounds[done / ROUND] ??= newRound());
      for (let at = 0; at < Math.min(ROUND, INPUTS - done); at++) {
        if (await answered(draw(round))) succeeded++;
      }
    }
    process.stdout.write(`fuzz: ${INPUTS} inputs, seed ${SEED}, ${succeeded} succeeded\n`);
    // Requests that never pass the first check would prove nothing.
    expect(succeeded, `seed ${SEED}`).toBeGreaterThan(INPUTS / 200);
    expect(app.logs.filter((line) => line.includes('INTERNAL_ERROR'))).toEqual([]);
  },
  60_000 + INPUTS * 200,
);
