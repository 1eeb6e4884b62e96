/*
 * The HTTP server without routes: request ids, security headers, limits, credentials, cookies and the error handler.
 * The hooks run in the order of conventions §4.
 */

import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { createHostCheck } from './allowed-hosts.ts';
import { randomUUID } from 'node:crypto';
import { METHODS, type IncomingHttpHeaders } from 'node:http';
import type { AppOrigins } from '../access/credentials/app-origins.ts';
import type { Config } from '../config/config.ts';
import { fail, type DoorwardError } from '../errors.ts';
import { createAnswerBudget } from '../kernel/output/answer-budget.ts';
import { createRequestWork } from '../kernel/request-work.ts';
import { credentialKey } from '../kernel/charge.ts';
import type { Authentication, Call, Effects } from '../kernel/context.ts';
import type { FormAnswers, Protocol } from '../kernel/operation.ts';
import type { BareReply } from '../kernel/output/reply.ts';
import { requestSlot } from './admission/request-slot.ts';
import { inProtocolOf, shownRequestId } from './protocols/authzen.ts';
import type { Authenticate } from './authenticate.ts';
import { connectionOptions, limitConnections } from './connections/connections.ts';
import { readCookie, writeCookie } from './cookies/cookies.ts';
import { decorateWithFlows, flowSecretIn, writeFlowCookies } from './cookies/flow-cookies.ts';
import { registerCors, type Cors } from './cors.ts';
import { toDoorwardError } from './error-body.ts';
import { createGracefulShutdown } from './connections/graceful-shutdown.ts';
import { clientNetwork, trustedProxies } from './connections/network.ts';
import { repeatedIn } from './body/oauth-parameters.ts';
import type { RateLimiter, RateState } from './rate-limit.ts';
import { answerUnknownRoutes, registerRouteTable } from './route-table.ts';
import { languageOf, sendError, sendNotFound } from './send-error.ts';

export interface HttpOptions {
  readonly config: Config;
  readonly authenticate: Authenticate;
  /**
   * Resolves when no cache is older than the last commit of the database; returns undefined if that is already the
   * case.
   */
  readonly catchUp: () => Promise<void> | undefined;
  readonly limiter: RateLimiter;
  readonly appOrigins: AppOrigins;
  readonly log: (error: unknown, message: string, requestId: string) => void;
  /** Null if the log level excludes these entries. */
  readonly logRequest: ((line: RequestLog) => void) | null;
}

/** The log entry of a request. The last three members are absent if the request failed before they were determined. */
interface RequestLog {
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly address?: string | undefined;
  readonly subject?: string;
  readonly credential?: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    authentication: Authentication;
    authenticate: Call['authenticate'];
    rate: RateState | null;
    network: { readonly address: string; readonly network: string };
    /**
     * `routeOptions.config`, cached, because Fastify builds `routeOptions` on every access. Null before the first hook.
     */
    route: FastifyRequest['routeOptions']['config'] | null;
  }
  interface FastifyContextConfig {
    /**
     * How the request counts in the rate limit `general`: `exempt` (health) not at all, `network` (JWKS) by network,
     * `check` only in the limit of its operation, `fields` (GraphQL) by root fields, after the body is read.
     */
    readonly rate?: 'exempt' | 'network' | 'check' | 'fields' | undefined;
    readonly operation?: string;
    readonly cors?: Cors | undefined;
    /** The standard whose request format the route reads, if it differs from ours. */
    readonly protocol?: Protocol | undefined;
    /** Whether a client may authenticate with its secret, and so with `Basic` credentials. */
    readonly takesClientSecret?: boolean | undefined;
    /** Whether the body may also be a form. */
    readonly takesForm?: true | FormAnswers | undefined;
    /** Formats an error as a standard requires, instead of in the envelope. */
    readonly refusal?: ((error: DoorwardError) => BareReply) | undefined;
    /** Whether a client that prefers HTML gets errors as a page. */
    readonly forBrowsers?: true | undefined;
  }
}

const requestIdForm = /^[A-Za-z0-9-]{8,64}$/;

/** The request id that the client sent, if it is valid, else a new one. */
function requestIdOf(headers: IncomingHttpHeaders): string {
  const requested = headers['x-request-id'];
  return typeof requested === 'string' && requestIdForm.test(requested) ? requested : randomUUID();
}

export function createHttp(options: HttpOptions): FastifyInstance {
  const { config, authenticate, catchUp, limiter, appOrigins, log, logRequest } = options;
  const proxies = trustedProxies(config.security.trustedProxies);
  const constantHeaders = {
    'cache-control': 'no-store',
    vary: 'Origin',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    ...(config.security.hstsSeconds > 0
      ? { 'strict-transport-security': `max-age=${config.security.hstsSeconds}` }
      : {}),
  };

  const app = fastify({
    logger: false,
    bodyLimit: config.http.bodyLimitBytes,
    exposeHeadRoutes: true,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    maxRequestsPerSocket: 0,
    ...connectionOptions(config.http, constantHeaders),
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
    routerOptions: { maxParamLength: 2048, caseSensitive: true, ignoreTrailingSlash: false },
    // A URL that the router cannot parse gets the same response as any other unknown URL.
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id).headers(constantHeaders);
      void sendNotFound(toDoorwardError(error), request, reply);
    },
    genReqId: ({ headers }) => requestIdOf(headers),
  });
  limitConnections(
    app,
    config.http,
    ({ remoteAddress }) => clientNetwork(remoteAddress, undefined, proxies).network,
  );
  // Registers all methods, so that routes for every method also respond to methods of other protocols, such as WebDAV.
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  app.setValidatorCompiler(() => () => true);
  // Hooks set these members before any handler reads them, so their types do not include null.
  const unset = null as never;
  app.decorateRequest('authentication', unset);
  app.decorateRequest('authenticate', unset);
  app.decorateRequest('rate', null);
  app.decorateRequest('network', unset);
  app.decorateRequest('route', null);
  decorateWithFlows(app, config);

  registerRouteTable(app);

  const assertHost = createHostCheck(config.security.allowedHosts);
  // Callbacks rather than promises: a request that does not have to wait then costs no tick of the event loop.
  const isShuttingDown = createGracefulShutdown(app);
  app.addHook('onRequest', (request, reply, done) => {
    request.route = request.routeOptions.config;
    reply.header('x-request-id', shownRequestId(request)).headers(constantHeaders);
    assertHost(request);
    // The router matches `/roles/` with `/roles/:id` and an empty id.
    if (hasEmptyParameter(request.params as Readonly<Record<string, unknown>>)) throw fail('NOT_FOUND');
    request.network = clientNetwork(request.ip, request.headers['x-forwarded-for'], proxies);
    request.authenticate = () => authenticate(request.headers.authorization, request.network.address);
    const authenticating = authenticateFor(request);
    if (authenticating instanceof Promise) {
      authenticating.then((authentication) => countRequest(request, authentication)).then(() => done(), done);
    } else {
      const counting = countRequest(request, authenticating);
      if (counting) counting.then(() => done(), done);
      else done();
    }
  });

  /** Stores the caller, and counts the request in class `general`. */
  function countRequest(request: FastifyRequest, authentication: Authentication): Promise<void> | undefined {
    request.authentication = authentication;
    const state = countGeneral(request);
    if (state instanceof Promise) return state.then((counted) => void (request.rate = counted));
    request.rate = state;
    return undefined;
  }

  /**
   * Authenticates the request. A check may require a revision that is newer than the caches, but names it in its body,
   * which is read later. So before the credential of a check is rejected here, the caches catch up, because the newer
   * state may accept it.
   */
  function authenticateFor({ authenticate, route }: FastifyRequest): ReturnType<Authenticate> {
    if (route?.rate !== 'check') return authenticate();
    const mayBeOutdated = (authentication: Authentication) =>
      authentication.ok ? authentication.principal.mfaPending : authentication.reason === 'invalid';
    const retryOutdated = (authentication: Authentication) => {
      const waiting = mayBeOutdated(authentication) ? catchUp() : undefined;
      return waiting ? waiting.then(authenticate) : authentication;
    };
    const first = authenticate();
    return first instanceof Promise ? first.then(retryOutdated) : retryOutdated(first);
  }

  /**
   * Counts the request in class `general`, by credential or else by network, before a missing credential is rejected.
   */
  function countGeneral({ route, authentication, network }: FastifyRequest) {
    const kind = route?.rate;
    if (kind === 'exempt' || kind === 'check') return null;
    const principal = authentication.ok && kind !== 'network' ? authentication.principal : null;
    // Zero points reject callers whose points are used up, before the body is read.
    return limiter.consume('general', credentialKey(principal, network), kind === 'fields' ? 0 : 1);
  }

  app.addHook('onSend', (request, reply, _payload, done) => {
    if (request.rate && !reply.hasHeader('ratelimit')) reply.headers(request.rate.headers());
    if (isShuttingDown()) reply.header('connection', 'close');
    done();
  });

  app.addHook('onResponse', (request, reply, done) => {
    if (logRequest) logRequest(requestLogOf(request, reply));
    done();
  });

  registerCors(app, { origins: config.security.origins, appOrigins, limiter });
  app.setErrorHandler((thrown, request, reply) => {
    const error = inProtocolOf(request, toDoorwardError(thrown));
    if (error.isFault) log(error.extras.cause ?? thrown, error.code, request.id);
    return sendError(error, request, reply);
  });
  answerUnknownRoutes(app);
  return app;
}

const tenths = (ms: number): number => Math.round(ms * 10) / 10;

/** The log entry of a request. Contains route templates and ids, never a query string or a body. */
function requestLogOf(request: FastifyRequest, reply: FastifyReply): RequestLog {
  const authentication = request.authentication as Authentication | null;
  const network = request.network as FastifyRequest['network'] | null;
  return {
    requestId: request.id,
    method: request.method,
    route: request.routeOptions.url ?? 'unknown',
    status: reply.statusCode,
    ms: tenths(reply.elapsedTime),
    address: network?.address,
    ...(authentication?.ok
      ? { subject: authentication.principal.userId, credential: authentication.principal.credentialId }
      : {}),
  };
}

function hasEmptyParameter(parameters: Readonly<Record<string, unknown>>): boolean {
  for (const name in parameters) if (name !== '*' && parameters[name] === '') return true;
  return false;
}

/** Creates the call of an operation from a request. */
export function callOf(request: FastifyRequest, config: Config, transport: Call['transport']): Call {
  const { origin, 'sec-fetch-site': site, 'user-agent': agent, 'idempotency-key': key } = request.headers;
  const { https } = config.security;
  return {
    transport,
    requestId: request.id,
    authentication: request.authentication,
    authenticate: request.authenticate,
    address: request.network.address,
    network: request.network.network,
    userAgent: agent ? agent.slice(0, 512) : null,
    // Node joins a header that is sent twice with ", ", which no valid key contains.
    idempotencyKey: key === undefined ? null : [key].flat().join(', '),
    ifNoneMatch: request.headers['if-none-match'] ?? null,
    bearer: /^bearer +([^\s,]+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? null,
    refreshCookie: readCookie(request, 'refresh', https),
    flowCookie: flowSecretIn(request, https),
    ssoCookie: readCookie(request, 'sso', https),
    deviceCookie: readCookie(request, 'device', https),
    repeated: request.route?.protocol === 'oauth-authorization' ? repeatedIn(request.query) : [],
    originAllowed:
      site === 'same-origin' || (origin !== undefined && config.security.origins.includes(origin)),
    language: languageOf(request),
    effects: { headers: {} },
    slot: requestSlot(request.raw, request.bodyLength),
    budget: createAnswerBudget(),
    work: createRequestWork(),
  };
}

/** Applies the headers and cookies that an operation has set to the response. */
export function applyEffects(effects: Effects, reply: FastifyReply, https: boolean): void {
  reply.headers(effects.headers);
  const { refreshCookie, flowCookie, ssoCookie, accountCookie } = effects;
  if (refreshCookie) writeCookie(reply, 'refresh', https, refreshCookie);
  if (flowCookie) writeFlowCookies(reply, https, flowCookie);
  if (ssoCookie) writeCookie(reply, 'sso', https, ssoCookie);
  if (accountCookie) writeCookie(reply, 'account', https, accountCookie);
}
