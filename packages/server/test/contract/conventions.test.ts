import fc from 'fast-check';
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tenants, type ScopeRef, type Tenant } from '../../src/kernel/scope.ts';
import { operations } from '../../src/operations.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { sampleInput } from './sample.ts';
import { house, nowhere, type House } from './world.ts';

/** The rules that apply to every request, whatever operation it names (conventions §1–§6, §8, §11, §12). */
let app: TestApp;
let owner: House;
let token: string;

beforeAll(async () => {
  // So that operations of the GitHub sign-in are enabled; no call of this test reaches GitHub.
  app = await startApp({
    GITHUB_CLIENT_ID: 'fuzz',
    GITHUB_CLIENT_SECRET: 'fuzz',
    // One caller tries every tenant for each export.
    SECURITY_RATE_LIMIT_EXPORT_MAX: '100',
  });
  owner = await house(app);
  ({ token } = owner.person);
});
afterAll(() => app.close());

interface Body {
  readonly success?: boolean;
  readonly data?: Record<string, unknown>;
  readonly error?: string;
  readonly code?: string;
  readonly requestId?: string;
  readonly details?: readonly { path: string; code: string; message: string }[];
  readonly errors?: readonly { message: string; extensions: Record<string, unknown> }[];
}

type Sent = Omit<InjectOptions, 'headers'> & { headers?: Record<string, string> };

async function ask(request: Sent): Promise<LightMyRequestResponse & { parsed: Body }> {
  const response = await app.server.inject({
    ...request,
    headers: { authorization: `Bearer ${token}`, ...request.headers },
  });
  const isJson = String(response.headers['content-type']).startsWith('application/json');
  return Object.assign(response, { parsed: isJson && response.body ? response.json<Body>() : {} });
}

const json = { 'content-type': 'application/json' };
const at = (scope: ScopeRef, more = '') => `?tenant=${scope.tenant}&scopeId=${scope.id}${more}`;
const faults = ({ details = [] }: Body): string[] => details.map(({ path, code }) => `${path} ${code}`);

describe('addresses', () => {
  it.each([
    ['an unknown path', 'GET', '/api/nothing'],
    ['an unknown path at the root', 'GET', '/nothing'],
    ['a version segment', 'GET', '/api/v1/roles'],
    ['a trailing slash', 'GET', '/api/roles/'],
    ['a doubled slash', 'GET', '/api//roles'],
    ['other case', 'GET', '/api/Roles'],
    ['other case of the prefix', 'GET', '/API/roles'],
    ['an encoded slash', 'GET', '/api%2Froles'],
    ['a dotted path', 'GET', '/api/roles/../../etc/passwd'],
    ['an unknown path with a body', 'POST', '/api/nothing'],
  ] as const)('%s is 404', async (_, method, url) => {
    const { statusCode, parsed } = await ask({ method, url, ...(method === 'POST' ? { payload: {} } : {}) });
    expect([statusCode, parsed.code]).toEqual([404, 'NOT_FOUND']);
    expect(parsed).not.toHaveProperty('success');
  });

  // The router refuses these before any hook runs.
  it.each([
    ['a broken escape', '/api/roles/%E0%A4%A'],
    ['a path that is too long', `/api/roles/${'x'.repeat(4000)}`],
  ])('%s is 404', async (_, url) => {
    const { statusCode, parsed, headers } = await ask({ method: 'GET', url });
    expect([statusCode, parsed.code]).toEqual([404, 'NOT_FOUND']);
    expect(headers['x-request-id']).toBe(parsed.requestId);
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  it.each(operations.map(({ method, path }) => [method, path] as const))(
    '%s %s is 405 by another method',
    async (_, path) => {
      const url = path.replace(/:[A-Za-z]+/g, randomUUID());
      const existing = operations.filter(
        (op) => op.path.replace(/:[A-Za-z]+/g, ':') === path.replace(/:[A-Za-z]+/g, ':'),
      );
      const served = new Set(
        existing.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
      );
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
        if (served.has(method)) continue;
        const { statusCode, parsed, headers } = await ask({ method, url });
        // `/roles/:id` and `/organization-members/deliveries` may share a shape; then another route answers.
        if (statusCode !== 405) continue;
        expect(parsed.code).toBe('METHOD_NOT_ALLOWED');
        expect(String(headers['allow']).split(', ')).toEqual(expect.arrayContaining([...served]));
        expect(String(headers['allow']).split(', ')).not.toContain(method);
      }
    },
  );

  it.each([
    ['GET', '/api/auth/token', 'POST'],
    ['DELETE', '/api/roles', 'GET, HEAD, POST'],
    ['PUT', '/api/roles/x', 'GET, HEAD, PATCH, DELETE'],
    ['POST', '/health', 'GET, HEAD'],
    ['PATCH', '/api/me', 'GET, HEAD'],
  ] as const)('%s %s is 405 with Allow: %s', async (method, url, allow) => {
    // When an operation with this method is added, remove its row here.
    if (operations.some((op) => op.method === method && op.path === url)) return;
    const { statusCode, headers, parsed } = await ask({ method, url });
    expect([statusCode, parsed.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(String(headers['allow']).split(', ').sort()).toEqual(
      expect.arrayContaining(allow.split(', ').sort()),
    );
  });

  it.each(['/health', '/.well-known/jwks.json', '/api/me'])(
    'HEAD %s is GET without the body',
    async (url) => {
      const [get, head] = [await ask({ method: 'GET', url }), await ask({ method: 'HEAD', url })];
      expect([head.statusCode, head.body]).toEqual([get.statusCode, '']);
      expect(head.headers['content-type']).toBe(get.headers['content-type']);
    },
  );
});

describe('input', () => {
  const roles = () => `/api/roles${at(owner.places.organization.scope)}`;
  const post = (payload: unknown, headers: Record<string, string> = {}) =>
    ask({ method: 'POST', url: '/api/roles', payload: payload as string, headers: { ...json, ...headers } });
  const good = () => ({ scope: owner.places.organization.scope, name: 'Reader' });

  it.each([
    ['an unknown parameter', '&color=red', ['color unknown_field']],
    ['two unknown parameters', '&b=1&a=2', ['b unknown_field', 'a unknown_field']],
    ['a parameter of another spelling', '&Limit=3', ['Limit unknown_field']],
    ['a repeated parameter', '&limit=1&limit=2', ['limit duplicate']],
    ['a repeated tenant', '&tenant=organization', ['tenant enum']],
    ['no number', '&limit=ten', ['limit type']],
    ['a fraction', '&limit=1.5', ['limit type']],
    ['a signed number', '&limit=%2B5', ['limit type']],
    ['hexadecimal', '&limit=0x10', ['limit type']],
    ['too small', '&limit=0', ['limit too_small']],
    ['too big', '&limit=101', ['limit too_big']],
    ['a page too far', '&page=100001', ['page too_big']],
    ['an unknown sort field', '&sortField=secret', ['sortField enum']],
    ['an unknown order', '&sortOrder=asc', ['sortOrder enum']],
    ['an unknown relation', '&relations=groups,secrets', ['relations.1 enum']],
    ['an id that is none', '&ids=1', ['ids.0 format']],
    ['a boolean that is none', '&isSystem=1', ['isSystem type']],
    ['a short search', '&search=a', ['search too_short']],
    ['a search of spaces', '&search=%20%20%20a%20', ['search too_short']],
    ['page and cursor', '&page=1&cursor=abc', ['cursor excluded']],
    ['a scope as parameter', '&scope=x', ['scope unknown_field']],
    ['a prototype', '&__proto__=x', ['__proto__ unknown_field']],
    [
      'a name of every object',
      '&constructor=x&toString=x',
      ['constructor unknown_field', 'toString unknown_field'],
    ],
  ])('%s in the query is 400', async (_, query, expected) => {
    const { statusCode, parsed } = await ask({ method: 'GET', url: `${roles()}${query}` });
    expect([statusCode, parsed.code, faults(parsed)]).toEqual([400, 'VALIDATION_ERROR', expected]);
  });

  it('a list parameter is accepted repeated and comma-separated', async () => {
    const [a, b] = [randomUUID(), randomUUID()];
    for (const query of [`&ids=${a},${b}`, `&ids=${a}&ids=${b}`]) {
      expect((await ask({ method: 'GET', url: `${roles()}${query}` })).statusCode).toBe(200);
    }
  });

  it.each([
    ['an unknown field', { color: 'red' }, ['color unknown_field']],
    [
      'an unknown field inside',
      { scope: { tenant: 'account', id: randomUUID(), x: 1 } },
      ['scope.x unknown_field'],
    ],
    ['an id of its own', { id: randomUUID() }, ['id unknown_field']],
    ['a field of the service', { isSystem: true }, ['isSystem unknown_field']],
    ['a missing field', { name: undefined }, ['name required']],
    ['null for what cannot be null', { name: null }, ['name type']],
    ['another type', { name: 7 }, ['name type']],
    ['an empty text', { name: '  ' }, ['name too_short']],
    ['a long text', { name: 'x'.repeat(256) }, ['name too_long']],
    ['a control character', { name: 'a\u0000b' }, ['name format']],
    ['a lone surrogate', { name: 'a\ud800' }, ['name format']],
    ['metadata that is none', { metadata: [] }, ['metadata type']],
    [
      'metadata too deep',
      { metadata: { a: { b: { c: { d: { e: {} } } } } } },
      ['metadata.a.b.c.d.e too_deep'],
    ],
    ['metadata that builds', { metadata: { prototype: 1 } }, ['metadata format']],
    ['a list of no ids', { groupIds: ['x'] }, ['groupIds.0 format']],
  ])('%s in the body is 400', async (_, change, expected) => {
    const { statusCode, parsed } = await post(JSON.stringify({ ...good(), ...change }));
    expect([statusCode, parsed.code, faults(parsed)]).toEqual([400, 'VALIDATION_ERROR', expected]);
  });

  it.each([
    ['malformed JSON', '{"name":', ' malformed_json'],
    ['no JSON', 'name=Reader', ' malformed_json'],
    ['two documents', '{}{}', ' malformed_json'],
    ['nothing', '', ' empty_body'],
    ['null', 'null', ' empty_body'],
    ['a list', '[]', ' type'],
    ['a text', '"x"', ' type'],
    ['a number', '1', ' type'],
    ['what is too deep', `${'['.repeat(40)}${']'.repeat(40)}`, ' too_deep'],
    ['what is deep at the right place', `{"metadata":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}`, ' too_deep'],
    ['a poisoned prototype', '{"__proto__":{"admin":true}}', ' malformed_json'],
    ['a poisoned constructor', '{"constructor":{"prototype":{"admin":true}}}', ' malformed_json'],
  ])('%s as body is 400', async (_, payload, expected) => {
    const { statusCode, parsed } = await post(payload);
    expect([statusCode, parsed.code, faults(parsed)]).toEqual([400, 'VALIDATION_ERROR', [expected]]);
  });

  it('brackets inside of strings do not count as depth', async () => {
    const { statusCode } = await post(JSON.stringify({ ...good(), description: '[{"'.repeat(200) }));
    expect(statusCode).toBe(201);
  });

  it.each([
    ['text', { 'content-type': 'text/plain' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['multipart', { 'content-type': 'multipart/form-data; boundary=x' }],
    ['XML', { 'content-type': 'application/xml' }],
    ['another charset', { 'content-type': 'application/json; charset=iso-8859-1' }],
    ['UTF-16', { 'content-type': 'application/json; charset="utf-16"' }],
    ['gzip', { 'content-encoding': 'gzip' }],
    ['brotli', { 'content-encoding': 'br' }],
    ['an unknown coding', { 'content-encoding': 'secret' }],
  ])('%s is 415', async (_, headers) => {
    for (const url of ['/api/roles', '/graphql']) {
      const answer = await ask({
        method: 'POST',
        url,
        payload: JSON.stringify(good()),
        headers: { ...json, ...headers },
      });
      const code = answer.parsed.code ?? answer.parsed.errors?.[0]?.extensions['code'];
      expect([answer.statusCode, code], url).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    }
  });

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'Application/JSON',
  ])('%s is read', async (type) => {
    expect((await post(JSON.stringify(good()), { 'content-type': type })).statusCode).toBe(201);
  });

  it('a body over the limit is 413', async () => {
    const payload = JSON.stringify({ ...good(), description: 'x'.repeat(1_100_000) });
    const { statusCode, parsed } = await post(payload);
    expect([statusCode, parsed.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  it('at most twenty details are returned, and none repeats a value of the request', async () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`field${i}`, 'sesame-open']));
    const { parsed, body } = await post(JSON.stringify({ ...good(), ...many, name: 5 }));
    expect(parsed.details).toHaveLength(20);
    expect(body).not.toContain('sesame-open');
  });

  it('an unknown key is ignored in providerData only', async () => {
    const signIn = (more: object, inside: object) =>
      ask({
        method: 'POST',
        url: '/api/auth/login',
        payload: {
          provider: 'email',
          providerId: owner.person.email,
          providerData: { password: owner.person.password, ...inside },
          ...more,
        },
      });
    expect((await signIn({}, { captcha: 'x' })).statusCode).toBe(200);
    expect(faults((await signIn({ captcha: 'x' }, {})).parsed)).toEqual(['captcha unknown_field']);
  });

  it('ids are accepted in upper case and returned in lower case', async () => {
    const { scope } = owner.places.organization;
    const url = `/api/organizations/${scope.id.toUpperCase()}${at({ ...scope, id: scope.id.toUpperCase() })}`;
    const { statusCode, parsed } = await ask({ method: 'GET', url });
    expect([statusCode, parsed.data?.['id']]).toEqual([200, scope.id]);
  });
});

describe('scope', () => {
  const tags = '/api/tags';
  const get = (query: string) => ask({ method: 'GET', url: `${tags}${query}` });
  const post = (body: object, query = '') =>
    ask({ method: 'POST', url: `${tags}${query}`, payload: { name: randomUUID(), ...body } });

  it('is required, at the location that the method prescribes', async () => {
    const { scope } = owner.places.organization;
    const missing = [
      await get(''),
      await post({}),
      await post({}, at(scope)),
      await ask({
        method: 'GET',
        url: tags,
        headers: { 'x-scope': JSON.stringify(scope), 'x-tenant': scope.tenant },
      }),
      await ask({ method: 'DELETE', url: `${tags}/${randomUUID()}`, payload: { scope } }),
      await ask({ method: 'DELETE', url: `${tags}/${randomUUID()}` }),
    ];
    for (const { statusCode, parsed } of missing) {
      expect([statusCode, parsed.code]).toEqual([400, 'SCOPE_REQUIRED']);
      expect(parsed.error).toMatch(/scope/);
    }
  });

  it('a scope with one of its two members is refused with the name of the missing one', async () => {
    const { scope } = owner.places.organization;
    expect(faults((await get(`?tenant=${scope.tenant}`)).parsed)).toEqual(['scopeId required']);
    expect(faults((await get(`?scopeId=${scope.id}`)).parsed)).toEqual(['tenant required']);
    expect(faults((await post({ scope: { tenant: scope.tenant } })).parsed)).toEqual(['scope.id required']);
    expect(faults((await post({ scope: {} })).parsed)).toEqual([
      'scope.tenant required',
      'scope.id required',
    ]);
    expect(faults((await post({ scope: 'organization' })).parsed)).toEqual(['scope type']);
  });

  it('in both locations it is accepted if both are equal, and refused otherwise', async () => {
    const { organizationProject: project, organization } = owner.places;
    const other = { tenant: 'OrganizationProject', id: project.scope.id.toUpperCase() };
    expect((await post({ scope: project.scope }, at(project.scope))).statusCode).toBe(201);
    expect((await post({ scope: project.scope }, at(other as ScopeRef))).statusCode).toBe(201);
    const conflict = await post({ scope: project.scope }, at(organization.scope));
    expect([conflict.statusCode, conflict.parsed.code]).toEqual([400, 'SCOPE_CONFLICT']);
    const url = `${tags}/${randomUUID()}`;
    const remove = (payload: object) => ask({ method: 'DELETE', url: url + at(project.scope), payload });
    expect((await remove({ scope: project.scope })).statusCode).toBe(404);
    expect((await remove({ scope: organization.scope })).parsed.code).toBe('SCOPE_CONFLICT');
    expect(faults((await remove({ scope: project.scope, force: true })).parsed)).toEqual([
      'force unknown_field',
    ]);
  });

  it.each([
    ['accountProject', 'AccountProject'],
    ['organizationProject', 'OrganizationProject'],
  ] as const)('%s may be written as %s, and in no other spelling', async (tenant, spelling) => {
    const { id } = owner.places[tenant].scope;
    for (const good of [tenant, spelling]) {
      expect((await get(`?tenant=${good}&scopeId=${id}`)).statusCode).toBe(200);
      expect((await post({ scope: { tenant: good, id } })).statusCode).toBe(201);
    }
    for (const bad of [tenant.toLowerCase(), tenant.toUpperCase(), tenant.replace('P', '_p'), ` ${tenant}`]) {
      expect(faults((await get(`?tenant=${encodeURIComponent(bad)}&scopeId=${id}`)).parsed)).toEqual([
        'tenant enum',
      ]);
      expect(faults((await post({ scope: { tenant: bad, id } })).parsed)).toEqual(['scope.tenant enum']);
    }
  });

  it.each(tenants)('an id of %s with a wrong number or form of parts is 400', async (tenant) => {
    const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()];
    const single = tenant === 'account' || tenant === 'organization';
    const wrong = [
      single ? `${a}:${b}` : a,
      `${a}:${b}:${c}`,
      'x',
      `${a} `,
      `${a}:`,
      `:${a}`,
      `${a},${b}`,
      `{${a}}`,
      '',
      a.replaceAll('-', ''),
    ];
    for (const id of wrong) {
      const inQuery = await get(`?tenant=${tenant}&scopeId=${encodeURIComponent(id)}`);
      expect([inQuery.statusCode, faults(inQuery.parsed).at(-1)], id).toEqual([400, 'scopeId format']);
      const inBody = await post({ scope: { tenant, id } });
      expect([inBody.statusCode, faults(inBody.parsed).at(-1)], id).toEqual([400, 'scope.id format']);
    }
  });

  it('a tenant kind that the operation does not support is 400 for every caller', async () => {
    let refused = 0;
    // The path of an AuthZEN endpoint cannot name other tenants.
    const named = operations.filter(
      ({ tenants: existing, protocol }) => existing !== undefined && protocol !== 'authzen',
    );
    for (const op of named) {
      for (const tenant of tenants.filter((tenant) => !op.tenants?.includes(tenant))) {
        for (const scope of [owner.places[tenant].scope, nowhere(tenant)]) {
          for (const via of op.only ? (['rest'] as const) : (['rest', 'graphql'] as const)) {
            const answer = await app.raw(op.name, sampleInput(op, scope), { via, token });
            expect([answer.code, answer.reason], `${op.name} ${tenant} ${via}: ${answer.body}`).toEqual([
              'TENANT_NOT_ALLOWED',
              null,
            ]);
            refused++;
          }
        }
      }
    }
    expect(refused).toBeGreaterThan(100);
  });

  it('each GraphQL field has a scope of its own', async () => {
    const [mine, never] = [owner.places.organization.scope, nowhere('organization')];
    const query = `query Q($a: ScopeInput!, $b: ScopeInput!) {
      a: tags(input: {scope: $a}) { totalCount } b: tags(input: {scope: $b}) { totalCount } }`;
    const both = async (a: ScopeRef, b: ScopeRef) =>
      (await ask({ method: 'POST', url: `/graphql`, payload: { query, variables: { a, b } } })).parsed;
    expect((await both(mine, owner.places.account.scope)).errors).toBeUndefined();
    const refused = await both(mine, never);
    expect(refused.data).toBeNull();
    expect(refused.errors?.map(({ extensions }) => extensions['code'])).toEqual(['FORBIDDEN']);
  });
});

describe('responses', () => {
  const samples: readonly (readonly [string, () => Sent])[] = [
    ['a success', () => ({ method: 'GET', url: '/api/me' })],
    ['a 404', () => ({ method: 'GET', url: '/api/nothing' })],
    ['a 405', () => ({ method: 'PUT', url: '/api/roles' })],
    ['a 400', () => ({ method: 'POST', url: '/api/roles', payload: '{', headers: json })],
    ['a 401', () => ({ method: 'GET', url: '/api/me', headers: { authorization: 'Bearer x' } })],
    ['a 403', () => ({ method: 'GET', url: `/api/roles${at(nowhere('organization'))}` })],
    [
      'a 415',
      () => ({ method: 'POST', url: '/api/roles', payload: 'x', headers: { 'content-type': 'text/plain' } }),
    ],
    ['GraphQL', () => ({ method: 'POST', url: '/graphql', payload: { query: '{ me { emailVerified } }' } })],
    ['a GraphQL error', () => ({ method: 'POST', url: '/graphql', payload: { query: '{' } })],
    ['health', () => ({ method: 'GET', url: '/health' })],
  ];

  it.each(samples)('%s has the security headers', async (name, request) => {
    const { headers } = await ask(request());
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    });
    expect(headers['cache-control'], name).toBe('no-store');
    expect(headers['x-request-id']).toMatch(/^[A-Za-z0-9-]{8,64}$/);
    for (const absent of ['server', 'x-powered-by', 'access-control-allow-origin'])
      expect(headers).not.toHaveProperty(absent);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it.each(samples)('%s returns a valid request id unchanged', async (_, request) => {
    const item = request();
    const given = `Trace-${randomUUID()}`;
    const echoed = await ask({ ...item, headers: { ...item.headers, 'x-request-id': given } });
    expect(echoed.headers['x-request-id']).toBe(given);
    const reported = echoed.parsed.requestId ?? echoed.parsed.errors?.[0]?.extensions['requestId'];
    if (echoed.parsed.code ?? echoed.parsed.errors) expect(reported).toBe(given);
    for (const bad of [
      'short',
      'x'.repeat(65),
      'with space inside',
      'new\tline-000',
      'umlaut-ä-0000',
      '<script>alert(1)',
    ]) {
      const { headers } = await ask({
        ...item,
        headers: { ...item.headers, 'x-request-id': Buffer.from(bad).toString('latin1') },
      });
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it.each(samples)('%s has one of the envelopes', async (name, request) => {
    const { parsed, statusCode } = await ask(request());
    if (name === 'health') expect(parsed).not.toHaveProperty('success');
    else if (parsed.errors) {
      expect(parsed.data).toBeNull();
      for (const { message, extensions } of parsed.errors) {
        expect([typeof message, typeof extensions['code'], typeof extensions['requestId']]).toEqual(
          Array(3).fill('string'),
        );
      }
    } else if (name === 'GraphQL') expect(Object.keys(parsed)).toEqual(['data']);
    else if (statusCode < 400) expect(Object.keys(parsed)).toEqual(['success', 'data']);
    else {
      expect(parsed).toMatchObject({
        error: expect.any(String) as string,
        code: expect.any(String) as string,
      });
      expect(
        Object.keys(parsed).every((key) =>
          ['error', 'code', 'requestId', 'details', 'fix', 'reason'].includes(key),
        ),
      ).toBe(true);
    }
  });

  it.each([
    ['de', 'de'],
    ['es', 'es'],
    ['fr', 'fr'],
    ['de-CH, en;q=0.5', 'de'],
    ['pt, fr;q=0.8, en;q=0.1', 'fr'],
    ['en;q=0.2, es;q=0.9', 'es'],
    ['pt', 'en'],
    ['*', 'en'],
    [';;;', 'en'],
    ['de;q=0', 'en'],
  ])('Accept-Language: %s is answered in %s', async (requested, language) => {
    const headers = { 'accept-language': requested };
    const { scope } = owner.places.organization;
    const wrong = `/api/roles${at(scope, '&limit=0')}`;
    const rest = await ask({ method: 'GET', url: wrong, headers });
    const english = await ask({ method: 'GET', url: wrong });
    expect(rest.headers['content-language']).toBe(language);
    expect(String(rest.headers['vary'])).toContain('Accept-Language');
    const texts = ({ error, details }: Body) => [error, details?.[0]?.message];
    for (const [index, text] of texts(rest.parsed).entries()) {
      if (language === 'en') expect(text).toBe(texts(english.parsed)[index]);
      else expect(text).not.toBe(texts(english.parsed)[index]);
    }
    expect(rest.parsed.code).toBe('VALIDATION_ERROR');
    const query = 'query Q($scope: ScopeInput!) { roles(input: {scope: $scope, limit: 0}) { totalCount } }';
    const graphql = await ask({
      method: 'POST',
      url: '/graphql',
      headers,
      payload: { query, variables: { scope } },
    });
    expect(graphql.parsed.errors?.[0]?.message).toBe(rest.parsed.error);
    expect(graphql.headers['content-language']).toBe(language);
  });
});

describe('GraphQL', () => {
  const both = async (name: string, input: unknown) => {
    const [rest, graphql] = [
      await app.raw(name, input, { token }),
      await app.raw(name, input, { token, via: 'graphql' }),
    ];
    return [rest, graphql].map(({ code, reason, details }) => ({
      code,
      reason,
      details: details.map((detail) => detail.code),
    }));
  };

  it.each([
    ['a foreign scope', () => ['roles', { scope: nowhere('organization') }]],
    ['a tenant that is not allowed', () => ['createRole', { scope: owner.places.account.scope, name: 'x' }]],
    ['an unknown id', () => ['role', { scope: owner.places.organization.scope, id: randomUUID() }]],
    ['a bound', () => ['roles', { scope: owner.places.organization.scope, limit: 1000 }]],
    [
      'a text that is too long',
      () => ['createRole', { scope: owner.places.organization.scope, name: 'x'.repeat(300) }],
    ],
    ['a bad scope id', () => ['roles', { scope: { tenant: 'organization', id: 'x' } }]],
    ['a built-in row', () => ['deleteRole', { scope: owner.places.organization.scope, id: builtIn }]],
    ['a bad cursor', () => ['roles', { scope: owner.places.organization.scope, cursor: 'abc' }]],
  ] as readonly (readonly [string, () => [string, unknown]])[])(
    'answers %s with the code of REST',
    async (_, request) => {
      const { data } = await app.raw(
        'roles',
        { scope: owner.places.organization.scope, isSystem: true, limit: 1 },
        { token },
      );
      builtIn = (data as { items: { id: string }[] }).items[0]?.id ?? '';
      const [name, input] = request();
      const [rest, graphql] = await both(name, input);
      expect(rest?.code).not.toBeNull();
      expect(graphql).toEqual(rest);
    },
  );
  let builtIn = '';
});

describe('no request body at all', () => {
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(
        null,
        true,
        false,
        0,
        -1,
        1e308,
        '',
        'x',
        '\u0000',
        '\ud800',
        '__proto__',
        '2024-02-30T00:00:00Z',
        "' or 1=1 --",
        '%',
        '{{user.id}}',
      ),
      fc.string({ maxLength: 40, unit: 'binary' }),
      fc.double(),
      fc.bigInt().map(String),
      fc.uuid(),
      fc.array(tie('any'), { maxLength: 4 }),
      fc.dictionary(
        fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom('tenant', 'id', 'Equals', 'And', 'resource')),
        tie('any'),
        { maxKeys: 4 },
      ),
    ),
  })).any;
  const fields = [...new Set(operations.flatMap((op) => Object.keys(op.input)))];
  const field = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...fields) },
    { weight: 1, arbitrary: fc.string({ maxLength: 10 }) },
  );
  /** No input, an input with one wrong field, or an arbitrary input: so that every stage of the pipeline is reached. */
  const extraOf = (op: (typeof operations)[number]) => {
    const own = Object.keys(op.input).filter((name) => name !== 'scope' && name !== 'id');
    const inOwn =
      own.length > 0
        ? fc.dictionary(fc.constantFrom(...own), value, { minKeys: 1, maxKeys: 2 })
        : fc.constant({});
    return fc.oneof(
      { weight: 2, arbitrary: fc.constant<Record<string, unknown>>({}) },
      { weight: 3, arbitrary: inOwn },
      { weight: 2, arbitrary: fc.dictionary(field, value, { maxKeys: 5 }) },
    );
  };
  const routes = operations.filter(({ name }) => name !== 'healthReady');

  it('no input leads to a 5xx', async () => {
    const rowsOf = (op: (typeof operations)[number]) =>
      Object.values(owner.places).flatMap(({ rows }) => rows[op.target?.name ?? '']?.live ?? [randomUUID()]);
    const call = (op: (typeof operations)[number]) =>
      fc.record({
        op: fc.constant(op),
        extra: extraOf(op),
        minimal: fc.boolean(),
        row: fc.oneof(
          { weight: 3, arbitrary: fc.constantFrom(...rowsOf(op)) },
          { weight: 1, arbitrary: fc.string({ maxLength: 20, unit: 'binary' }) },
        ),
        where: fc.oneof(
          {
            weight: 8,
            arbitrary: fc.constantFrom<unknown>(
              ...(op.tenants ?? tenants).map((tenant) => owner.places[tenant].scope),
            ),
          },
          {
            weight: 1,
            arbitrary: fc.constantFrom<unknown>(...tenants.map((tenant: Tenant) => nowhere(tenant))),
          },
          { weight: 1, arbitrary: value },
        ),
      });
    const statuses = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...routes).chain(call), async ({ op, extra, where, row, minimal }) => {
        const base = minimal ? sampleInput(op) : {};
        const body = { ...base, ...extra, ...(op.scoped ? { scope: where } : {}) };
        const url = op.path.replace(/:[A-Za-z]+/g, () => encodeURIComponent(wellFormed(row)));
        const { tenant, id: scopeId } = (where ?? {}) as Partial<ScopeRef>;
        const inQuery = op.method === 'GET' || op.method === 'DELETE';
        const query = inQuery
          ? [...Object.entries(extra), ['tenant', tenant], ['scopeId', scopeId]]
              .filter(([, member]) => member !== undefined)
              .map(
                ([name, member]) =>
                  `${encodeURIComponent(wellFormed(String(name)))}=${encodeURIComponent(wellFormed(text(member)))}`,
              )
              .join('&')
          : '';
        const answer = await ask({
          method: op.method,
          url: query ? `${url}?${query}` : url,
          ...(inQuery ? {} : { payload: JSON.stringify(body) }),
          // The session of the other calls must stay valid.
          headers: { ...(inQuery ? {} : json), ...(op.name === 'logout' ? { authorization: 'none' } : {}) },
        });
        statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1);
        if (answer.statusCode >= 500)
          throw new Error(`${op.method} ${answer.statusCode} ${app.logs.slice(-2).join('')}`);
      }),
      { numRuns: 1500, endOnFailure: true },
    );
    const reported = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
    process.stdout.write(`fuzz: ${reported.join(', ')}\n`);
    expect(statuses.get(200) ?? 0).toBeGreaterThan(0);
  });

  it('no input leads to a 5xx in GraphQL', async () => {
    const documents = routes.filter((op) => op.only !== 'rest' && op.name !== 'logout');
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...documents).chain((op) => fc.tuple(fc.constant(op), extraOf(op))),
        fc.constantFrom(...tenants),
        async ([op, extra], tenant) => {
          const input = { ...sampleInput(op, op.scoped ? owner.places[tenant].scope : undefined), ...extra };
          const answer = await app.raw(op.name, input, { via: 'graphql', token });
          expect(answer.status).toBeLessThan(500);
          if (answer.code === 'INTERNAL_ERROR') throw new Error(app.logs.slice(-2).join(''));
        },
      ),
      { numRuns: 300, endOnFailure: true },
    );
  });

  const text = (member: unknown): string =>
    typeof member === 'string' ? member : (JSON.stringify(member) ?? '');
  /** A lone surrogate cannot be encoded in a URL. */
  const wellFormed = (typed: string): string => typed.replace(/\p{Cs}/gu, '\ufffd') || 'x';
});
