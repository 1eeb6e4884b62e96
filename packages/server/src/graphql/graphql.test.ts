/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment -- response bodies are untyped */
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { fail } from '../errors.ts';
import { ApiKey } from '../schema/machines/api-key.ts';
import { Group } from '../schema/rights/group.ts';
import * as groups from '../rights/groups/operations.ts';
import * as permissions from '../rights/permissions/operations.ts';
import { Permission } from '../schema/rights/permission.ts';
import * as roles from '../rights/roles/operations.ts';
import { Role } from '../schema/rights/role.ts';
import { Tag } from '../schema/rights/tag.ts';
import { User } from '../schema/people/user.ts';
import { pickLanguage } from '../i18n/translate.ts';
import { createAnswerBudget } from '../kernel/output/answer-budget.ts';
import type { Call } from '../kernel/context.ts';
import type { AnyEntity } from '../kernel/entity.ts';
import type { Invoke } from '../kernel/invoke.ts';
import { schemasOf } from '../kernel/output/json-schema.ts';
import type { NamedOperation, Operation } from '../kernel/operation.ts';
import { mutation, query } from '../declare.ts';
import type { ResolvedScope } from '../kernel/scope.ts';
import { registerBodyParser } from '../http/body/body-parser.ts';
import { registerGraphql, type GraphqlOptions } from './graphql.ts';
import type { RelationAccess, Related } from './relations.ts';

const secret = mutation({
  rest: 'POST /auth/login',
  whileImpersonating: 'refused',
  summary: 'Sign in',
  access: 'public',
  input: { email: z.string(), password: z.string() },
  output: z.object({ accessToken: z.string() }).meta({ id: 'SignIn' }),
  run: () => null as never,
});
const ask = query({
  rest: 'GET /ask',
  summary: 'Ask',
  access: 'public',
  input: {
    text: z.string().optional(),
    context: z.record(z.string(), z.json()).optional(),
    n: z.int().optional(),
  },
  output: z.object({ ok: z.boolean(), at: z.date(), list: z.array(z.string()) }).meta({ id: 'Asked' }),
  run: () => null as never,
});
const apiKey = query({
  rest: 'GET /key',
  summary: 'Key',
  access: 'public',
  input: {},
  output: ApiKey.schema,
  run: () => null as never,
});
const operations: NamedOperation[] = Object.entries<Operation>({
  ...roles,
  ...groups,
  ...permissions,
  ask,
  apiKey,
  login: secret,
  verifyEmail: { ...secret, rest: 'POST /auth/verify' },
}).map(([name, op]) => ({ ...op, name, tag: 'test' }));
const nouns = [ApiKey, Role, Group, Permission, Tag, User] as unknown as AnyEntity[];

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const at = new Date('2026-01-02T03:04:05.006Z');
const base = (n: number) => ({
  id: uuid(n),
  createdAt: at,
  updatedAt: at,
  deletedAt: null,
  name: `n${n}`,
  description: null,
  metadata: { a: 1 },
  isSystem: false,
});
const page = (items: unknown[]) => ({
  items,
  totalCount: items.length,
  hasNextPage: false,
  nextCursor: null,
});
const scope = (id = uuid(1)) => `scope: {tenant: organization, id: "${id}"}`;

let app: FastifyInstance;
let invoked: { name: string; input: unknown }[];
let relatedCalls: { scope: string; relation: string; keys: readonly string[] }[];
let logged: unknown[];
let answers: Record<string, (input: Record<string, unknown>) => unknown>;

const related: Related = async ({ scope: { id } }, entity, relation, keys) => {
  relatedCalls.push({ scope: id, relation: `${entity.name}.${relation}`, keys });
  const item = entity.relations[relation]?.kind === 'one';
  return new Map(
    keys.map((key, i) => {
      const row = {
        ...base(100 + i),
        level: 'project',
        hash: 'hidden',
        resource: { id: uuid(9), slug: 's', name: 'r', isSystem: false },
      };
      return [key, item ? row : [row, { ...row, id: uuid(200 + i) }]];
    }),
  );
};

/** Adds the relations that the input requests to the rows, as an operation does. */
async function withRequestedRelations(
  answer: unknown,
  { relations }: Record<string, unknown>,
  scope: ResolvedScope,
) {
  const { items = [answer] } = (answer ?? {}) as { items?: unknown[] };
  for (const relation of (relations ?? []) as string[]) {
    const rows = items as Record<string, unknown>[];
    const match = await related(
      { scope } as RelationAccess,
      Role,
      relation,
      rows.map(({ id }) => String(id)),
    );
    for (const row of rows) row[relation] = match.get(String(row['id']));
  }
  return answer;
}

const invoke: Invoke = async (op, raw, call, seen) => {
  const input = raw as Record<string, unknown>;
  invoked.push({ name: op.name, input: raw });
  await new Promise((resolve) => setImmediate(resolve));
  const given = input['scope'] as { id: string } | undefined;
  if (given && seen) seen.scope = { tenant: 'organization', id: given.id, nodeId: given.id } as ResolvedScope;
  if (seen) seen.relatedAccess = { filterOf: () => null, budget: call.budget };
  if (op.name === 'login') call.effects.refreshCookie = { value: 'cookie', maxAgeSeconds: 1 };
  return withRequestedRelations(
    answers[op.name]?.(input) ?? null,
    input,
    (seen ?? {}).scope as ResolvedScope,
  );
};

async function start(changes: Partial<GraphqlOptions> = {}) {
  app = fastify();
  registerBodyParser(app);
  registerGraphql(app, {
    operations,
    schemas: schemasOf(operations),
    entities: new Map(nouns.map((noun) => [noun.name, noun])),
    invoke,
    services: {},
    callOf: () =>
      ({
        authentication: { ok: false, reason: 'missing' },
        network: 'here',
        effects: { headers: {} },
        idempotencyKey: null,
        slot: { taken: null },
        budget: createAnswerBudget(),
      }) as unknown as Call,
    applyEffects: ({ effects }, reply) => void (effects.refreshCookie && reply.header('set-cookie', 'yes')),
    related,
    limit: () => undefined,
    languageOf: (request) => pickLanguage(request.headers['accept-language']),
    requestIdOf: () => 'request-1',
    limits: { depth: 8, aliases: 15, cost: 10_000, batch: 10 },
    introspection: true,
    explorer: false,
    production: false,
    log: (error) => void logged.push(error),
    ...changes,
  });
  await app.ready();
}

interface Reply {
  status: number;
  headers: Record<string, unknown>;
  // oxlint-disable-next-line typescript/no-explicit-any -- a response body of any form
  body: any;
}

async function post(payload: unknown, headers: Record<string, string> = {}): Promise<Reply> {
  const response = await app.inject({
    method: 'POST',
    url: '/graphql',
    headers: { 'content-type': 'application/json', ...headers },
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
  });
  return { status: response.statusCode, headers: response.headers, body: response.json() };
}

async function get(parameters: Record<string, string>, headers: Record<string, string> = {}): Promise<Reply> {
  const response = await app.inject({
    method: 'GET',
    url: `/graphql?${new URLSearchParams(parameters).toString()}`,
    headers,
  });
  return { status: response.statusCode, headers: response.headers, body: response.json() };
}

/** Sends the document three times: interpreted, compiled during the run, and compiled before it. All must agree. */
async function thrice(payload: object): Promise<Reply> {
  const [first, second, third] = [await post(payload), await post(payload), await post(payload)];
  expect(second.body).toEqual(first.body);
  expect(third.body).toEqual(first.body);
  return first;
}

const codeOf = ({ body }: Reply): unknown => body.errors?.[0]?.extensions?.code;

beforeEach(async () => {
  invoked = [];
  relatedCalls = [];
  logged = [];
  answers = {
    roles: () => page([1, 2, 3].map((n) => ({ ...base(n), level: 'project' }))),
    role: () => ({ ...base(1), level: 'project' }),
    createRole: () => ({ ...base(1), level: 'project' }),
    updateRole: () => ({ ...base(1), level: 'project' }),
    deleteRole: () => ({ ...base(1), level: 'project' }),
    ask: () => ({ ok: true, at, list: ['x'] }),
    login: () => ({ accessToken: 't' }),
    verifyEmail: () => ({ accessToken: 't' }),
  };
  await start();
});

afterEach(async () => {
  await app.close();
});

const nested = `{ roles(input: {${scope()}, limit: 20}) {
  items { __typename id createdAt deletedAt metadata groups { id name permissions { name resource { slug } tags { id } } } tags { id } }
  totalCount nextCursor } }`;

test('nested relations are read in one batch a level, in the scope of the field', async () => {
  const first = await thrice({ query: nested });
  expect(first.status).toBe(200);
  expect(first.headers['content-type']).toBe('application/json; charset=utf-8');
  const { data } = first.body;
  expect(data.roles.totalCount).toBe(3);
  expect(data.roles.items[0]).toMatchObject({
    __typename: 'Role',
    createdAt: '2026-01-02T03:04:05.006Z',
    deletedAt: null,
    metadata: { a: 1 },
  });
  expect(data.roles.items[2].groups[1].permissions[0].resource.slug).toBe('s');
  expect(first.body).not.toHaveProperty('errors');
  const batches = ['Role.groups', 'Role.tags', 'Group.permissions', 'Permission.tags'];
  expect(relatedCalls.map(({ relation }) => relation)).toEqual([...batches, ...batches, ...batches]);
  expect(relatedCalls[0]?.keys).toEqual([uuid(1), uuid(2), uuid(3)]);
  expect(relatedCalls.every((call) => call.scope === uuid(1))).toBe(true);
});

test('two fields have two scopes; rows without a scope have no relations', async () => {
  answers['apiKey'] = () => ({ ...base(5), roleId: uuid(6), userId: uuid(7) });
  const { body } = await thrice({
    query: `{ a: role(input: {${scope(uuid(1))}, id: "${uuid(1)}"}) { groups { id } }
      b: role(input: {${scope(uuid(2))}, id: "${uuid(1)}"}) { groups { id } } apiKey { role { id } } }`,
  });
  expect(body.data.apiKey).toEqual({ role: null });
  expect(body.data.a.groups).toHaveLength(2);
  expect(relatedCalls.slice(0, 2).map((call) => call.scope)).toEqual([uuid(1), uuid(2)]);
});

test.each([
  [
    'literal',
    (description: string) => ({
      query: `mutation { updateRole(input: {${scope()}, id: "${uuid(1)}" ${description}}) { id } }`,
    }),
  ],
  [
    'variable',
    (description: string) => ({
      query: `mutation ($d: String) { updateRole(input: {${scope()}, id: "${uuid(1)}", description: $d}) { id } }`,
      variables: description === '' ? {} : { d: null },
    }),
  ],
  [
    'input variable',
    (description: string) => ({
      query: 'mutation ($input: UpdateRoleInput!) { updateRole(input: $input) { id } }',
      variables: {
        input: {
          scope: { tenant: 'organization', id: uuid(1) },
          id: uuid(1),
          ...(description === '' ? {} : { description: null }),
        },
      },
    }),
  ],
])('omitted and null stay what they are: %s', async (_, payload) => {
  await thrice(payload(''));
  for (const { input } of invoked) expect(input).not.toHaveProperty('description');
  invoked = [];
  await thrice(payload(', description: null'));
  expect(invoked).toHaveLength(3);
  for (const { input } of invoked) expect(input).toHaveProperty('description', null);
});

test('inputs arrive as they were sent, at every run', async () => {
  const context = { a: [1, 'x', null, { b: true }] };
  await thrice({
    query: 'query ($c: JSON, $n: Int = 7) { ask(input: {text: "a\\nb", context: $c, n: $n}) { ok at } }',
    variables: { c: context },
  });
  for (const { input } of invoked) expect(input).toEqual({ text: 'a\nb', context, n: 7 });
  invoked = [];
  await thrice({
    query: 'query ($x: String) { ask(input: {context: {a: [1, $x, null, {b: 1.5}]}}) { ok } }',
    variables: { x: 'y' },
  });
  for (const { input } of invoked) expect(input).toEqual({ context: { a: [1, 'y', null, { b: 1.5 }] } });
  invoked = [];
  await thrice({ query: '{ ask { ok } }' });
  for (const { input } of invoked) expect(input).toEqual({});
});

test('no literal of a document is ever compiled (graphql-jit 0.8.9 runs some of them)', async () => {
  const attack = '__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d(globalThis.owned=1)';
  await thrice({ query: `{ ask(input: {text: "${attack}"}) { ok } }` });
  await thrice({ query: `query ($t: String = "${attack}") { ask(input: {text: $t}) { ok } }` });
  await thrice({ query: `query A @skip(if: false) { __type(name: "${attack}") { name } ask { ok } }` });
  await thrice({
    query: `{ __type(name: "${attack}") { name } ask(input: {context: {a: "${attack}"}}) { ok } }`,
  });
  expect(globalThis).not.toHaveProperty('owned');
  expect(invoked[0]?.input).toEqual({ text: attack });
});

test('operationName chooses, also in a document that is compiled', async () => {
  const document =
    'query A { a: ask { ok } } query B { b: ask { ok } } mutation M { login(input: {email: "a", password: "b"}) { accessToken } }';
  for (let i = 0; i < 3; i++) {
    expect((await post({ query: document, operationName: 'A' })).body.data).toEqual({ a: { ok: true } });
    expect((await post({ query: document, operationName: 'B' })).body.data).toEqual({ b: { ok: true } });
  }
  for (const operationName of [undefined, null, '', 'C']) {
    const reply = await post({ query: document, operationName });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'GRAPHQL_VALIDATION_FAILED']);
  }
});

test('fragments, aliases and directives', async () => {
  const { body } = await thrice({
    query: `query ($with: Boolean!, $id: ID!) { ...Q other: role(input: {${scope()}, id: $id}) { ...R name @include(if: $with) } }
      fragment Q on Query { roles(input: {${scope()}}) { items { ...R } } }
      fragment R on Role { key: id ... on Role { groups { id @skip(if: true) name } } }`,
    variables: { with: false, id: uuid(1) },
  });
  expect(body.data.other).toEqual({ key: uuid(1), groups: [{ name: 'n100' }, { name: 'n100' }] });
  expect(body.data.roles.items).toHaveLength(3);
});

test('mutations run in order, and none after an error', async () => {
  answers['updateRole'] = () => {
    throw fail('INVALID_STATE', { params: { state: 'x' } });
  };
  const input = `input: {${scope()}, id: "${uuid(1)}"}`;
  const payload = {
    query: `mutation { first: deleteRole(${input}) { id groups { id } } updateRole(${input}) { id } last: deleteRole(${input}) { id } }`,
  };
  const reply = await thrice(payload);
  expect(reply.status).toBe(200);
  expect(reply.body).toEqual({
    data: null,
    errors: [
      {
        message: 'Not possible in the state x.',
        path: ['updateRole'],
        locations: [{ line: 1, column: expect.any(Number) as number }],
        extensions: { code: 'INVALID_STATE', requestId: 'request-1' },
      },
    ],
  });
  expect(invoked.map(({ name }) => name)).toEqual([1, 2, 3].flatMap(() => ['deleteRole', 'updateRole']));
});

test('errors are localized and carry details, fix and reason', async () => {
  answers['ask'] = () => {
    throw fail('FORBIDDEN', {
      reason: 'NO_PERMISSION',
      fix: 'Ask.',
      details: [{ path: 'a', code: 'required' }],
    });
  };
  const reply = await post({ query: '{ ask { ok } }' }, { 'accept-language': 'de' });
  expect(reply.status).toBe(200);
  expect(reply.headers['content-language']).toBe('de');
  expect(reply.body.errors[0].message).not.toBe('You may not do this.');
  expect(reply.body.errors[0].extensions).toMatchObject({
    code: 'FORBIDDEN',
    reason: 'NO_PERMISSION',
    fix: 'Ask.',
    details: [{ path: 'a', code: 'required' }],
  });
});

test('unexpected errors are logged once and told as INTERNAL_ERROR', async () => {
  const boom = new Error('boom');
  answers['ask'] = () => {
    throw boom;
  };
  const reply = await thrice({ query: '{ ask { ok } }' });
  expect([reply.status, codeOf(reply), reply.body.data]).toEqual([200, 'INTERNAL_ERROR', null]);
  expect(JSON.stringify(reply.body)).not.toContain('boom');
  expect(logged).toEqual([boom, boom, boom]);
  // A value that the schema does not allow is a fault of the service as well.
  answers['ask'] = () => ({ ok: null, at, list: [] });
  expect(codeOf(await thrice({ query: '{ x: ask { ok } }' }))).toBe('INTERNAL_ERROR');
});

test('a relation that fails fails the answer', async () => {
  await app.close();
  await start({ related: () => Promise.reject(Object.assign(new Error('gone'), { code: '57P01' })) });
  const reply = await thrice({ query: nested });
  expect([reply.status, codeOf(reply), reply.body.data]).toEqual([503, 'UNAVAILABLE', null]);
  expect(reply.headers['retry-after']).toBe('1');
  expect(logged).toHaveLength(3);
});

test('a limited field makes the answer 429', async () => {
  answers['ask'] = () => {
    throw fail('RATE_LIMITED', { params: { seconds: 9 }, headers: { 'Retry-After': '9' } });
  };
  const reply = await post([{ query: '{ ask { ok } }' }, { query: '{ apiKey { id } }' }]);
  expect([reply.status, reply.headers['retry-after'], codeOf({ ...reply, body: reply.body[0] })]).toEqual([
    429,
    '9',
    'RATE_LIMITED',
  ]);
});

test('effects of operations reach the answer, of failed ones too', async () => {
  const login = { query: 'mutation { login(input: {email: "a", password: "b"}) { accessToken } }' };
  expect((await post(login)).headers['set-cookie']).toBe('yes');
  answers['login'] = () => {
    throw fail('UNAUTHENTICATED');
  };
  expect((await post(login)).headers['set-cookie']).toBe('yes');
});

test('a batch answers in order; documents that cannot run do not stop the others', async () => {
  const reply = await post([
    { query: '{ ask { ok } }' },
    { query: '{ nope }' },
    { query: '{ ask { list } }' },
  ]);
  expect(reply.status).toBe(200);
  expect(reply.body[0]).toEqual({ data: { ask: { ok: true } } });
  expect(reply.body[1].errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
  expect(reply.body[2]).toEqual({ data: { ask: { list: ['x'] } } });
  expect((await post([{ query: '{' }])).status).toBe(400);
});

const manyAliases = (n: number) =>
  `{ ${Array.from({ length: n }, (_, i) => `a${i}: ask { ok }`).join(' ')} }`;
const fields = (n: number) => Array.from({ length: n }, () => 'ok').join(' ');
const deep = (n: number) => {
  let text = 'name';
  for (let i = 0; i < n - 2; i++) text = `${i % 2 ? 'permissions' : 'groups'} { ${text} }`;
  // `permissions` is a relation of groups, `groups` one of permissions.
  return `{ ${n % 2 ? 'permission' : 'group'}(input: {${scope()}, id: "${uuid(1)}"}) { ${text} } }`;
};

test.each([
  ['depth', deep(9)],
  ['aliases', `{ ask { ${Array.from({ length: 16 }, (_, i) => `a${i}: ok`).join(' ')} } }`],
  [
    'aliases through fragments',
    `{ a: ask { ...F } b: ask { ...F } } fragment F on Asked { ${Array.from({ length: 7 }, (_, i) => `a${i}: ok`).join(' ')} }`,
  ],
  ['root fields', `{ ${Array.from({ length: 16 }, () => 'ask { ok }').join(' ')} }`],
  ['document', `{ ask { ok } } #${'x'.repeat(20_500)}`],
  ['tokens', `{ ask { ${fields(2000)} } }`],
  [
    'cost',
    `{ roles(input: {${scope()}, limit: 65}) { items { groups { permissions { groups { permissions { id } } } } } } }`,
  ],
  [
    'cost',
    `{ roles(input: {${scope()}}) { items { groups { permissions { groups { permissions { id } } tags { id } } } } } r: roles(input: {${scope()}}) { items { groups { permissions { groups { id } } } } } }`,
  ],
  [
    'sensitive',
    'mutation { login(input: {email: "a", password: "b"}) { accessToken } verifyEmail(input: {email: "a", password: "b"}) { accessToken } }',
  ],
  [
    'sensitive',
    'mutation { ...A b: login(input: {email: "a", password: "b"}) { accessToken } } fragment A on Mutation { login(input: {email: "a", password: "b"}) { accessToken } }',
  ],
])('too complex: %s', async (_, text) => {
  const reply = await thrice({ query: text });
  expect([reply.status, codeOf(reply), reply.body.data]).toEqual([400, 'QUERY_TOO_COMPLEX', null]);
  expect(invoked).toEqual([]);
});

test('what just fits runs', async () => {
  answers['group'] = () => base(1);
  expect((await post({ query: deep(8) })).status).toBe(200);
  expect((await post({ query: manyAliases(15) })).status).toBe(200);
  const limit = {
    query: `query ($n: Int) { roles(input: {${scope()}, limit: $n}) { items { groups { permissions { groups { id } } } } } }`,
  };
  // The cost 2 + n × (1 + 5 × (1 + 5 × 1)) = 2 + 31 n must be at most 10,000. A limit below 1 counts as 1.
  expect((await post({ ...limit, variables: { n: 322 } })).status).toBe(200);
  expect(codeOf(await post({ ...limit, variables: { n: 323 } }))).toBe('QUERY_TOO_COMPLEX');
  expect((await post({ ...limit, variables: { n: -4000 } })).status).toBe(200);
  expect((await post(Array.from({ length: 10 }, () => ({ ...limit, variables: { n: 20 } })))).status).toBe(
    200,
  );
  expect(codeOf(await post(Array.from({ length: 10 }, () => ({ ...limit, variables: { n: 40 } }))))).toBe(
    'QUERY_TOO_COMPLEX',
  );
});

test('a batch is limited, also in sensitive fields', async () => {
  const login = { query: 'mutation { login(input: {email: "a", password: "b"}) { accessToken } }' };
  expect(codeOf(await post([login, login]))).toBe('QUERY_TOO_COMPLEX');
  expect(codeOf(await post(Array.from({ length: 11 }, () => ({ query: '{ ask { ok } }' }))))).toBe(
    'QUERY_TOO_COMPLEX',
  );
  expect(invoked).toEqual([]);
});

test('fragment cycles and bombs are cheap', async () => {
  const began = performance.now();
  expect(
    codeOf(
      await post({
        query:
          '{ roles(input: {scope: {tenant: account, id: "x"}}) { ...A } } fragment A on RolePage { items { id } ...B } fragment B on RolePage { ...A }',
      }),
    ),
  ).toBe('GRAPHQL_VALIDATION_FAILED');
  const bomb = Array.from(
    { length: 100 },
    (_, i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`,
  ).join('\n');
  expect(codeOf(await post({ query: `{ ...F0 } ${bomb} fragment F100 on Query { ask { ok } }` }))).toBe(
    'QUERY_TOO_COMPLEX',
  );
  const wide = Array.from(
    { length: 60 },
    (_, i) => `fragment G${i} on Group { permissions { groups { ...G${i + 1} ...G${i + 1} } } }`,
  ).join('\n');
  expect(
    codeOf(
      await post({
        query: `{ group(input: {${scope()}, id: "1"}) { ...G0 } } ${wide} fragment G60 on Group { id }`,
      }),
    ),
  ).toBe('QUERY_TOO_COMPLEX');
  const same = `{ ask { ${fields(1990)} } }`;
  expect((await post({ query: same })).status).toBe(400);
  const key = `group(input: {${scope()}, id: "1"})`;
  const ids = 'permissions { id } ';
  for (const slow of [
    `{ ask { ok } } query B { ${key} { ${`permissions { ${'groups { id } '.repeat(20)} } `.repeat(20)} } }`,
    `query B { ${key} { ${`...on Group { ${ids.repeat(10)} } `.repeat(40)} } }`,
    `query B { ${key} { ${Array.from({ length: 150 }, (_, i) => `...F${i}`).join(' ')} } }
      ${Array.from({ length: 150 }, (_, i) => `fragment F${i} on Group { ${ids} }`).join(' ')}`,
  ]) {
    expect(codeOf(await post({ query: slow, operationName: 'B' }))).toBe('QUERY_TOO_COMPLEX');
  }
  const inline = `{ ask { ${'... { '.repeat(300)}${fields(1000)}${'}'.repeat(300)} } }`;
  expect((await post({ query: inline })).status).toBe(400);
  expect(codeOf(await post({ query: `{ ${'a { '.repeat(650)}b${' }'.repeat(651)}` }))).toBe(
    'QUERY_TOO_COMPLEX',
  );
  expect(performance.now() - began).toBeLessThan(30_000);
});

test.each([
  ['a syntax error', { query: '{ ask { ok }' }, 'GRAPHQL_PARSE_FAILED'],
  ['an empty document', { query: '' }, 'GRAPHQL_PARSE_FAILED'],
  ['an unknown field', { query: '{ ask { oka } }' }, 'GRAPHQL_VALIDATION_FAILED'],
  ['a document without operation', { query: 'fragment A on Asked { ok }' }, 'GRAPHQL_VALIDATION_FAILED'],
  ['a subscription', { query: 'subscription { ask { ok } }' }, 'GRAPHQL_VALIDATION_FAILED'],
  [
    'a missing variable',
    { query: 'query ($i: RolesInput!) { roles(input: $i) { totalCount } }' },
    'GRAPHQL_VALIDATION_FAILED',
  ],
  [
    'null by a default',
    {
      query: `query ($i: RolesInput = {${scope()}}) { roles(input: $i) { totalCount } }`,
      variables: { i: null },
    },
    'GRAPHQL_VALIDATION_FAILED',
  ],
  ['a body without query', {}, 'VALIDATION_ERROR'],
  ['variables that are no object', { query: '{ ask { ok } }', variables: [1] }, 'VALIDATION_ERROR'],
  ['a number', 7, 'VALIDATION_ERROR'],
  ['an empty batch', [], 'VALIDATION_ERROR'],
  ['nested batches', [[{ query: '{ ask { ok } }' }]], 'VALIDATION_ERROR'],
  ['broken JSON', '{"query"', 'VALIDATION_ERROR'],
  ['no body', '', 'VALIDATION_ERROR'],
  [
    'a literal too deep',
    { query: `{ ask(input: {context: {a: ${'['.repeat(900)}${']'.repeat(900)}}}) { ok } }` },
    'VALIDATION_ERROR',
  ],
])('cannot be executed: %s', async (_, payload, code) => {
  const reply = await post(payload);
  expect([reply.status, codeOf(reply), reply.body.data]).toEqual([400, code, null]);
  expect(invoked).toEqual([]);
  expect(logged).toEqual([]);
});

test('faults of a document say where and why, and never repeat a value', async () => {
  const field = await post({ query: '{ ask {\n oka } }' });
  expect(field.body.errors[0].locations).toEqual([{ line: 2, column: 2 }]);
  expect(field.body.errors[0].extensions.fix).toContain('Did you mean "ok"');
  const variables = await post({
    query: 'query ($i: RolesInput!) { roles(input: $i) { totalCount } }',
    variables: { i: { search: 'hunter2' } },
  });
  expect(variables.body.errors[0].extensions.fix).toContain('Field "scope" of required type "ScopeInput!"');
  for (const payload of [
    { query: 'query ($i: AskInput!) { ask(input: $i) { ok } }', variables: { i: { n: 'hunter2' } } },
    { query: '{ ask(input: {n: "hunter2"}) { ok } }' },
    { query: '{ ask(input: {n: ["hunter2"]}) { ok } }' },
    { query: '{ ask(input: {text: {a: "hunter2"}}) { ok } }' },
    { query: '{ roles(input: {scope: {tenant: hunter2, id: "a"}}) { totalCount } }' },
    { query: '{ ask(input: {text: "a"hunter2}) { ok } }' },
    { query: '{ ask(input: {text: "a" "hunter2}) { ok } }' },
  ]) {
    const reply = await post(payload);
    expect(reply.status).toBe(400);
    expect(JSON.stringify(reply.body)).not.toContain('hunter2');
  }
});

test('media types', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
    const reply = await post('query=x', { 'content-type': type });
    expect([reply.status, codeOf(reply)]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  }
  const packed = await post({ query: '{ ask { ok } }' }, { 'content-encoding': 'gzip' });
  expect(packed.status).toBe(415);
});

test('GET runs queries only', async () => {
  const q = 'query Q($n: Int) { ask(input: {n: $n}) { ok } }';
  const ok = await get(
    { query: q, variables: '{"n":3}', operationName: 'Q' },
    { accept: 'application/json' },
  );
  expect([ok.status, ok.body, invoked[0]?.input]).toEqual([200, { data: { ask: { ok: true } } }, { n: 3 }]);
  const changed = await get({
    query: 'mutation { login(input: {email: "a", password: "b"}) { accessToken } }',
  });
  expect([changed.status, changed.headers['allow'], codeOf(changed)]).toEqual([
    405,
    'POST',
    'METHOD_NOT_ALLOWED',
  ]);
  expect(invoked).toHaveLength(1);
  for (const parameters of [
    {},
    { query: q, variables: '{' },
    { query: q, variables: '[]' },
    { query: q, variables: `{"n":${'['.repeat(40)}${']'.repeat(40)}}` },
    { query: q, extensions: '{' },
    { query: q, extensions: '1' },
    { extensions: '{}' },
  ] as Record<string, string>[]) {
    expect(codeOf(await get(parameters))).toBe('VALIDATION_ERROR');
  }
  const hidden = await get({}, { accept: 'text/html,*/*' });
  expect([hidden.status, codeOf(hidden)]).toEqual([404, 'NOT_FOUND']);
});

test('the explorer, when it is on', async () => {
  await app.close();
  await start({ explorer: true });
  const response = await app.inject({ url: '/graphql', headers: { accept: 'text/html' } });
  expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
});

test('introspection is exempt from depth and cost, and can be off', async () => {
  const { getIntrospectionQuery } = await import('graphql');
  const reply = await thrice({ query: getIntrospectionQuery() });
  expect([reply.status, reply.body.errors]).toEqual([200, undefined]);
  await app.close();
  await start({ introspection: false, production: true });
  for (const text of [
    '{ __schema { types { name } } }',
    '{ __type(name: "Role") { name } }',
    '{ ...F } fragment F on Query { __schema { types { name } } }',
  ]) {
    const refused = await post({ query: text });
    expect([refused.status, codeOf(refused)]).toEqual([400, 'GRAPHQL_VALIDATION_FAILED']);
  }
  expect((await post({ query: '{ __typename ask { __typename } }' })).body.data).toEqual({
    __typename: 'Query',
    ask: { __typename: 'Asked' },
  });
  for (const text of [
    '{ ask { oka } }',
    '{ asc { ok } }',
    '{ ask(input: {texd: 1}) { ok } }',
    '{ ask { ok } } fragment F on Aske { ok }',
  ]) {
    expect(JSON.stringify((await post({ query: text })).body)).not.toMatch(/did you mean/i);
  }
});
