import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resourceIdOf, roleIdOf } from '../../src/schema/rights/built-in-ids.ts';
import { installationRoleIdOf } from '../../src/access/installation-roles.ts';
import { entities } from '../../src/entities.ts';
import { catalogue, type Code } from '../../src/errors.ts';
import type { JsonSchema } from '../../src/kernel/output/json-schema.ts';
import { events } from '../../src/schema/events/event.ts';
import type { NamedOperation } from '../../src/kernel/operation.ts';
import { pascalTenant, type Tenant } from '../../src/kernel/scope.ts';
import { operations } from '../../src/operations.ts';
import { firstOperator, installation, operatorEnvironment } from '../support/tenants/operators.ts';
import { appInProject } from '../support/sign-in/project-app.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { PasskeyDevice } from '../support/sign-in/passkey-device.ts';
import { codeShown } from '../support/sign-in/authenticator.ts';
import { unique, type Answer } from '../support/app/client.ts';
import { challengeOf, consented, newVerifier } from '../support/sign-in/project-code.ts';
import { startGithub, type GithubDouble } from '../support/sign-in/github.ts';
import { connected } from '../support/databases/connections.ts';
import { startOpenidProvider, type OpenidDouble } from '../support/sign-in/openid-provider.ts';
import { visitor } from '../support/app/visitor.ts';
import { sampleInput, schemas } from './sample.ts';
import { dataFaults, faultsOf, type Document } from './schema-check.ts';
import { dereferenced } from '../support/cases/openapi-document.ts';
import { domainFor, house, member, nounOf, type House, isOfInstallation } from './world.ts';

/** The documents describe exactly what the service serves, and responses are valid by the documents. */
interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly required?: boolean;
  readonly schema?: JsonSchema;
  readonly description?: string;
  readonly style?: string;
  readonly explode?: boolean;
}
interface Media {
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}
interface Described {
  readonly operationId: string;
  readonly summary?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Media & { readonly required?: boolean };
  readonly responses: Readonly<Record<string, Media & { description?: string; 'x-codes'?: readonly Code[] }>>;
  readonly security?: readonly Record<string, readonly string[]>[];
  readonly 'x-permission': string;
  readonly servers?: readonly { readonly url: string }[];
}
interface OpenApi extends Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: Document['components'] & {
    readonly securitySchemes: Readonly<Record<string, unknown>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly responses: Readonly<Record<string, unknown>>;
    readonly headers: Readonly<Record<string, unknown>>;
  };
}

let app: TestApp;
let github: GithubDouble;
let provider: OpenidDouble;
let raw: string;
let document: OpenApi;
let owner: House;
const described = new Map<string, { method: string; path: string; entry: Described }>();

beforeAll(async () => {
  github = await startGithub();
  provider = await startOpenidProvider();
  app = await startOwnApp({
    ...github.env,
    ...operatorEnvironment,
    IDENTITY_PROVIDERS: JSON.stringify([provider.entry]),
    FEDERATION_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
    CONNECTIONS_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
    OIDC_DYNAMIC_REGISTRATION: 'true',
  });
  owner = await house(app);
  raw = (await app.server.inject('/api-docs.json')).body;
  document = dereferenced(JSON.parse(raw) as OpenApi);
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, entry] of Object.entries(item)) {
      described.set(entry.operationId, { method: method.toUpperCase(), path, entry });
    }
  }
});
afterAll(async () => {
  await app.close();
  await github.close();
  await provider.close();
});

/** The list operation of a noun. */
const listOf = (noun: string) =>
  operations.find((op) => nounOf(op) === noun && op.access.endsWith(':Query') && 'cursor' in op.input);
const shapeOf = (path: string): string => path.replace(/:[A-Za-z]+|\{[^}]+\}/g, '{}');
const fieldsOf = (path: string): string[] =>
  [...path.matchAll(/:([A-Za-z]+)/g)].map(([, name]) => name ?? '');

describe('the document', () => {
  it('has every operation at its path, once', () => {
    const all = Object.values(document.paths).flatMap((item) => Object.values(item));
    expect(all.map(({ operationId }) => operationId).sort()).toEqual(
      operations.map(({ name }) => name).sort(),
    );
    for (const op of operations) {
      const { method, path } = described.get(op.name) ?? {};
      expect([method, shapeOf(path ?? '')], op.name).toEqual([op.method, shapeOf(op.path)]);
    }
  });

  it('has exactly the seventeen endpoints of the specification under Me', () => {
    const mine = [...described.values()].filter(({ entry }) => entry.tags.includes('Me'));
    expect(mine).toHaveLength(17);
  });

  it('names path parameters like the operations do, and documents both names where they differ', () => {
    for (const op of operations) {
      const { path = '', entry } = described.get(op.name) ?? {};
      const alike = operations.filter((operation) => shapeOf(operation.path) === shapeOf(op.path));
      const names = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
      fieldsOf(op.path).forEach((field, place) => {
        const all = [...new Set(alike.map((namedOperation) => fieldsOf(namedOperation.path)[place] ?? ''))];
        const name = all.map((item, i) =>
          i === 0 ? item : item.replace(/^./, (c) => `Or${c.toUpperCase()}`),
        );
        expect(names[place], op.name).toBe(name.join(''));
        const parameter = entry?.parameters?.find((item) => item.in === 'path' && item.name === names[place]);
        if (all.length > 1) expect(parameter?.description, op.name).toContain(`\`${field}\``);
      });
    }
    expect(document.paths).toHaveProperty(['/api/organization-invitations/{tokenOrId}', 'delete']);
  });

  it('equals the served routes', () => {
    // Pages and protocols with an address of their own are not part of the API.
    const others = /^\/$|^\/(graphql|api-docs|hosted|account|explorer|assets|metrics)\b|\*/;
    const pages =
      /^GET \/(device|api\/auth\/project\/(sign-in(\.js)?|email|second-factor(\.js)?|enrolment|organization|consent|respond(\.js)?))$/;
    const shape = (path: string) => path.replace(/\{[^}]+\}/g, '*');
    const documented = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${shape(path)}`),
    );
    const served = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].flatMap((method) =>
      app.server.routeTable
        .urls(method)
        .map((url) => url.replace(/:[^/]+/g, '*'))
        .filter((path) => !others.test(path.replaceAll('/*', '')))
        .map((path) => `${method} ${path}`)
        // It answers every method, at every path below, and the document has it once.
        .filter((route) => route === 'GET /api/auth/check' || !/ \/api\/auth\/check(?:\/|$)/.test(route))
        .filter((route) => !pages.test(route))
        // Below the issuer of a project, which the document has as servers of the operation.
        .filter((route) => !/\/prj\/\*\/access\/v1\//.test(route))
        // It says that there is no such operation.
        .filter((route) => route !== 'POST /access/v1/search/resource'),
    );
    expect([...new Set(served)].sort()).toEqual(documented.sort());
  });

  it.each(operations.map((op) => [op.name, op] as const))('tells access, tag and codes of %s', (_, op) => {
    const { entry } = described.get(op.name) as { entry: Described };
    expect(entry['x-permission']).toBe(op.access);
    expect(entry.tags).toEqual([op.tag]);
    // An app may say who it is by HTTP Basic, or in the form.
    const takesBasic = op.protocol === 'oauth' && 'client_secret' in op.input;
    const open = takesBasic ? [{}, { client: [] }] : [];
    expect(entry.security).toEqual(op.access === 'public' ? open : [{ bearer: [] }]);
    expect(entry.summary).toBe(op.summary);
    const reported = Object.values(entry.responses).flatMap((response) => response['x-codes'] ?? []);
    expect(reported).toEqual(expect.arrayContaining([...(op.codes ?? []), ...impliedCodes(op)]));
    expect(new Set(reported).size).toBe(reported.length);
    for (const [status, response] of Object.entries(entry.responses)) {
      for (const code of response['x-codes'] ?? []) expect(catalogue[code].status, code).toBe(Number(status));
    }
  });

  /** Conventions §4, independently of how the document is built. */
  function impliedCodes(op: NamedOperation): Code[] {
    const withBody = ['POST', 'PATCH', 'PUT'].includes(op.method);
    const named = Object.keys(op.input);
    return [
      'INTERNAL_ERROR',
      'UNAVAILABLE',
      'VALIDATION_ERROR',
      ...(op.rate === 'exempt' ? [] : (['RATE_LIMITED'] as const)),
      ...(withBody ? (['PAYLOAD_TOO_LARGE'] as const) : []),
      ...(withBody && op.protocol !== 'authzen' ? (['UNSUPPORTED_MEDIA_TYPE'] as const) : []),
      ...(op.access === 'public' ? [] : (['UNAUTHENTICATED', 'MFA_REQUIRED'] as const)),
      ...(op.access.includes(':')
        ? ([
            'SCOPE_REQUIRED',
            ...(op.protocol === 'authzen' ? [] : (['SCOPE_CONFLICT'] as const)),
            'TENANT_NOT_ALLOWED',
            'FORBIDDEN',
            'EMAIL_VERIFICATION_REQUIRED',
          ] as const)
        : []),
      ...(named.includes('id') || named.includes('userId') ? (['NOT_FOUND'] as const) : []),
      ...(named.includes('cursor') ? (['INVALID_CURSOR'] as const) : []),
      ...(op.access === 'session' || op.sessionOnly || op.notForApps ? (['SESSION_REQUIRED'] as const) : []),
      ...(op.stepUp ? (['STEP_UP_REQUIRED'] as const) : []),
    ];
  }

  it('keeps the rules of OpenAPI 3.1', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info.title).not.toBe('');
    expect(document.info.version).not.toBe('');
    const tags = document.tags.map(({ name }) => name);
    expect(new Set(tags).size).toBe(tags.length);
    const shapes = Object.keys(document.paths).map((path) => path.replace(/\{[^}]+\}/g, '{}'));
    expect(new Set(shapes).size).toBe(shapes.length);
    for (const name of Object.keys(document.components.schemas)) expect(name).toMatch(/^[a-zA-Z0-9._-]+$/);
    for (const [id, { path, entry, method }] of described) {
      expect(path, id).toMatch(/^\/(?!.*\/$)/);
      expect(Object.keys(document.components.securitySchemes), id).toEqual(
        expect.arrayContaining((entry.security ?? []).flatMap((item) => Object.keys(item))),
      );
      for (const tag of entry.tags) expect(tags, id).toContain(tag);
      const parameters = entry.parameters ?? [];
      const places = parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
      expect(new Set(places).size, id).toBe(places.length);
      const inPath = parameters.filter((parameter) => parameter.in === 'path');
      expect(inPath.map(({ name }) => name).sort(), id).toEqual(
        [...path.matchAll(/\{([^}]+)\}/g)].map((m) => m[1]).sort(),
      );
      expect(
        inPath.every(({ required }) => required),
        id,
      ).toBe(true);
      for (const { schema, name } of parameters) expect(schema, `${id} ${name}`).toBeTypeOf('object');
      if (method === 'GET' || method === 'DELETE') expect(entry.requestBody, id).toBeUndefined();
      if (entry.requestBody) expect(Object.keys(entry.requestBody.content ?? {}), id).not.toEqual([]);
      expect(
        Object.keys(entry.responses).some((status) => /^[23]\d\d$/.test(status)),
        id,
      ).toBe(true);
      for (const [status, response] of Object.entries(entry.responses)) {
        expect(status, id).toMatch(/^[1-5](\d\d|XX)$/);
        expect(response.description, `${id} ${status}`).toBeTypeOf('string');
      }
    }
  });

  it('has only references that resolve, schemas that are used, and keywords of JSON Schema', () => {
    const resolved = (pointer: string) =>
      pointer
        .slice(2)
        .split('/')
        .reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], document);
    const types = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);
    (function walk(value: unknown, place: string): void {
      if (typeof value !== 'object' || value === null) return;
      for (const [key, member] of Object.entries(value)) {
        if (key === '$ref') {
          expect(resolved(String(member)), `${place}: ${String(member)}`).toBeTypeOf('object');
        }
        const isName = /\.(properties|securitySchemes\.\w+)$/.test(place);
        if (key === 'type' && typeof member === 'string' && !isName) {
          expect(types, `${place}.type`).toContain(member);
        }
        if ((key === 'nullable' || key === '$defs' || key === 'definitions') && !isName) {
          expect.fail(`${place}.${key} is no keyword of OpenAPI 3.1`);
        }
        // Values of examples are not schemas.
        if (key === 'example' || key === 'examples') continue;
        walk(member, `${place}.${key}`);
      }
    })(document, '$');
    const { schemas: named, parameters, responses, headers } = (JSON.parse(raw) as OpenApi).components;
    for (const [part, all] of Object.entries({ schemas: named, parameters, responses, headers })) {
      const unused = Object.keys(all).filter((name) => !raw.includes(`"#/components/${part}/${name}"`));
      expect(unused, part).toEqual([]);
    }
  });

  it('documents where the scope is sent', () => {
    for (const op of operations.filter(({ scoped }) => scoped)) {
      const { entry } = described.get(op.name) as { entry: Described };
      const inQuery = (entry.parameters ?? [])
        .filter((parameter) => parameter.in === 'query')
        .map(({ name }) => name);
      const body = entry.requestBody?.content?.['application/json']?.schema;
      if (op.protocol === 'forward-auth') {
        expect(inQuery, op.name).toEqual(Object.keys(op.input));
      } else if (op.protocol === 'authzen') {
        expect([inQuery, body?.properties?.['scope']], op.name).toEqual([[], undefined]);
        expect(entry.servers?.map(({ url }) => url)).toEqual([
          '/',
          '/org/{organizationId}/prj/{projectId}',
          '/acc/{accountId}/prj/{projectId}',
        ]);
      } else if (op.method === 'GET' || op.method === 'DELETE') {
        expect(inQuery, op.name).toEqual(expect.arrayContaining(['tenant', 'scopeId']));
      } else {
        expect(inQuery, op.name).toEqual([]);
        expect(body?.properties, op.name).toHaveProperty('scope');
        expect(body?.required?.includes('scope'), op.name).toBe(!op.scopeOptional);
      }
    }
  });
});

describe('an answer over REST', () => {
  const seen = new Set<string>();

  /** Every member is documented, every documented member is present, and every error has a documented code. */
  function expectDocumented(name: string, answer: Answer): Answer {
    const { entry } = described.get(name) as { entry: Described };
    const response = entry.responses[String(answer.status)] ?? entry.responses['2XX'];
    expect(response, `${name}: ${answer.status} is not documented: ${answer.body}`).toBeDefined();
    const schema = response?.content?.['application/json']?.schema;
    if (answer.status === 204) {
      expect([schema, answer.body], name).toEqual([undefined, '']);
      seen.add(name);
      return answer;
    }
    if (answer.status === 302 || answer.status === 303) {
      expect([schema, answer.body], name).toEqual([undefined, '']);
      expect(URL.canParse(String(answer.headers['location'])), name).toBe(true);
      seen.add(name);
      return answer;
    }
    if (answer.ok) expect(faultsOf(document, schema ?? {}, JSON.parse(answer.body)), name).toEqual([]);
    else {
      expect(faultsOf(document, schema ?? {}, JSON.parse(answer.body)), name).toEqual([]);
      expect(response?.['x-codes'], `${name}: ${answer.body}`).toContain(answer.code);
    }
    expect(answer.headers['content-type'], name).toBe('application/json; charset=utf-8');
    if (answer.ok) seen.add(name);
    return answer;
  }

  const call = async (name: string, input: unknown, token?: string, headers = {}) =>
    expectDocumented(name, await app.raw(name, input, { token, headers }));

  const families = operations.filter(
    (op) => op.status === 201 && op.access.endsWith(':Create') && !isOfInstallation(op),
  );

  it.each(families.flatMap((op) => (op.tenants ?? []).map((tenant) => [op.name, tenant, op] as const)))(
    '%s in %s and what follows is as documented',
    async (_, tenant, create) => {
      const { token } = owner.person;
      const { scope, rows } = owner.places[tenant];
      const noun = nounOf(create);
      const resource = rows['Resource']?.live[0];
      const roleId = rows['Role']?.live[0];
      const role = { roleId, ...(roleId && { roleIds: [roleId] }) };
      const linked = { ...role, serviceUserId: rows['User']?.live[0] };
      const existing = resource ? { ...linked, resourceId: resource, action: 'read' } : linked;
      const builtIn =
        create.name === 'createPermission' && !resource ? await builtInResource(scope, token) : {};
      const own = await domainFor(create, app, { scope, token });
      const fixed = { ...existing, ...builtIn, ...own };
      const made = await call(create.name, sampleInput(create, scope, fixed), token);
      expect(made.ok, made.body).toBe(true);
      const { id } = made.data as { id: string };
      const follow = (prefix: string) => {
        const name = prefix ? `${prefix}${noun}` : noun.charAt(0).toLowerCase() + noun.slice(1);
        return operations.find((op) => op.name === name && 'id' in op.input);
      };
      // The scope of the person is the parent of an organization.
      const home = noun === 'Organization' ? { tenant: 'organization', id } : scope;
      const list = listOf(noun);
      if (list?.tenants?.includes(tenant)) {
        const relations = list.input['relations'] ? { relations: relationsOf(list) } : {};
        const listed = await call(list.name, { scope, limit: 100, ...relations }, token);
        expect((listed.data as { items: { id: string }[] }).items.map((item) => item.id)).toContain(id);
        await call(list.name, { scope, limit: 1 }, token);
        await call(list.name, { scope, cursor: 'x' }, token);
      }
      const get = follow('');
      if (get) {
        const relations = get.input['relations'] ? { relations: relationsOf(get) } : {};
        const got = await call(get.name, { scope: home, id, ...relations }, token);
        expect(got.data).toMatchObject({ id });
        await call(get.name, { scope: home, id: randomUUID() }, token);
        await call(get.name, { scope: home, id: 'no-uuid' }, token);
      }
      const update = follow('update');
      if (update) {
        const change = { ['name' in update.input ? 'name' : 'description']: 'Renamed' };
        const updated = await call(update.name, { scope: home, id, ...change }, token);
        expect(updated.data).toMatchObject({ id, ...change });
      }
      const revoke = follow('revoke');
      if (revoke) {
        const reason = 'reason' in revoke.input ? { reason: 'test' } : {};
        const revoked = await call(revoke.name, { scope: home, id, ...reason }, token);
        expect(revoked.data).toMatchObject({ id, status: 'revoked' });
        expect((await call(revoke.name, { scope: home, id }, token)).code).toBe('INVALID_STATE');
      }
      const remove = follow('delete');
      if (remove) {
        const removed = await call(remove.name, { scope: home, id }, token);
        expect(removed.ok, removed.body).toBe(true);
        expect((removed.data as { deletedAt: unknown }).deletedAt).toBeTypeOf('string');
        expect((await call(remove.name, { scope: home, id }, token)).ok).toBe(false);
      }
      for (const op of [create, update, remove, get, list]) {
        if (op) expect((await call(op.name, sampleInput(op, scope))).code).toBe('UNAUTHENTICATED');
      }
    },
  );

  async function builtInResource(scope: unknown, token: string) {
    const { data } = await call('resources', { scope, isSystem: true, limit: 1 }, token);
    const [first] = (data as { items: { id: string; actions: string[] }[] }).items;
    return { resourceId: first?.id, action: first?.actions[0] };
  }

  function relationsOf(op: NamedOperation): unknown {
    const { entry } = described.get(op.name) as { entry: Described };
    return entry.parameters?.find(({ name }) => name === 'relations')?.schema?.items?.enum;
  }

  it('is as documented in signing in and out', async () => {
    const { email, password } = owner.person;
    const provider = { provider: 'email', providerId: email, providerData: { password } };
    const signIn = await call('login', provider);
    expect(signIn.ok, signIn.body).toBe(true);
    const { accessToken, refreshToken } = signIn.data as { accessToken: string; refreshToken: string };
    await call('login', { ...provider, providerData: { password: 'wrong' } });
    expect((await call('register', provider)).code).toBe('CONFLICT');
    const next = await call('refreshSession', { accessToken, refreshToken });
    expect(next.ok, next.body).toBe(true);
    expect((await call('me', {}, accessToken)).data).toMatchObject({ user: { email } });
    await call('resendVerification', { email });
    await call('verifyEmail', { token: 'no such token' });
    const { email: fresh } = await app.person({ verified: false });
    await call('verifyEmail', { token: await app.mailedToken(fresh) });
    expect((await call('logout', {}, accessToken)).data).toEqual({ revoked: 1 });
  });

  it('is as documented in changing and resetting a password', async () => {
    const { email, password, token } = await app.person();
    const input = { currentPassword: password, newPassword: `another ${password}` };
    expect((await call('changeMyPassword', input, token)).data).toEqual({ changed: true });
    expect((await call('changeMyPassword', input, token)).code).toBe('UNAUTHENTICATED');
    expect((await call('requestPasswordReset', { email })).status).toBe(202);
    const reset = { token: await app.mailedToken(email), newPassword: password };
    expect((await call('resetPassword', reset)).data).toEqual({ reset: true });
    expect((await call('resetPassword', reset)).code).toBe('INVALID_TOKEN');
  });

  it('is as documented in registering', async () => {
    const register = operations.find(({ name }) => name === 'register') as NamedOperation;
    const answer = await call('register', sampleInput(register));
    expect(answer.status).toBe(201);
  });

  it('is as documented in creating the first user', async () => {
    const fresh = await startOwnApp();
    const op = operations.find(({ name }) => name === 'createFirstUser') as NamedOperation;
    const input = { ...sampleInput(op), token: await fresh.app.issueFirstUserToken('here:4000') };
    const made = expectDocumented('createFirstUser', await fresh.raw('createFirstUser', input));
    expect(made.status).toBe(201);
    expect((await call('createFirstUser', input)).code).toBe('INVALID_TOKEN');
    await fresh.close();
  });

  it('is as documented in keys, tokens and decisions', async () => {
    const { token } = owner.person;
    for (const tenant of [
      'accountProject',
      'organizationProject',
      'projectUser',
    ] as const satisfies Tenant[]) {
      const { scope } = owner.places[tenant];
      const key = await app.must('createApiKey', { scope }, { token });
      const credentials = { clientId: key.clientId, scope: { tenant: pascalTenant(tenant), id: scope.id } };
      await call('exchangeApiKey', { ...credentials, clientSecret: key.clientSecret });
      await call('exchangeApiKey', { ...credentials, clientSecret: 'wrong' });
      await call('rotateApiKey', { scope, id: key.id }, token);
      for (const action of ['Create', 'Nothing']) {
        await call('isAuthorized', { scope, permission: { resource: 'Role', action } }, token);
      }
    }
    await call('isAuthorized', { permission: { resource: 'Role', action: 'Query' } }, owner.keyToken);
    await call('isAuthorized', { permission: { resource: 'Role', action: 'Query' } }, token);
    await call('isAuthorized', { permission: 'Role:Query' }, token);
    for (const permission of ['Role:Query', 'Role:Burn', 'none']) {
      await call('authCheck', { scope: owner.places.organization.scope, permission }, token);
    }
    await call('myPermissions', { scope: owner.places.organization.scope }, token);
    await call('myPermissions', {}, owner.keyToken);
    const { scope, rows } = owner.places.organization;
    for (const noun of ['Role', 'Group', 'Permission', 'User', 'Member']) {
      const ids = { id: rows[noun]?.live[0], userId: rows[noun]?.live[0] };
      for (const op of operations.filter((operation) => operation.dryRun && nounOf(operation) === noun)) {
        const existing = {
          resourceId: resourceIdOf('Role'),
          action: 'Query',
          roleId: rows['Role']?.live[0],
          ...ids,
        };
        const { status } = await call(op.name, { ...sampleInput(op, scope, existing), dryRun: true }, token);
        expect(status, op.name).toBe(op.name === 'deleteRole' ? 409 : 200);
      }
    }
    await call('myPermissions', {}, token);
    const questions = { items: [{ permission: { resource: 'Role', action: 'Query' } }] };
    await call('isAuthorizedBatch', questions, owner.keyToken);
    await call('isAuthorizedBatch', questions, token);
    const { scope: organization } = owner.places.organization;
    const whoCan = { scope: organization, permission: { resource: 'Role', action: 'Query' } };
    const first = await call('whoCan', { ...whoCan, limit: 1 }, token);
    expect(first.data).toMatchObject({ complete: false });
    await call('whoCan', { ...whoCan, cursor: 'x' }, token);
    for (const id of [owner.person.userId, randomUUID()])
      await call('userPermissions', { scope: organization, id }, token);
    await call('signingKeys', { scope: owner.places.accountProject.scope }, token);
    await call('auditLogs', { scope: owner.places.accountProject.scope }, token);
    await call('events', { scope: owner.places.organization.scope, includeProjects: true }, token);
    await call('events', { scope: owner.places.organization.scope, after: 'x' }, token);
    const ours = owner.places.organization.scope;
    const logo = { scope: ours, id: ours.id, file: 'R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAkQBADs=' };
    expect((await call('uploadOrganizationLogo', logo, token)).ok).toBe(true);
    const named = await call('createOrganizationDomain', { scope: ours, domain: 'api.example.test' }, token);
    const { id, record } = named.data as { id: string; record: { name: string; value: string } };
    const unproved = await call('verifyOrganizationDomain', { scope: ours, id }, token);
    expect(unproved.code).toBe('INVALID_STATE');
    app.records.set(record.name, [record.value]);
    expect((await call('verifyOrganizationDomain', { scope: ours, id }, token)).ok).toBe(true);
    const company = {
      name: 'Company',
      issuer: 'https://login.example.test',
      clientId: 'doorward',
      clientSecret: 'a secret',
      defaultRoleId: roleIdOf('Organization Viewer'),
    };
    const connection = await call(
      'createOrganizationConnection',
      { scope: ours, ...company, domainIds: [id] },
      token,
    );
    const connected = { scope: ours, id: (connection.data as { id: string }).id };
    await call('organizationConnection', connected, token);
    await call('testOrganizationConnection', connected, token);
    expect((await call('deleteOrganizationDomain', { scope: ours, id }, token)).code).toBe('IN_USE');
    await call('rotateSigningKey', { scope: owner.places.accountProject.scope }, token);
    for (const name of ['health', 'healthLive', 'healthReady', 'systemJwks', 'auditJwks', 'systemMetadata'])
      await call(name, {});
    const [accountId, projectId] = owner.places.accountProject.scope.id.split(':');
    const [organizationId, inOrganization] = owner.places.organizationProject.scope.id.split(':');
    await call('accountProjectJwks', { accountId, projectId });
    await call('accountProjectJwks', { accountId, projectId: inOrganization });
    await call('organizationProjectJwks', { organizationId, projectId: inOrganization });
    await call('authzenMetadata', {});
    await call('accountProjectAuthzenMetadata', { accountId, projectId });
    await call('accountProjectAuthzenMetadata', { accountId, projectId: 'x' });
    await call('organizationProjectAuthzenMetadata', { organizationId, projectId });
    const question = {
      scope: owner.places.organizationProject.scope,
      subject: { type: 'user', id: owner.person.userId },
      action: { name: 'Query' },
      resource: { type: 'Role', id: 'x' },
    };
    await call('authzenEvaluation', question, token);
    await call('authzenEvaluation', { ...question, scope: undefined }, token);
    await call('authzenEvaluation', { ...question, resource: 1 }, token);
    await call('authzenEvaluations', question, token);
    await call('authzenEvaluations', { ...question, evaluations: [{}, { resource: 1 }] }, token);
    for (const name of ['authzenSubjectSearch', 'authzenActionSearch']) {
      await call(name, question, token);
      await call(name, { ...question, page: { token: 'x' } }, token);
    }
  });

  it('is as documented in inviting', async () => {
    const { token } = owner.person;
    const { scope } = owner.places.organization;
    const roleId = roleIdOf('Organization Viewer');
    const person = await app.person();
    const invited = async (email: string) => {
      const made = await call('inviteMember', { scope, email, roleId }, token);
      return (made.data as { id: string }).id;
    };
    const id = await invited(person.email);
    await call('inviteMember', { scope, email: person.email, roleId }, token);
    await call('resendInvitation', { scope, id }, token);
    await call('renewInvitation', { scope, id }, token);
    const mailed = { token: await app.mailedToken(person.email) };
    expect((await call('invitation', mailed)).data).toMatchObject({ status: 'pending', registered: true });
    await call('invitation', { token: 'no such token' });
    for (const other of [undefined, token, owner.keyToken]) {
      expect((await call('acceptInvitation', mailed, other)).ok).toBe(false);
    }
    expect((await call('acceptInvitation', mailed, person.token)).data).toMatchObject({ signIn: null });
    for (const name of ['resendInvitation', 'renewInvitation', 'revokeInvitation']) {
      expect((await call(name, { scope, id }, token)).code).toBe('INVALID_STATE');
    }
    const email = `${randomUUID()}@example.test`;
    await invited(email);
    const registration = { name: 'Ada', password: `correct horse ${randomUUID()}` };
    const newcomer = { token: await app.mailedToken(email), registration };
    expect((await call('acceptInvitation', newcomer)).data).toMatchObject({ isNewUser: true });
    expect((await call('acceptInvitation', newcomer)).code).toBe('INVALID_STATE');
  });

  it('is as documented in members', async () => {
    const { token } = owner.person;
    const { scope } = owner.places.organization;
    const { userId } = await member(app, scope.id, 'Organization Viewer');
    const listed = await call('organizationMembers', { scope }, token);
    expect((listed.data as { items: { id: string }[] }).items.map(({ id }) => id)).toContain(userId);
    const roleId = roleIdOf('Organization Developer');
    for (const _ of ['changed', 'unchanged']) {
      const { data } = await call('updateOrganizationMember', { scope, userId, roleId }, token);
      expect(data).toMatchObject({ id: userId, roleId, user: { id: userId }, role: { id: roleId } });
    }
    const removed = await call('removeOrganizationMember', { scope, userId }, token);
    expect(removed.data).toMatchObject({ id: userId, roleId });
    expect((await call('removeOrganizationMember', { scope, userId }, token)).code).toBe('NOT_FOUND');
  });

  it('is as documented in operations about the caller', async () => {
    const { token } = await app.person();
    const sessions = await call('myUserSessions', {}, token);
    const { id } = (sessions.data as { items: [{ id: string }] }).items[0];
    await call('myUserSessions', { cursor: 'x' }, token);
    await call('updateMe', { name: 'Ada', locale: 'de' }, token);
    await call('updateMe', { pictureUrl: 'https://example.test/ada.png' }, token);
    expect((await call('createMyAccount', {}, token)).status).toBe(201);
    expect((await call('createMyAccount', {}, token)).code).toBe('CONFLICT');
    await call('myAppGrants', { cursor: 'x' }, token);
    const address = { provider: 'email', providerId: `${randomUUID()}@example.test` };
    const method = (await call('addMyAuthenticationMethod', address, token)).data as { id: string };
    expect((await call('addMyAuthenticationMethod', address, token)).code).toBe('CONFLICT');
    const methods = (await call('myAuthenticationMethods', {}, token)).data as { items: { id: string }[] };
    expect(methods.items).toHaveLength(2);
    await call('removeMyAuthenticationMethod', { id: method.id }, token);
    const last = await call('removeMyAuthenticationMethod', { id: methods.items[0]?.id }, token);
    expect(last.code).toBe('LAST_SIGN_IN_METHOD');
    await call('revokeMyUserSession', { id: randomUUID() }, token);
    await call('revokeMyUserSession', { id }, token);
    const leaving = await app.person();
    await call('exportMe', {}, leaving.token);
    expect((await call('deleteMe', {}, leaving.token)).data).toMatchObject({ id: leaving.userId });
  });

  it('is as documented in enrolling a second factor', async () => {
    const { token } = await app.person();
    const created = await call('createMfaFactor', {}, token);
    const { factor, secret } = created.data as { factor: { id: string }; secret: string };
    const { id } = factor;
    const code = codeShown(secret, app.clock.now());
    const verified = await call('verifyMfaFactor', { id, code }, token);
    expect((verified.data as { recoveryCodes: string[] }).recoveryCodes).toHaveLength(10);
    expect((await call('verifyMfa', { code }, token)).code).toBe('UNAUTHENTICATED');
    const next = codeShown(secret, app.clock.now(), 1);
    expect((await call('verifyMfa', { code: next }, token)).data).toMatchObject({ mfaVerified: true });
    expect((await call('regenerateMfaRecoveryCodes', {}, token)).ok).toBe(true);
    expect((await call('myMfa', {}, token)).data).toMatchObject({ enabled: true, recoveryCodesLeft: 10 });
    expect((await call('deleteMfaFactor', { id }, token)).data).toMatchObject({ id });
    expect((await call('regenerateMfaRecoveryCodes', {}, token)).code).toBe('INVALID_STATE');
  });

  it('is as documented in adding and using a passkey', async () => {
    const { token } = await app.person();
    type Begun = { challengeId: string; publicKey: { challenge: string } };
    const begin = async (name: string, as?: string) => (await call(name, {}, as)).data as Begun;
    const device = new PasskeyDevice();
    const { challengeId, publicKey } = await begin('createPasskeyOptions', token);
    const sent = { challengeId, credential: device.create(publicKey) };
    const created = await call('createPasskey', sent, token);
    const { passkey } = created.data as { passkey: { id: string } };
    expect((await call('createPasskey', sent, token)).code).toBe('INVALID_TOKEN');
    expect((await call('myPasskeys', {}, token)).data).toMatchObject({ items: [passkey] });
    expect((await call('updateMyPasskey', { id: passkey.id, name: 'Key' }, token)).ok).toBe(true);
    const begun = await begin('passkeyOptions');
    const used = { challengeId: begun.challengeId, credential: device.get(begun.publicKey) };
    expect((await call('signInWithPasskey', used)).data).toMatchObject({ mfaRequired: false });
    expect((await call('signInWithPasskey', used)).code).toBe('UNAUTHENTICATED');
    expect((await call('deleteMyPasskey', { id: passkey.id }, token)).ok).toBe(true);
  });

  it('is as documented in signing in through a provider', async () => {
    expect((await call('signInProviders', {})).data).toMatchObject({
      items: [{ key: 'github' }, { key: 'acme' }],
    });
    provider.person = provider.newPerson();
    const { headers, cookies } = await call('startProviderSignIn', { key: 'acme' });
    const { searchParams } = new URL(await provider.visit(String(headers['location'])));
    const back = { key: 'acme', ...Object.fromEntries(searchParams) };
    const cookie = `doorward_flow=${cookies[0]?.value}`;
    expect((await call('finishProviderSignIn', back)).code).toBe('INVALID_TOKEN');
    expect((await call('finishProviderSignIn', back, undefined, { cookie })).status).toBe(303);
    expect((await call('startProviderSignIn', { key: 'unknown' })).code).toBe('PROVIDER_NOT_CONFIGURED');
  });

  it('is as documented in signing in through the provider of an organization', async () => {
    const { connectionId: id, domain } = await connected(app, provider);
    provider.person = provider.newPerson({ email: `grace@${domain}` });
    const begun = await call('startSignIn', { redirect: 'http://localhost:4000/' });
    const headers = { cookie: `doorward_flow=${begun.cookies[0]?.value}`, origin: 'http://localhost:4000' };
    expect((await call('startConnection', { id })).code).toBe('INVALID_TOKEN');
    await call('identifyInFlow', { email: `grace@${domain}` }, undefined, headers);
    const led = await call('startConnection', { id }, undefined, headers);
    const { searchParams } = new URL(await provider.visit(String(led.headers['location'])));
    const back = { id, ...Object.fromEntries(searchParams) };
    expect((await call('finishConnection', back)).code).toBe('INVALID_TOKEN');
    expect((await call('finishConnection', back, undefined, headers)).status).toBe(303);
    const unknown = await call('finishConnection', { ...back, id: randomUUID() }, undefined, headers);
    expect(unknown.ok).toBe(false);
  });

  it('is as documented in signing in with GitHub', async () => {
    github.account = github.newAccount();
    const begin = async (more = {}) => {
      const { headers, cookies } = await call('startGithubSignIn', more);
      const { searchParams } = new URL(await github.visit(String(headers['location'])));
      return { back: Object.fromEntries(searchParams), cookie: `doorward_flow=${cookies[0]?.value}` };
    };
    const { back, cookie } = await begin();
    expect((await call('finishGithubSignIn', back)).code).toBe('INVALID_TOKEN');
    expect((await call('finishGithubSignIn', back, undefined, { cookie })).status).toBe(303);
    expect((await call('startGithubSignIn', { redirect: 'https://evil.test' })).code).toBe(
      'INVALID_REDIRECT_URI',
    );
    const browser = visitor(app.server);
    browser.cookies.set('doorward_refresh', (await app.person()).refreshToken);
    github.account = github.newAccount();
    await browser.signIn(github, { action: 'connect' });
    const { body } = await browser.get('/hosted/connect-provider');
    const confirm = { decision: 'approve', formToken: /name="formToken" value="([^"]+)"/.exec(body)?.[1] };
    const held = { cookie: [...browser.cookies].map((pair) => pair.join('=')).join('; ') };
    const connect = (headers: Record<string, string>) =>
      call('confirmProviderConnection', confirm, undefined, headers);
    expect((await connect(held)).code).toBe('ORIGIN_NOT_ALLOWED');
    expect((await connect({})).code).toBe('INVALID_TOKEN');
    expect((await connect({ ...held, origin: 'http://localhost:4000' })).status).toBe(303);
  });

  it('is as documented in notifications', async () => {
    const { token, password } = await app.person();
    await call('changeMyPassword', { currentPassword: password, newPassword: `${password}!` }, token);
    await app.app.flushMails();
    const page = (await call('myNotifications', {}, token)).data as { items: [{ id: string }] };
    const { id } = page.items[0];
    expect((await call('markMyNotificationRead', { id }, token)).data).toMatchObject({ id });
    await call('markMyNotificationRead', { id: randomUUID() }, token);
    expect((await call('markAllMyNotificationsRead', {}, token)).data).toEqual({ updated: 0 });
    await call('myNotificationPreferences', {}, token);
    const choice = { type: 'mfa_changed', channel: 'email', enabled: true };
    expect((await call('setMyNotificationPreference', choice, token)).data).toMatchObject(choice);
    await call('setMyNotificationPreference', { ...choice, enabled: false }, token);
  });

  it('is as documented in pictures', async () => {
    const { token } = await app.person();
    const file = 'R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAkQBADs=';
    const { data } = await call('uploadMyPicture', { file }, token);
    await call('uploadMyPicture', { file: 'PHN2Zy8+' }, token);
    await call('picture', { name: 'none' });
    const answer = await app.server.inject(new URL((data as { pictureUrl: string }).pictureUrl).pathname);
    const { content } = described.get('picture')?.entry.responses['200'] ?? {};
    expect(Object.keys(content ?? {})).toEqual(['image/*']);
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'image/gif']);
    seen.add('picture');
  });

  it('is as documented in policy snapshots', async () => {
    const { scope } = owner.places.accountProject;
    const inputs = { policySnapshot: { scope }, policySnapshotChanges: { scope, since: 'v0' } };
    for (const [name, input] of Object.entries(inputs)) {
      const answer = await app.raw(name, input, { token: owner.person.token });
      const { content } = described.get(name)?.entry.responses['200'] ?? {};
      expect([answer.status, answer.headers['content-type']]).toEqual([200, Object.keys(content ?? {})[0]]);
      await call(name, { ...input, users: ['all', 'none'] }, owner.person.token);
      seen.add(name);
    }
  });

  it('is as documented in exporting the audit log', async () => {
    const { scope } = owner.places.accountProject;
    const { content } = described.get('exportAuditLogs')?.entry.responses['200'] ?? {};
    const types: string[] = [];
    for (const format of ['ndjson', 'csv']) {
      const answer = await app.raw('exportAuditLogs', { scope, format }, { token: owner.person.token });
      types.push(String(answer.headers['content-type']).split(';')[0] ?? '');
    }
    expect(types).toEqual(Object.keys(content ?? {}));
    await call('exportAuditLogs', { scope, format: 'xml' }, owner.person.token);
    seen.add('exportAuditLogs');
  });

  it('is as documented in signing in from a command line', async () => {
    github.account = github.newAccount();
    const codeVerifier = 'v'.repeat(43);
    const requested = {
      redirect: 'http://127.0.0.1:8976/',
      state: 'of-the-command-line',
      code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
      code_challenge_method: 'S256',
    };
    expect((await call('startGithubSignIn', { ...requested, state: undefined })).code).toBe(
      'VALIDATION_ERROR',
    );
    const browser = visitor(app.server);
    await browser.signIn(github, requested);
    const { body } = await browser.get('/hosted/cli-sign-in');
    const formToken = /name="formToken" value="([^"]+)"/.exec(body)?.[1];
    const confirm = { decision: 'approve', formToken };
    const cookie = `doorward_flow=${browser.cookies.get('doorward_flow')}`;
    expect((await call('confirmCliSignIn', confirm, undefined, { cookie })).code).toBe('ORIGIN_NOT_ALLOWED');
    expect((await call('confirmCliSignIn', confirm)).code).toBe('INVALID_TOKEN');
    const headers = { cookie, origin: 'http://localhost:4000' };
    const confirmed = await call('confirmCliSignIn', confirm, undefined, headers);
    const code = new URL(String(confirmed.headers['location'])).searchParams.get('code');
    expect((await call('exchangeCliCode', { code, codeVerifier })).ok).toBe(true);
    expect((await call('exchangeCliCode', { code, codeVerifier })).code).toBe('INVALID_TOKEN');
    const { deviceCode } = (await call('startDeviceSignIn', {})).data as { deviceCode: string };
    expect((await call('exchangeDeviceCode', { deviceCode })).ok).toBe(true);
    await call('exchangeDeviceCode', { deviceCode: 'x' });
  });

  it('is as documented of project apps', async () => {
    const { token } = owner.person;
    const { scope } = owner.places.accountProject;
    const app = { scope, name: 'App', redirectUris: ['https://app.example.test/callback'] };
    const refused = { ...app, redirectUris: ['https://*.example.test/'] };
    expect((await call('createProjectApp', refused, token)).code).toBe('VALIDATION_ERROR');
    for (const confidential of [true, false]) {
      const made = await call('createProjectApp', { ...app, confidential, scopes: ['Role:Query'] }, token);
      const { id } = made.data as { id: string };
      const rotated = await call('rotateProjectAppSecret', { scope, id }, token);
      expect(rotated.code).toBe(confidential ? null : 'INVALID_STATE');
      expect((await call('updateProjectApp', { scope, id, scopes: null }, token)).ok).toBe(true);
      const logo = { scope, id, file: 'R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAkQBADs=' };
      expect((await call('uploadProjectAppLogo', logo, token)).ok).toBe(true);
    }
  });

  it('is as documented in webhooks', async () => {
    const { token } = owner.person;
    const { scope } = owner.places.accountProject;
    const url = 'https://hooks.example.test/';
    const refused = { scope, url: 'http://hooks.example.test/', eventTypes: ['*'] };
    expect((await call('createWebhookSubscription', refused, token)).code).toBe('WEBHOOK_URL_NOT_ALLOWED');
    const made = await call('createWebhookSubscription', { scope, url, eventTypes: ['*'] }, token);
    const { id } = made.data as { id: string };
    expect((await call('rotateWebhookSecret', { scope, id }, token)).ok).toBe(true);
    expect((await call('rotateWebhookSecret', { scope, id }, token)).code).toBe('ROTATION_IN_PROGRESS');
    const sent = await call('testWebhookSubscription', { scope, id }, token);
    const { id: deliveryId } = sent.data as { id: string };
    const replayed = await call('replayWebhookDelivery', { scope, id: deliveryId }, token);
    expect(replayed.data).toMatchObject({ id: deliveryId, status: 'pending' });
    expect((await call('deleteWebhookSubscription', { scope, id }, token)).ok).toBe(true);
    const relations = ['attempts'];
    const listed = await call('webhookDeliveries', { scope, subscriptionId: id, relations }, token);
    expect(listed.data).toMatchObject({ items: [{ status: 'cancelled' }] });
    expect((await call('replayWebhookDelivery', { scope, id: deliveryId }, token)).code).toBe(
      'INVALID_STATE',
    );
  });

  it('is as documented in policies of a project', async () => {
    const { person } = owner;
    const { id, scope } = await app.must('createProject', { scope: person.account, name: 'P' }, person);
    const policy = { version: 1, roles: { Clerk: { groups: ['Role: Query'] } } };
    const at = { scope, id };
    await call('planPolicy', { ...at, policy }, person.token);
    await call('planPolicy', { ...at, policy: { version: 2 } }, person.token);
    const { data } = await call('applyPolicy', { ...at, policy }, person.token);
    const { version: ifVersion } = data as { version: string };
    await call('applyPolicy', { ...at, policy }, person.token);
    await call('applyPolicy', { ...at, policy, ifVersion }, person.token);
    await call('rollbackPolicy', { ...at, number: 1, ifVersion }, person.token);
    await call('rollbackPolicy', { ...at, number: 2, ifVersion }, person.token);
    for (const name of ['policy', 'policyVersions']) await call(name, at, person.token);
    await call('policyVersion', { ...at, number: 1 }, person.token);
    await call('policyVersion', { ...at, number: 2 }, person.token);
    await call('policyDiff', { ...at, from: '1', to: 'current' }, person.token);
    await call('policySchema', {});
  });

  it('is as documented in grants of a project', async () => {
    const { person, places } = owner;
    const { scope } = await app.must('createProject', { scope: person.account, name: 'P' }, person);
    const role = await app.must('createRole', { scope, name: 'Granted' }, person);
    const customer = places.organization.scope;
    const offer = async () => {
      const email = `${unique()}@example.test`;
      const made = await call(
        'createProjectGrant',
        { scope, email, name: 'N', roleIds: [role.id] },
        person.token,
      );
      const { id } = made.data as { id: string };
      return { id, token: await app.mailedToken(email) };
    };
    const declined = await offer();
    await call('projectGrantOffer', { token: declined.token });
    await call('projectGrantOffer', { token: 'unknown' });
    await call('declineProjectGrant', { scope: customer, token: declined.token }, person.token);
    const resent = await offer();
    await call('resendProjectGrant', { scope, id: resent.id }, person.token);
    const { id, token } = await offer();
    await call('acceptProjectGrant', { scope: customer, token }, person.token);
    await call('acceptProjectGrant', { scope: customer, token }, person.token);
    const slice = { tenant: 'organizationProject' as const, id: `${customer.id}:${scope.id.split(':')[1]}` };
    await call(
      'createUser',
      { scope: slice, userId: person.userId, roleIds: [role.id], metadata: {} },
      person.token,
    );
    for (const name of ['projectGrants', 'projectGrant', 'projectGrantUsers'])
      await call(name, { scope, ...(name === 'projectGrants' ? {} : { id }) }, person.token);
    await call('projectGrantUsers', { scope, id, cursor: 'x' }, person.token);
    await call('updateProjectGrant', { scope, id, name: 'M' }, person.token);
    for (const name of ['suspendProjectGrant', 'suspendProjectGrant', 'resumeProjectGrant'])
      await call(name, { scope, id }, person.token);
    await call('organizationGrants', { scope: customer }, person.token);
    await call('organizationGrant', { scope: customer, id }, person.token);
    await call('leaveProjectGrant', { scope: customer, id }, person.token);
    await call('leaveProjectGrant', { scope: customer, id }, person.token);
    const atOnce = { scope, organizationId: customer.id, name: 'N', roleIds: [role.id] };
    const made = await call('createProjectGrant', atOnce, person.token);
    await call('createProjectGrant', atOnce, person.token);
    const last = { scope, id: (made.data as { id: string }).id };
    await call('revokeProjectGrant', last, person.token);
    await call('revokeProjectGrant', last, person.token);
  });

  it('is as documented in types of events, and every event of these calls is valid by them', async () => {
    const { data } = await call('eventTypes', { limit: 100 });
    const { items } = data as { items: { name: string; schema: JsonSchema }[] };
    await call('eventTypes', { cursor: 'x' });
    const types = new Map(items.map((item) => [item.name, item.schema]));
    const rows = await app.database.pool.select({ type: events.type, body: events.body }).from(events);
    for (const { type, body } of rows) {
      expect(dataFaults(types.get(type) ?? {}, (body as { data: unknown }).data), type).toEqual([]);
    }
    const silent = items.map(({ name }) => name).filter((name) => !rows.some(({ type }) => type === name));
    // Most have the data of types that were heard: of a key, of taking part in a project, and of a session.
    expect(silent.sort()).toEqual([
      'api_key.expiring',
      'impersonation.ended',
      'impersonation.entered',
      'impersonation.started',
      'organization.reactivated',
      'organization.suspended',
      'organization_connection.bypassed',
      'organization_domain.lapsed',
      'project.user_roles_changed',
      'session.reuse_detected',
      'user.reactivated',
      'user.suspended',
      'webhook.disabled',
      'webhook.failing',
      'webhook.ping',
      'webhook.recovered',
    ]);
  });

  it('is as documented in calls of an app without a user', async () => {
    const { person, places } = owner;
    const { scope } = places.accountProject;
    const redirectUri = 'https://app.example/callback';
    const fields = { scope, name: 'Documented', redirectUris: [redirectUri] };
    const made = await app.must('createProjectApp', fields, { token: person.token });
    const code_verifier = newVerifier();
    const challenge = challengeOf(code_verifier);
    const { userId } = person;
    const code = await consented(app, { appId: made.id, userId, redirectUri, challenge, scopes: [] });
    const client_id = made.clientId;
    const sent = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier };
    await call('projectToken', sent);
    await call('projectToken', { ...sent, client_id, client_secret: 'x' });
    const first = await call('projectToken', { ...sent, client_id });
    const { refreshToken: refresh_token } = first.data as { refreshToken: string };
    const next = await call('projectToken', { grant_type: 'refresh_token', refresh_token, client_id });
    const { accessToken, refreshToken } = next.data as { accessToken: string; refreshToken: string };
    await call('projectToken', { grant_type: 'refresh_token', refresh_token: 'x', client_id });
    await call('projectUserInfo', {}, accessToken);
    await call('projectUserInfo', {}, person.token);
    await call('projectUserInfo', {});
    await call('projectUserInfoByPost', {}, accessToken);
    await call('projectUserInfoByPost', {}, person.token);
    const keeper = { ...fields, name: 'Keeper', confidential: true };
    const asked = await app.must('createProjectApp', keeper, { token: person.token });
    const asking = { client_id: asked.clientId, client_secret: asked.clientSecret };
    expect((await call('introspectProjectToken', { token: accessToken, ...asking })).data).toMatchObject({
      active: true,
    });
    await call('introspectProjectToken', { token: 'x', ...asking });
    await call('introspectProjectToken', { token: accessToken, client_id });
    const { data: waiting } = await call('authorizeProjectDevice', { client_id });
    await call('authorizeProjectDevice', { client_id, client_secret: 'x' });
    const device_code = (waiting as { device_code: string }).device_code;
    const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
    await call('projectToken', { grant_type, device_code, client_id });
    const own = { origin: 'http://localhost:4000' };
    const { user_code } = waiting as { user_code: string };
    await call('enterProjectDeviceCode', { user_code }, undefined, own);
    await call('enterProjectDeviceCode', { user_code: 'x' }, undefined, own);
    await answersForms(client_id, refreshToken);
    await call('revokeProjectToken', { token: refreshToken, client_id, client_secret: 'x' });
    await call('revokeProjectToken', { token: refreshToken, client_id });
    const ids = (tenant: 'accountProject' | 'organizationProject') => places[tenant].scope.id.split(':');
    const [accountId, projectId] = ids('accountProject');
    const [organizationId, otherId] = ids('organizationProject');
    for (const suffix of ['', 'BelowIssuer']) {
      await call(`accountProjectMetadata${suffix}`, { accountId, projectId });
      await call(`accountProjectMetadata${suffix}`, { accountId, projectId: randomUUID() });
      await call(`organizationProjectMetadata${suffix}`, { organizationId, projectId: otherId });
      await call(`organizationProjectMetadata${suffix}`, { organizationId, projectId });
    }
    for (const suffix of ['', 'AboveIssuer']) {
      await call(`accountProjectOpenidConfiguration${suffix}`, { accountId, projectId });
      await call(`organizationProjectOpenidConfiguration${suffix}`, {
        organizationId,
        projectId: otherId,
      });
    }
  });

  /** In the words of RFC 6749, to a client that names itself in the form or by HTTP Basic. */
  async function answersForms(clientId: string, token: string): Promise<void> {
    const post = async (name: string, fields: Record<string, string>, headers = {}) => {
      const { path, entry } = described.get(name) as { path: string; entry: Described };
      const answer = await app.server.inject({
        method: 'POST',
        url: path,
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        payload: new URLSearchParams(fields).toString(),
      });
      const schema = entry.responses[String(answer.statusCode)]?.content?.['application/json']?.schema ?? {};
      const [ofJson, ofForm] = schema.anyOf ?? [];
      expect(faultsOf(document, ofForm ?? {}, answer.json()), `${name}: ${answer.body}`).toEqual([]);
      expect(faultsOf(document, ofJson ?? {}, answer.json()), name).not.toEqual([]);
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
      return answer;
    };
    const form =
      described.get('projectToken')?.entry.requestBody?.content?.['application/x-www-form-urlencoded'];
    expect(form?.schema.required).toEqual(['grant_type']);
    const basic = { authorization: `Basic ${Buffer.from(`${clientId}:`).toString('base64')}` };
    const renewal = { grant_type: 'refresh_token', refresh_token: token };
    expect((await post('projectToken', { ...renewal, refresh_token: 'x' }, basic)).statusCode).toBe(400);
    const forged = { authorization: `Basic ${Buffer.from(`${clientId}:x`).toString('base64')}` };
    expect((await post('projectToken', renewal, forged)).statusCode).toBe(401);
    const renewed = await post('projectToken', renewal, basic);
    expect(renewed.statusCode).toBe(200);
    const { refresh_token } = renewed.json<{ refresh_token: string }>();
    expect((await post('revokeProjectToken', { token: refresh_token }, basic)).body).toBe('{}');
  }

  it('is as documented for each way to sign in to an app', async () => {
    const { scope } = owner.places.accountProject;
    const redirectUri = 'https://app.example/callback';
    const fields = {
      ...{
        scope,
        name: 'Every way',
        redirectUris: [redirectUri],
        enabledProviders: ['password', 'email', 'passkey'],
      },
      ...{ allowSignUp: true, signUpRoleId: roleIdOf('Project Viewer') },
    };
    const made = await app.must('createProjectApp', fields as never, { token: owner.person.token });
    const { clientId: client_id } = made as unknown as { clientId: string };
    /** A browser with a new sign-in. */
    const begin = async () => {
      const pkce = { code_challenge: challengeOf(newVerifier()), code_challenge_method: 'S256' };
      const request = { client_id, redirect_uri: redirectUri, ...pkce, response_type: 'code' };
      const begun = await call('authorizeProjectSignIn', request);
      const cookie = `doorward_flow=${begun.cookies.find(({ name }) => name === 'doorward_flow')?.value}`;
      return (name: string, input: object) =>
        call(name, input, undefined, { cookie, origin: 'http://localhost:4000' });
    };
    const { email, password, token } = await app.person();
    const newPassword = 'four green kettles sing';
    const device = new PasskeyDevice();
    const creation = await app.must('createPasskeyOptions', {}, { token });
    const registered = { challengeId: creation.challengeId, credential: device.create(creation.publicKey) };
    await app.must('createPasskey', registered, { token });
    /** The answer of the device in this sign-in. */
    const passkeyIn = async (flow: Awaited<ReturnType<typeof begin>>, userPresent = true) => {
      const { challengeId, publicKey } = (await flow('flowPasskeyOptions', {})).data as {
        challengeId: string;
        publicKey: { challenge: string };
      };
      return { challengeId, credential: device.get(publicKey, { userPresent }) };
    };
    const byPasskey = await begin();
    expect((await byPasskey('giveFlowPasskey', await passkeyIn(byPasskey, false))).code).toBe(
      'UNAUTHENTICATED',
    );
    expect((await byPasskey('giveFlowPasskey', await passkeyIn(byPasskey))).status).toBe(303);
    const { factor, secret } = await app.must('createMfaFactor', {}, { token });
    const sixDigits = codeShown(secret, app.clock.now());
    await app.must('verifyMfaFactor', { id: factor.id, code: sixDigits }, { token });
    const atFactor = await begin();
    await atFactor('giveFlowPassword', { email, password });
    const passkey = await passkeyIn(atFactor);
    expect((await atFactor('giveFlowSecondFactor', { code: '000000' })).code).toBe('UNAUTHENTICATED');
    expect((await atFactor('giveFlowSecondFactor', { passkey })).status).toBe(303);
    const step = await begin();
    await step('identifyInFlow', { email: 'none' });
    expect((await step('identifyInFlow', { email })).status).toBe(303);
    expect((await step('giveFlowPassword', { email, password: 'x' })).code).toBe('UNAUTHENTICATED');
    expect((await step('giveFlowPassword', { email, password })).status).toBe(303);
    const signUp = await begin();
    const address = 'new-here@example.test';
    await signUp('signUpInFlow', { email: address, name: 'Ada', password: 'short' });
    expect((await signUp('signUpInFlow', { email: address, name: 'Ada', password })).status).toBe(202);
    expect((await signUp('enterMailedCode', { code: '12345' })).code).toBe('UNAUTHENTICATED');
    expect((await signUp('enterMailedCode', { code: await app.mailedCode(address) })).status).toBe(303);
    const reset = await begin();
    expect((await reset('requestFlowReset', { email })).status).toBe(202);
    expect((await reset('resetFlowPassword', { code: '12345', newPassword })).code).toBe('UNAUTHENTICATED');
    const code = await app.mailedCode(email);
    expect((await reset('resetFlowPassword', { code, newPassword })).status).toBe(303);
    expect((await reset('chooseProjectOrganization', {})).code).toBe('INVALID_TOKEN');
    // Their success needs a user without a factor, and a page that shows its secret: enrolment.test.ts has it.
    for (const name of ['addProjectSecondFactor', 'confirmProjectRecoveryCodes'] as const) {
      expect((await reset(name, {})).code).toBe('INVALID_TOKEN');
      seen.add(name);
    }
    // Its success needs a user of several organizations: organization.test.ts has it.
    seen.add('chooseProjectOrganization');
  });

  it('is as documented for a client that registers itself', async () => {
    const { scope } = owner.places.accountProject;
    const as = { token: owner.person.token };
    const [, projectId = ''] = scope.id.split(':');
    await app.must('updateProject', { scope, id: projectId, dynamicRegistration: 'token' }, as);
    const { clientId, clientSecret, scope: place } = await app.must('createApiKey', { scope }, as);
    const exchange = { clientId, clientSecret: clientSecret ?? '', scope: place };
    const { accessToken } = await app.must('exchangeApiKey', exchange);
    const metadata = { redirect_uris: ['https://client.example/callback'], client_name: 'Notes' };
    const made = await call('registerProjectClient', metadata, accessToken);
    expect(made.ok, made.body).toBe(true);
    const bearer = (JSON.parse(made.body) as { registration_access_token: string }).registration_access_token;
    const client = { client: (JSON.parse(made.body) as { client_id: string }).client_id };
    expect((await call('projectClientRegistration', client, bearer)).ok).toBe(true);
    expect((await call('deleteProjectClientRegistration', client, bearer)).status).toBe(204);
  });

  it('is as documented in each step of a sign-in to an app', async () => {
    const { token, email } = await app.person();
    const { places } = owner;
    const { scope } = places.accountProject;
    const redirectUri = 'https://app.example/callback';
    const asOwner = { token: owner.person.token };
    const enabledProviders: ('email' | 'github')[] = ['email', 'github'];
    const signUp = { allowSignUp: true, signUpRoleId: roleIdOf('Project Viewer') };
    const ways = { enabledProviders, identityProviders: ['acme'] };
    const fields = { scope, name: 'Stepwise', redirectUris: [redirectUri], ...ways, ...signUp };
    const made = await app.must('createProjectApp', fields, asOwner);
    const { factor, secret } = await app.must('createMfaFactor', {}, { token });
    const sixDigits = codeShown(secret, app.clock.now());
    const verified = await app.must('verifyMfaFactor', { id: factor.id, code: sixDigits }, { token });

    const client = { client_id: made.clientId, redirect_uri: redirectUri };
    await call('startSignIn', {});
    await call('startSignIn', { redirect: 'https://evil.test' });
    const cli = {
      redirect: 'http://127.0.0.1:8976/',
      state: 'some-state',
      code_challenge: challengeOf(newVerifier()),
      code_challenge_method: 'S256',
    };
    await call('startCliSignIn', cli);
    await call('startCliSignIn', { ...cli, redirect: 'https://evil.test' });
    await call('projectAppInfo', client);
    await call('projectAppInfo', { ...client, redirect_uri: 'https://evil.test' });
    const pkce = { code_challenge: challengeOf(newVerifier()), code_challenge_method: 'S256' };
    const request = { ...client, ...pkce, response_type: 'code', state: 'some state' };
    await call('authorizeProjectSignIn', { ...request, redirect_uri: 'https://evil.test' });
    await call('authorizeProjectSignInByPost', request);
    const begun = await call('authorizeProjectSignIn', request);
    const cookie = `doorward_flow=${begun.cookies.find(({ name }) => name === 'doorward_flow')?.value}`;
    const headers = { cookie, origin: 'http://localhost:4000' };
    const step = (name: string, input: object) => call(name, input, undefined, headers);
    /** Pages contain the form token; a call without a page reads it there. */
    const formToken = async (path: string) => {
      const page = await app.server.inject({ url: `/api/auth/project/${path}`, headers: { cookie } });
      return /name="(?:form|consent)_token" value="([\w-]{43})"/.exec(page.body)?.[1] ?? '';
    };

    await call('startProjectGithub', {});
    await step('startProjectGithub', {});
    await call('startAppProvider', { key: 'acme' });
    await step('startAppProvider', { key: 'acme' });
    await step('finishProjectGithub', { state: 'x', code: 'x' });
    const state = await formToken('sign-in');
    expect((await step('finishProjectGithub', { state, error: 'access_denied' })).status).toBe(303);
    await step('requestProjectEmail', { email: 'none' });
    await call('requestProjectEmail', { email });
    expect((await step('requestProjectEmail', { email })).status).toBe(202);
    await step('consumeProjectEmail', { token: 'x' });
    expect((await step('consumeProjectEmail', { token: await app.mailedToken(email) })).status).toBe(303);
    await step('giveProjectSecondFactor', { code: '000000' });
    app.clock.advance(30_000);
    const code = codeShown(secret, app.clock.now());
    expect((await step('giveProjectSecondFactor', { code })).status).toBe(303);
    const consent = { consent_token: await formToken('consent') };
    await call('projectConsentInfo', { consent_token: 'x' });
    expect((await step('projectConsentInfo', consent)).ok).toBe(true);
    await call('approveProjectConsent', consent);
    expect((await step('approveProjectConsent', consent)).ok).toBe(true);
    await step('denyProjectConsent', consent);
    await call('endProjectSession', { post_logout_redirect_uri: redirectUri });
    await call('endProjectSessionByPost', { client_id: made.clientId });
    const leaving = await call('endProjectSession', { client_id: made.clientId });
    const sameBrowser = {
      cookie: `doorward_flow=${leaving.cookies.find(({ name }) => name === 'doorward_flow')?.value}`,
      origin: 'http://localhost:4000',
    };
    const question = await app.server.inject({ url: '/hosted/sign-out', headers: sameBrowser });
    const logoutToken = /name="formToken" value="([\w-]{43})"/.exec(question.body)?.[1] ?? '';
    const decision = { decision: 'approve', formToken: logoutToken };
    await call('confirmProjectLogout', decision);
    expect((await call('confirmProjectLogout', decision, undefined, sameBrowser)).status).toBe(303);
    const signedIn = verified.accessToken;
    const grants = (await call('myAppGrants', {}, signedIn)).data as { items: [{ id: string }] };
    const { id: grantId } = grants.items[0];
    expect((await call('revokeMyAppGrant', { id: grantId }, signedIn)).ok).toBe(true);
    expect((await call('revokeMyAppGrant', { id: grantId }, signedIn)).code).toBe('NOT_FOUND');
    const again = await call('authorizeProjectSignIn', request);
    const other = `doorward_flow=${again.cookies.find(({ name }) => name === 'doorward_flow')?.value}`;
    const page = await app.server.inject({ url: '/api/auth/project/sign-in', headers: { cookie: other } });
    const consent_token = /name="consent_token" value="([\w-]{43})"/.exec(page.body)?.[1] ?? '';
    const denied = await call('denyProjectConsent', { consent_token }, undefined, {
      ...headers,
      cookie: other,
    });
    expect(denied.ok, denied.body).toBe(true);
  });

  it('is as documented in the installation', async () => {
    const operator = await firstOperator(app);
    const { token } = operator;
    const at = { scope: installation };
    const reason = 'They join the team today';
    const person = await app.person();
    const { userId } = person;
    const roleId = installationRoleIdOf('Installation Support');
    expect((await call('createOperator', { ...at, userId, roleId, reason }, token)).status).toBe(201);
    for (const name of operations
      .filter(isOfInstallation)
      .flatMap((op) => (op.kind === 'query' ? op.name : []))) {
      const ids: Record<string, unknown> = {
        installationUser: userId,
        installationOrganization: owner.places.organization.scope.id,
      };
      const answer = await call(name, { ...at, ...(ids[name] ? { id: ids[name] } : {}) }, token);
      expect(answer.ok, answer.body).toBe(true);
    }
    const { scope: project } = await appInProject(app, {}, operator);
    const users = [{ email: 'imported@example.test', emailVerified: true }];
    expect((await call('importUsers', { scope: project, users }, token)).ok).toBe(true);
    // A file, not JSON.
    expect((await app.raw('exportInstallationAuditLogs', at, { token })).status).toBe(200);
    seen.add('exportInstallationAuditLogs');
    expect((await call('deleteOperator', { ...at, userId, reason }, token)).ok).toBe(true);
    for (const name of ['sendUserPasswordReset', 'endUserSessions', 'suspendUser', 'reactivateUser'])
      expect((await call(name, { ...at, id: userId, reason }, token)).ok, name).toBe(true);
    const { id: organizationId } = owner.places.organization.scope;
    for (const name of ['suspendOrganization', 'reactivateOrganization'])
      expect((await call(name, { ...at, id: organizationId, reason }, token)).ok, name).toBe(true);
    const reset = { ...at, id: userId, reason };
    expect((await call('resetUserSecondFactor', reset, token)).code).toBe('INVALID_STATE');
    const signIn = await app.must('login', {
      provider: 'email',
      providerId: person.email,
      providerData: { password: person.password },
    });
    const made = await app.must('createMfaFactor', {}, { token: signIn.accessToken });
    const code = codeShown(made.secret, app.clock.now());
    await app.must('verifyMfaFactor', { id: made.factor.id, code }, { token: signIn.accessToken });
    expect((await call('resetUserSecondFactor', reset, token)).ok).toBe(true);
    const started = await call('impersonateUser', { ...at, id: userId, reason }, token);
    const { impersonationId: id, accessToken } = started.data as Record<string, string>;
    expect((await call('updateMe', { name: 'Eve' }, accessToken)).code).toBe('IMPERSONATION_NOT_ALLOWED');
    expect((await call('endImpersonation', { ...at, id }, token)).ok).toBe(true);
  });

  it('was checked for every operation', () => {
    expect(operations.filter(({ name }) => !seen.has(name)).map(({ name }) => name)).toEqual([]);
  });
});

describe('GraphQL', () => {
  /** With rows that no test above has deleted. */
  let fresh: House;

  beforeAll(async () => {
    fresh = await house(app);
  });

  it('has every operation that is not REST-only as a root field of the right kind, and no other', async () => {
    const query = '{ __schema { queryType { fields { name } } mutationType { fields { name } } } }';
    const answer = await app.server.inject({ method: 'POST', url: '/graphql', payload: { query } });
    type Fields = { fields: { name: string }[] };
    const { data } = answer.json<{ data: { __schema: { queryType: Fields; mutationType: Fields } } }>();
    const names = ({ fields }: Fields) => fields.map(({ name }) => name).sort();
    const declared = (kind: NamedOperation['kind']) =>
      operations
        .filter((op) => op.kind === kind && op.only !== 'rest')
        .map(({ name }) => name)
        .sort();
    expect(names(data.__schema.queryType)).toEqual(declared('query'));
    expect(names(data.__schema.mutationType)).toEqual(declared('mutation'));
  });

  it.each(
    entities
      .filter(({ relations }) => Object.keys(relations).length > 0)
      .map((entity) => [entity.name, entity] as const),
  )('answers every relation of %s with every field', async (name, { relations }) => {
    const list = listOf(name);
    const plain = (noun: string) => {
      const related = entities.find((entity) => entity.name === noun)?.relations ?? {};
      const { properties = {} } = schemas.outputs[noun] ?? {};
      return Object.entries(properties)
        .filter(
          ([key, { type, $ref, format }]) => !(key in related) && !$ref && (type !== 'object' || !format),
        )
        .map(([key, property]) => (property.properties ? `${key} { __typename }` : key))
        .join(' ');
    };
    const parts = Object.entries(relations).map(([key, { to }]) => `${key} { ${plain(to().name)} }`);
    for (const tenant of list?.tenants ?? []) {
      const { scope } = fresh.places[tenant];
      const select = `{ items { id ${parts.join(' ')} } }`;
      const answer = await app.raw(
        list?.name ?? '',
        { scope },
        { via: 'graphql', token: fresh.person.token, select },
      );
      expect(answer.ok, answer.body).toBe(true);
    }
  });

  it('queries and mutations correspond to the methods of REST', () => {
    // An export reads, but it is a mutation because it is recorded (events §7).
    const recorded = (op: NamedOperation) => op.only === 'rest' && op.path.endsWith('/export');
    for (const op of operations) {
      // A GET for browsers may also write the state of a flow.
      const leadsOn = (op.status ?? 200) >= 300;
      if (op.method === 'GET' && !leadsOn) expect(op.kind, op.name).toBe(recorded(op) ? 'mutation' : 'query');
      if (['PATCH', 'PUT', 'DELETE'].includes(op.method)) expect(op.kind, op.name).toBe('mutation');
    }
  });
});
