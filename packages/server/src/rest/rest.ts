/*
 * Turns operation declarations into REST routes. This module only translates: path, query and body become the input of
 * the operation, and its output gets an envelope. `invoke` validates and authorizes.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { DoorwardError, fail, type Detail } from '../errors.ts';
import type { Call } from '../kernel/context.ts';
import { assertAuthenticated } from '../kernel/call/authenticated.ts';
import type { Invoke } from '../kernel/invoke.ts';
import { definitionName, type JsonSchema, type Schemas } from '../kernel/output/json-schema.ts';
import type { NamedOperation } from '../kernel/operation.ts';
import { BareReply, Notice, DryRunResult } from '../kernel/output/reply.ts';
import { canonicalTenant, Scope } from '../kernel/scope.ts';
import { releaseSlot } from '../http/admission/request-slot.ts';
import { isNotModified } from '../http/etag.ts';
import { formAnswersOf } from '../http/body/forms.ts';
import { jsonBytes } from '../http/body/json-size.ts';
import { refuseResourceSearch } from './protocols/authzen.ts';
import { protocols } from './protocols/protocols.ts';
import { asksForHtml, sendErrorPage } from '../http/send-error.ts';
import { syncOrAsync } from '../http/sync-or-async.ts';

export interface RestOptions {
  readonly operations: readonly NamedOperation[];
  readonly schemas: Schemas;
  readonly invoke: Invoke;
  readonly callOf: (request: FastifyRequest) => Call;
  readonly applyEffects: (call: Call, reply: FastifyReply) => void;
  /** Adds the flow of the call to a URL, if it is the URL of a page of sign-in flows. */
  readonly urlWithFlow: (url: string, call: Call) => string;
}

export function registerRest(app: FastifyInstance, options: RestOptions): void {
  const { operations, schemas, invoke, callOf, applyEffects, urlWithFlow } = options;
  refuseResourceSearch(app);
  for (const op of operations) {
    const adapter = op.protocol && protocols[op.protocol];
    const reader = inputReader(op, schemas);
    const route: RouteOptions = {
      method: op.method,
      url: op.path,
      config: {
        operation: op.name,
        rate: op.rate,
        takesForm: op.takesForm,
        refusal: op.restAnswers?.refusal,
        forBrowsers: op.forBrowsers,
        cors: op.cors,
        protocol: op.protocol,
        takesClientSecret: 'client_secret' in op.input,
      },
      onRequest: (request, _reply, done) => {
        assertAuthenticated(op, request.authentication);
        done();
      },
      handler: (request, reply) => {
        const call = callOf(request);
        const refused = (error: unknown): never => {
          releaseSlot(call);
          applyEffects(call, reply);
          return reader.respell(error);
        };
        const answered = (answer: unknown): FastifyReply => {
          releaseSlot(call);
          // For most operations the page and row limits already limit the response.
          if (call.budget.isMeasured) call.budget.takeBytes(jsonBytes(answer, call.budget.bytes));
          applyEffects(call, reply);
          if (answer instanceof Notice && asksForHtml(request)) {
            return sendErrorPage(answer.error, request, reply, answer.location);
          }
          const sent = answer instanceof BareReply ? answer : formAnswersOf(request)?.answer(answer);
          if (!sent) return sendEnvelope(op, answer, request, reply);
          const { location } = sent.headers;
          if (location === undefined) return sendBare(sent, request, reply);
          const headers = { ...sent.headers, location: urlWithFlow(location, call) };
          return sendBare({ ...sent, headers }, request, reply);
        };
        const sent = syncOrAsync(() => invoke(op, reader.read(request), call), answered, refused);
        // Returns no reply object, because Fastify would wait for a returned reply to end.
        return sent instanceof Promise ? sent : undefined;
      },
    };
    if (adapter?.addRoutes) adapter.addRoutes(app, route);
    else app.route(route);
  }
}

function sendEnvelope(op: NamedOperation, answer: unknown, request: FastifyRequest, reply: FastifyReply) {
  if (typeof op.etag === 'string') {
    reply.header('cache-control', 'private, no-cache');
    if (isNotModified(`"${(answer as Members)[op.etag] as string}"`, request, reply))
      return reply.status(304).send();
  }
  const { status = op.status ?? 200, data } =
    answer instanceof DryRunResult
      ? { status: 200, data: answer.impact }
      : (op.restAnswers?.answer?.(answer) ?? { data: answer });
  return reply
    .status(status)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ success: true, data }));
}

function sendBare({ body, headers, status }: BareReply, request: FastifyRequest, reply: FastifyReply) {
  const type = body !== null && { 'content-type': 'application/json; charset=utf-8' };
  reply.headers({ ...type, ...headers }).status(status ?? 200);
  if (body instanceof Readable) return reply.send(body);
  const text = body === null ? '' : Buffer.isBuffer(body) ? body : JSON.stringify(body);
  if ('etag' in headers) {
    const etag = headers['etag'] || `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
    if (isNotModified(etag, request, reply)) return reply.status(304).send();
  }
  return reply.send(text);
}

type Members = Record<string, unknown>;

function inputReader(op: NamedOperation, schemas: Schemas) {
  const adapter = op.protocol && protocols[op.protocol];
  const properties = schemas.of(op).input.properties ?? {};
  const required = schemas.of(op).input.required ?? [];
  const pathNames = [...op.path.matchAll(/:([A-Za-z]+)/g)].map(([, name]) => name as string);
  const fromQuery = op.method === 'GET' || op.method === 'DELETE';

  function read(request: FastifyRequest): Members {
    if (adapter) return adapter.readInput(op, required, request);
    const query = request.query as Members;
    const body = bodyOf(request);
    const { scopeId, tenant, ...parameters } = op.scoped
      ? query
      : { ...query, scopeId: undefined, tenant: undefined };
    const requested = scopeId === undefined && tenant === undefined ? undefined : { id: scopeId, tenant };
    const details: Detail[] = [];
    const members = fromQuery ? coerced(parameters, details) : { ...body };
    // Path parameters may only be in the path. POST, PUT and PATCH take all other members from the body.
    const misplaced = fromQuery
      ? [
          ...Object.keys(members).filter((name) => [...pathNames, op.scoped && 'scope'].includes(name)),
          ...Object.keys(body ?? {}).filter((name) => name !== 'scope' || !op.scoped || op.method === 'GET'),
        ]
      : [...Object.keys(parameters), ...pathNames.filter((name) => body && name in body)];
    details.push(...misplaced.map((path) => ({ path, code: 'unknown_field' as const })));
    if (!fromQuery && !body && required.some((name) => !pathNames.includes(name) && name !== 'scope')) {
      details.push({ path: '', code: 'empty_body' });
    }
    if (details.length > 0) throw fail('VALIDATION_ERROR', { details: details.slice(0, 20) });
    const inBody = body?.['scope'];
    if (requested !== undefined && inBody !== undefined && !sameScope(requested, inBody))
      throw fail('SCOPE_CONFLICT');
    const scope = fromQuery ? requested : inBody;
    return {
      ...members,
      ...coerced(request.params as Members, details),
      ...(op.scoped ? { scope } : {}),
    };
  }

  function coerced(parameters: Members, details: Detail[]): Members {
    return Object.fromEntries(
      Object.entries(parameters).map(([name, value]) => {
        const kind = kindOf(properties[name], schemas.inputs);
        if (kind === 'array') {
          const items = [value].flat().flatMap((item) => String(item).split(','));
          return [name, items.filter((item) => item !== '')];
        }
        if (Array.isArray(value)) details.push({ path: name, code: 'duplicate' });
        if (kind === 'integer' && /^\d{1,15}$/.test(String(value))) return [name, Number(value)];
        if (kind === 'boolean' && (value === 'true' || value === 'false')) return [name, value === 'true'];
        return [name, value];
      }),
    );
  }

  const inQuery = (path: string) =>
    path === 'scope.id' ? 'scopeId' : path.replace(/^scope\.tenant$/, 'tenant');

  /**
   * Throws the error in the caller's terms: with fields as they were sent (`scopeId` for `scope.id`), and with a hint
   * where requests of the protocol name the scope.
   */
  function respell(error: unknown): never {
    if (!(error instanceof DoorwardError)) throw error;
    if (error.code === 'SCOPE_REQUIRED' && adapter?.scopeRequired) throw adapter.scopeRequired(op);
    const { details } = error.extras;
    if (!fromQuery || !details) throw error;
    const { fieldName = inQuery } = adapter ?? {};
    const renamed = details.map((detail) => ({ ...detail, path: fieldName(detail.path) }));
    throw new DoorwardError(error.code, { ...error.extras, params: error.params, details: renamed });
  }

  return { read, respell };
}

function kindOf(schema: JsonSchema | undefined, definitions: Schemas['inputs']): string | undefined {
  if (!schema) return undefined;
  const name = definitionName(schema);
  if (name !== undefined) return kindOf(definitions[name], definitions);
  const option = schema.anyOf?.find(({ type }) => type !== 'null');
  if (option) return kindOf(option, definitions);
  return typeof schema.type === 'string' ? schema.type : undefined;
}

function bodyOf({ body }: FastifyRequest): Members | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body !== 'object' || Array.isArray(body)) {
    throw fail('VALIDATION_ERROR', { details: [{ path: '', code: 'type' }] });
  }
  return body as Members;
}

/** Compares scopes, ignoring different spellings of tenants and UUIDs. */
function sameScope(item: unknown, other: unknown): boolean {
  const [a, b] = [Scope.safeParse(item), Scope.safeParse(other)];
  // The validation that follows refuses a scope that does not parse.
  if (!a.success || !b.success) return true;
  return a.data.id === b.data.id && canonicalTenant(a.data.tenant) === canonicalTenant(b.data.tenant);
}
