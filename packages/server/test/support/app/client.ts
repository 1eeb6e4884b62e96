import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import type { Code } from '../../../src/errors.ts';
import type { Mail } from '../../../src/kernel/ports.ts';
import { definitionName, schemasOf, type JsonSchema } from '../../../src/kernel/output/json-schema.ts';
import type { NamedOperation, Operation } from '../../../src/kernel/operation.ts';
import type { ScopeRef } from '../../../src/kernel/scope.ts';
import { entities } from '../../../src/entities.ts';
import { operations, type features } from '../../../src/operations.ts';

/**
 * Calls any operation by its name, over REST or GraphQL, from its declaration alone, so that one test runs over both.
 * The response has one form, so that both can be compared with the same expectation.
 */
type Files = typeof features;
type All = { [F in keyof Files]: Files[F] }[keyof Files];
type OperationsOf<U> = U extends unknown ? { [K in keyof U]: U[K] } : never;
type Merge<U> = (U extends unknown ? (u: U) => void : never) extends (i: infer I) => void ? I : never;
export type Operations = Merge<OperationsOf<All>>;
export type OperationName = keyof Operations;

type InputOf<N extends OperationName> =
  Operations[N] extends Operation<infer I> ? z.input<z.ZodObject<I>> : never;
type DataOf<N extends OperationName> =
  Operations[N] extends Operation<infer _, infer O> ? JsonOf<z.output<O>> : never;
/** As JSON has it: dates are text. */
export type JsonOf<T> = T extends Date
  ? string
  : T extends readonly (infer E)[]
    ? JsonOf<E>[]
    : T extends object
      ? { [K in keyof T]: JsonOf<T[K]> }
      : T;

export type Via = 'rest' | 'graphql';
export const transports: readonly Via[] = ['rest', 'graphql'];

export interface CallOptions {
  readonly token?: string | undefined;
  readonly via?: Via;
  readonly headers?: Readonly<Record<string, string>>;
  /** GraphQL selection; the default is all plain fields. */
  readonly select?: string;
}

export interface Answer<D = unknown> {
  readonly ok: boolean;
  readonly status: number;
  readonly data: D;
  readonly code: Code | null;
  readonly reason: string | null;
  readonly details: readonly { path: string; code: string; message: string }[];
  readonly headers: LightMyRequestResponse['headers'];
  readonly body: string;
  readonly cookies: LightMyRequestResponse['cookies'];
}

export interface Person {
  readonly userId: string;
  readonly email: string;
  readonly password: string;
  readonly token: string;
  readonly refreshToken: string;
  readonly account: ScopeRef;
}

export interface TestClient {
  readonly server: FastifyInstance;
  call<N extends OperationName>(
    name: N,
    input: InputOf<N>,
    options?: CallOptions,
  ): Promise<Answer<DataOf<N>>>;
  /** The same with any input, for inputs that the types refuse. */
  raw(name: string, input: unknown, options?: CallOptions): Promise<Answer>;
  /** Like `call`, but a failure fails the test and only the data is returned. */
  must<N extends OperationName>(name: N, input: InputOf<N>, options?: CallOptions): Promise<DataOf<N>>;
  /** A registered user with a verified address (unless specified otherwise) and one account. */
  person(options?: {
    type?: 'personal' | 'organization';
    verified?: boolean;
    name?: string;
    email?: string;
  }): Promise<Person>;
  /** The token in the newest mail to an address that contains one. */
  mailedToken(address: string): Promise<string>;
  /** The six digits in the newest mail to an address that contains some. */
  mailedCode(address: string): Promise<string>;
}

const byName = new Map(operations.map((op) => [op.name, op]));
const schemas = schemasOf(operations);
const relationsOf = new Map(entities.map(({ name, relations }) => [name, new Set(Object.keys(relations))]));

const tokenInMail = /[?&/](?:token=)?([A-Za-z0-9_-]{43})\b/;

export const unique = (): string => randomBytes(5).toString('hex');

export function createClient(
  server: FastifyInstance,
  mails: readonly Mail[],
  flushMails: () => Promise<void>,
): TestClient {
  const client: TestClient = {
    server,
    call: (name, input, options) => client.raw(name, input, options) as never,
    async raw(name, input, options = {}) {
      const op = byName.get(name);
      if (!op) throw new Error(`no operation ${name}`);
      return options.via === 'graphql'
        ? overGraphql(server, op, input, options)
        : overRest(server, op, input as Record<string, unknown>, options);
    },
    async must(name, input, options) {
      const answer = await client.call(name, input, options);
      if (!answer.ok) throw new Error(`${name} failed with ${answer.status}: ${answer.body}`);
      return answer.data;
    },
    async person({ type = 'personal', verified = true, name, email = `${unique()}@example.test` } = {}) {
      const password = `correct horse ${unique()}`;
      const signIn = (await client.raw('register', {
        provider: 'email',
        providerId: email,
        providerData: { password },
        type,
        ...(name ? { name } : {}),
      })) as Answer<{
        accessToken: string;
        refreshToken: string;
        user: { id: string };
        accounts: { id: string }[];
      }>;
      if (!signIn.ok) throw new Error(`register failed: ${signIn.body}`);
      if (verified) await client.must('verifyEmail', { token: await client.mailedToken(email) });
      const { accessToken, refreshToken, user, accounts } = signIn.data;
      return {
        userId: user.id,
        email,
        password,
        token: accessToken,
        refreshToken,
        account: { tenant: 'account', id: accounts[0]?.id ?? '' },
      };
    },
    async mailedToken(address) {
      await flushMails();
      // Not of the newest mail: a notice about an earlier event may be relayed after it, and contains no token.
      const tokens = mails.flatMap(({ to, text }) =>
        to === address ? (tokenInMail.exec(text)?.[1] ?? []) : [],
      );
      const token = tokens.at(-1);
      if (!token) throw new Error(`no token was mailed to ${address}`);
      return token;
    },
    async mailedCode(address) {
      await flushMails();
      const codes = mails.flatMap(({ to, text }) =>
        to === address ? (/^([0-9]{3}) ([0-9]{3})$/m.exec(text)?.slice(1).join('') ?? []) : [],
      );
      const code = codes.at(-1);
      if (!code) throw new Error(`no code was mailed to ${address}`);
      return code;
    },
  };
  return client;
}

const bearer = ({ token, headers }: CallOptions) => ({
  ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  ...headers,
});

/** The path of an AuthZEN endpoint is the scope; at the root it is that of the token. */
function issuerPath(scope: unknown): string {
  const { tenant, id = '' } = (scope ?? {}) as { readonly tenant?: string; readonly id?: string };
  const owner = tenant === 'organizationProject' ? 'org' : tenant === 'accountProject' ? 'acc' : undefined;
  const [ownerId = '', projectId = ''] = id.split(':');
  return owner === undefined ? '' : `/${owner}/${ownerId}/prj/${projectId}`;
}

async function overRest(
  server: FastifyInstance,
  op: NamedOperation,
  input: Record<string, unknown>,
  options: CallOptions,
): Promise<Answer> {
  const rest = { ...input };
  const prefix = op.protocol === 'authzen' ? issuerPath(rest['scope']) : '';
  if (op.protocol === 'authzen') delete rest['scope'];
  const path = op.path.replace(/:([A-Za-z]+)/g, (_, name: string) => {
    const value = String(rest[name]);
    delete rest[name];
    return encodeURIComponent(value);
  });
  const inQuery = op.method === 'GET' || op.method === 'DELETE';
  const query: Record<string, string> = {};
  if (inQuery) {
    const { scope, ...parameters } = rest as { scope?: { tenant: string; id: string } | string };
    if (typeof scope === 'string') query['scope'] = scope;
    else if (scope && op.protocol === 'forward-auth') query['scope'] = `${scope.tenant}:${scope.id}`;
    else if (scope) Object.assign(query, { tenant: scope.tenant, scopeId: scope.id });
    for (const [name, value] of Object.entries(parameters)) {
      if (value !== undefined) query[name] = Array.isArray(value) ? value.join(',') : `${value as string}`;
    }
  }
  const response = await server.inject({
    method: op.method,
    url: `${prefix}${path}`,
    query,
    headers: bearer(options),
    ...(inQuery ? {} : { payload: rest }),
  });
  const isJson = String(response.headers['content-type']).startsWith('application/json');
  const body = isJson ? response.json<Record<string, unknown>>() : {};
  return {
    ok: response.statusCode < 400,
    status: response.statusCode,
    data: op.bare ? body : body['data'],
    code: (body['code'] as Code | undefined) ?? null,
    reason: (body['reason'] as string | undefined) ?? null,
    details: (body['details'] as Answer['details'] | undefined) ?? [],
    headers: response.headers,
    body: response.body,
    cookies: response.cookies,
  };
}

async function overGraphql(
  server: FastifyInstance,
  op: NamedOperation,
  input: unknown,
  options: CallOptions,
): Promise<Answer> {
  const response = await server.inject({
    method: 'POST',
    url: '/graphql',
    headers: bearer(options),
    payload: graphqlRequest(op, input, options.select),
  });
  const body = response.json<{
    data?: Record<string, unknown> | null;
    errors?: { message: string; extensions: Record<string, unknown> }[];
  }>();
  const extensions = body.errors?.[0]?.extensions ?? {};
  return {
    ok: body.errors === undefined,
    status: response.statusCode,
    data: body.data?.[op.name],
    code: (extensions['code'] as Code | undefined) ?? null,
    reason: (extensions['reason'] as string | undefined) ?? null,
    details: (extensions['details'] as Answer['details'] | undefined) ?? [],
    headers: response.headers,
    body: response.body,
    cookies: response.cookies,
  };
}

/** A document that calls the operation and selects every plain field. */
export function graphqlRequest(op: NamedOperation, input: unknown, select?: string) {
  const { input: schema, output } = schemas.of(op);
  const type = `${op.name.charAt(0).toUpperCase()}${op.name.slice(1)}Input`;
  const takes = Object.values(schema.properties ?? {}).some((property) => !property.restOnly);
  const needs = (schema.required ?? []).length > 0;
  const fields = select ?? selection(output);
  const query = takes
    ? `${op.kind} Test($input: ${type}${needs ? '!' : ''}) { ${op.name}(input: $input) ${fields} }`
    : `${op.kind} Test { ${op.name} ${fields} }`;
  return { query, variables: takes ? { input } : {} };
}

function selection(schema: JsonSchema, path: readonly string[] = []): string {
  const name = definitionName(schema);
  if (name !== undefined) {
    const definition = schemas.outputs[name];
    return definition && !path.includes(name)
      ? fieldsOf(definition, [...path, name], relationsOf.get(name.replace(/With[A-Z]\w*$/, '')))
      : '';
  }
  if (schema.anyOf)
    return selection(schema.anyOf.find((jsonSchema) => jsonSchema.type !== 'null') ?? {}, path);
  if (schema.type === 'array') return selection(schema.items ?? {}, path);
  return fieldsOf(schema, path);
}

function fieldsOf(schema: JsonSchema, path: readonly string[], skip?: ReadonlySet<string>): string {
  // An object that may have undeclared members is one JSON value.
  if (typeof schema.additionalProperties === 'object') return '';
  if (!schema.properties) return schema.anyOf ? selection(schema, path) : '';
  const fields = Object.entries(schema.properties)
    .filter(([name]) => !skip?.has(name))
    .map(([name, property]) => `${name} ${selection(property, path)}`);
  return `{ ${fields.join(' ')} }`;
}
