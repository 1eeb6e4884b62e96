import { sql } from 'drizzle-orm';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { operations } from '../../src/operations.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { schemas } from './sample.ts';
import { kinds, rows, type Facts, type Live } from './spec-tables.ts';
import { dereferenced } from '../support/cases/openapi-document.ts';

/** Each row of the tables of the specification is true of the declarations, the documents or the running service. */
let app: TestApp;
let facts: Facts;

beforeAll(async () => {
  app = await startApp({ SECURITY_RATE_LIMIT_AUTH_MAX: '60' });
  interface Entry {
    operationId: string;
    responses: Record<string, { 'x-codes'?: string[] }>;
  }
  const document = dereferenced(
    (await app.server.inject('/api-docs.json')).json<{ paths: Record<string, Record<string, Entry>> }>(),
  );
  const described = new Map(
    Object.values(document.paths)
      .flatMap((item) => Object.values(item))
      .map((entry) => [entry.operationId, entry]),
  );
  const byRoute = new Map(operations.map((op) => [`${op.method} ${op.path}`, op]));
  const byName = new Map(operations.map((op) => [op.name, op]));
  const fields = await rootFields();
  facts = {
    operations,
    route: (route) => {
      const op = byRoute.get(route);
      return op && described.has(op.name) ? op : undefined;
    },
    ...fields,
    output: (name) => schemas.outputs[name],
    input: (name) => {
      const op = byName.get(name);
      return op && schemas.of(op).input;
    },
    codes: (name) =>
      Object.values(described.get(name)?.responses ?? {}).flatMap((item) => item['x-codes'] ?? []),
    live: await observe(),
  };
});
afterAll(() => app.close());

async function rootFields() {
  const query = '{ __schema { queryType { fields { name } } mutationType { fields { name } } } }';
  const answer = await app.server.inject({ method: 'POST', url: '/graphql', payload: { query } });
  type Type = { fields: { name: string }[] };
  const { data } = answer.json<{ data: { __schema: { queryType: Type; mutationType: Type } } }>();
  const names = ({ fields }: Type) => new Set(fields.map(({ name }) => name));
  return { queries: names(data.__schema.queryType), mutations: names(data.__schema.mutationType) };
}

type Json = Record<string, unknown>;

/** Runs the life cycle of an API key, and collects everything else that only a running service can show. */
async function observe(): Promise<Live> {
  const person = await app.person({ type: 'organization' });
  const { token, account } = person;
  const call = (name: string, input: unknown, via: 'rest' | 'graphql' = 'rest') =>
    app.raw(name, input, { token, via });
  const made = async (name: string, input: unknown) =>
    (await call(name, input)).data as { id: string } & Json;
  const project = await made('createProject', { scope: account, name: 'App' });
  const organization = await made('createOrganization', { scope: account, name: 'Acme' });
  const home: ScopeRef = { tenant: 'organization', id: organization.id };
  const inside = await made('createProject', { scope: home, name: 'App' });
  const scope: ScopeRef = { tenant: 'accountProject', id: `${account.id}:${project.id}` };
  const requested = { tenant: 'AccountProject', id: scope.id };
  const exchange = async (key: Json) =>
    app.raw('exchangeApiKey', {
      clientId: key['clientId'],
      clientSecret: key['clientSecret'],
      scope: requested,
    });

  const key = await made('createApiKey', { scope });
  const secret = String(key['clientSecret']);
  const exchanged = (await exchange(key)).data as Json;
  const accessToken = String(exchanged['accessToken']);
  const jwks = await app.server.inject(`/acc/${account.id}/prj/${project.id}/.well-known/jwks.json`);
  const { payload } = await jwtVerify(accessToken, createLocalJWKSet(jwks.json<JSONWebKeySet>()));

  const states: Json = {};
  const scopes: Readonly<Record<string, ScopeRef>> = {
    ProjectUser: { tenant: 'projectUser', id: `${project.id}:${person.userId}` },
    AccountProject: scope,
    OrganizationProject: { tenant: 'organizationProject', id: `${organization.id}:${inside.id}` },
  };
  for (const [kind, where] of Object.entries(scopes)) {
    states[`create ${kind}`] = (await call('createApiKey', { scope: where })).status;
  }
  const revoked = await made('revokeApiKey', { scope, id: key.id });
  Object.assign(states, {
    revoked: revoked['status'],
    revokedBy: revoked['revokedBy'],
    revokedAt: revoked['revokedAt'],
    'exchange after revoke': (await exchange(key)).status,
    'revoke twice': (await call('revokeApiKey', { scope, id: key.id })).status,
  });
  const later = [await call('apiKeys', { scope }), await call('apiKey', { scope, id: key.id })];
  const removed = await call('deleteApiKey', { scope, id: key.id });
  Object.assign(states, {
    'delete after revoke': removed.status,
    deletedAt: (removed.data as Json)['deletedAt'],
    'get after delete': (await call('apiKey', { scope, id: key.id })).status,
  });
  const short = await made('createApiKey', { scope, expiresAt: new Date(Date.now() + 60_000).toISOString() });
  // The clock of the database decides, so the key is backdated instead of waiting.
  await app.database.pool.execute(sql`update api_keys set expires_at = now() where id = ${short.id}::uuid`);
  states['exchange after expiry'] = (await exchange(short)).status;
  states['expired'] = ((await call('apiKey', { scope, id: short.id })).data as Json)['status'];
  if (operations.some(({ name }) => name === 'rotateApiKey')) {
    await call('rotateApiKey', { scope, id: (await made('createApiKey', { scope })).id });
  }

  const role = async (more: Json) => {
    const { data } = await call('roles', { scope, isSystem: true, limit: 1, ...more });
    return Object.keys((data as { items: Json[] }).items[0] ?? {}).filter(
      (name) => name === 'groups' || name === 'tags',
    );
  };
  const unknown = { scope, id: '0190b6f0-0000-7000-8000-000000000001' };
  const [rest, graphql] = [await call('role', unknown), await call('role', unknown, 'graphql')];
  const signIn = await app.raw('login', {
    provider: 'email',
    providerId: person.email,
    providerData: { password: person.password },
  });
  const audit = await select<{ operation: string }>(sql`select distinct operation from audit_log`);
  const events = await select<{ type: string }>(sql`select distinct type from events`);
  const secrets = await select<{ text: string }>(
    sql`select coalesce(string_agg(s::text, ' '), '') as text from api_key_secrets s`,
  );
  const status = async (url: string, headers: Record<string, string> = {}) =>
    (await app.server.inject({ url, headers })).statusCode;
  let limited = signIn;
  for (let i = 0; i < 100 && limited.status !== 429; i++) {
    limited = await app.raw('login', {
      provider: 'email',
      providerId: person.email,
      providerData: { password: 'no' },
    });
  }
  return {
    claims: payload,
    tokenHeader: decodeProtectedHeader(accessToken),
    key,
    secret,
    storedSecrets: secrets[0]?.text ?? '',
    laterAnswers: later.map(({ body }) => body).join(' '),
    exchange: exchanged,
    expected: {
      issuer: `http://localhost:4000/acc/${account.id}/prj/${project.id}`,
      audience: 'http://localhost:4000',
      userId: person.userId,
      scope: requested,
    },
    states,
    audited: new Set(audit.map(({ operation }) => operation)),
    events: new Set(events.map(({ type }) => type)),
    signIn: signIn.data as Json,
    refreshCookie: String(signIn.headers['set-cookie']),
    verifiable: true,
    statuses: {
      graphql: (
        await app.server.inject({ method: 'POST', url: '/graphql', payload: { query: '{ __typename }' } })
      ).statusCode,
      'rest with token': (await call('me', {})).status,
      'graphql with token': (await call('me', {}, 'graphql')).status,
      '/api-docs': await status('/api-docs'),
      '/api-docs.json': await status('/api-docs.json'),
      explorer: await status('/graphql', { accept: 'text/html' }),
      'scope in query': await status(`/api/roles?tenant=${scope.tenant}&scopeId=${scope.id}`, {
        authorization: `Bearer ${token}`,
      }),
      'graphql scope': (await call('roles', { scope }, 'graphql')).status,
      limited: limited.status,
    },
    envelopes: {
      success: Object.keys(JSON.parse((await call('me', {})).body) as Json).join(),
      error: Object.keys(JSON.parse(rest.body) as Json).join(),
      code: rest.code,
      graphql: graphql.data === undefined ? graphql.code : null,
    },
    relations: { absent: await role({}), present: await role({ relations: ['groups', 'tags'] }) },
    retryAfter: String(limited.headers['retry-after']),
    limits: rates(),
    production: introspection(),
  };
}

async function select<R>(query: ReturnType<typeof sql>): Promise<R[]> {
  const { rows: match } = (await app.database.pool.execute(query)) as { rows: R[] };
  return match;
}

function rates(): Live['limits'] {
  const { auth, general } = loadConfig({ NODE_ENV: 'test', DATA_DIR: '/nowhere' }).rateLimits.classes;
  return { auth: auth.max / auth.windowSeconds, general: general.max / general.windowSeconds };
}

function introspection(): Live['production'] {
  const production = {
    NODE_ENV: 'production',
    APP_URL: 'https://doorward.example.test',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    DATABASE_URL: 'postgres://localhost/doorward',
    MAIL_PROVIDER: 'file',
    DATA_DIR: '/nowhere',
  };
  const of = (env: Record<string, string>) => loadConfig(env).graphql.introspection;
  return {
    introspection: of(production),
    toggled: of({ ...production, GRAPHQL_INTROSPECTION: 'true' }),
    development: of({ NODE_ENV: 'development', DATA_DIR: '/nowhere' }),
  };
}

describe('the specification', () => {
  it.each(rows)('$table: $says', ({ holds }) => {
    expect(holds(facts)).toBe(true);
  });

  it('lists nothing twice', () => {
    const ids = rows.map(({ table, says }) => `${table} | ${says}`);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('counts what it lists', () => {
    for (const { tag, count, routes } of kinds) {
      expect(routes.length, tag).toBe(count);
      expect(new Set(routes).size, tag).toBe(count);
    }
    // The tag Me has exactly its seventeen endpoints; later additions have a tag of their own.
    const me = kinds.find(({ tag }) => tag === 'Me');
    for (const op of operations.filter(({ tag }) => tag === 'Me')) {
      expect(me?.routes).toContain(`${op.method} ${op.path}`);
    }
  });

  it('has its endpoints under their tags', () => {
    // The two that it lists under Authentication and that the service has under the tag of their noun.
    const elsewhere = new Set(['POST /api/auth/token', 'POST /api/auth/is-authorized']);
    for (const { tag, routes } of kinds) {
      for (const route of routes) {
        const op = facts.route(route);
        if (op && !elsewhere.has(route)) expect(op.tag, route).toBe(tag);
      }
    }
  });
});
