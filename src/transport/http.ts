import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import { METHODS, type IncomingHttpHeaders } from 'node:http';
import type { AppOrigins } from '../access/app-origins.ts';
import type { Config } from '../config.ts';
import { fail } from '../errors.ts';
import { createAnswerBudget } from '../kernel/answer-budget.ts';
import { credentialKey } from '../kernel/charge.ts';
import type { Authentication, Call, Effects } from '../kernel/context.ts';
import type { FormAnswers } from '../kernel/operation.ts';
import { requestSlot } from './admission/request-slot.ts';
import type { Authenticate } from './authenticate.ts';
import { connectionOptions, limitConnections } from './connections.ts';
import { readCookie, writeCookie } from './cookies.ts';
import { registerCors, type Cors } from './cors.ts';
import { toDoorwardError } from './error-body.ts';
import { createLeaving } from './leaving.ts';
import { clientNetwork, trustedProxies } from './network.ts';
import { repeatedIn } from './oauth-parameters.ts';
import type { RateLimiter, RateState } from './rate-limit.ts';
import { registerRouteTable } from './route-table.ts';
import { languageOf, sendError, sendNotFound } from './send-error.ts';

/**
 * The HTTP server before any route: request ids, security headers, limits, credentials, cookies, and the one
 * place where a failure becomes a JSON body. The order of the hooks is the order of conventions §4.
 */
export interface HttpOptions {
  readonly config: Config;
  readonly authenticate: Authenticate;
  /** Resolves when nothing cached is older than what is committed now. */
  readonly catchUp: () => Promise<void> | undefined;
  readonly limiter: RateLimiter;
  readonly appOrigins: AppOrigins;
  readonly log: (error: unknown, message: string, requestId: string) => void;
  /** Null when no line would be written. */
  readonly logLine: ((line: RequestLine) => void) | null;
}

/** Of a request that was refused before they were known, the last three are absent. */
interface RequestLine {
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
    /** `routeOptions.config`, kept: Fastify makes the whole anew whenever it is asked for. Null until the hooks began. */
    route: FastifyRequest['routeOptions']['config'] | null;
  }
  interface FastifyContextConfig {
    /**
     * Limits: `exempt` (health), `network` (JWKS), `check` (counted by the operation alone), `fields` (counted once it is
     * read what is asked).
     */
    readonly rate?: 'exempt' | 'network' | 'check' | 'fields' | undefined;
    readonly operation?: string;
    readonly cors?: Cors | undefined;
    /** An endpoint of OAuth: the names of its parameters. */
    readonly oauth?: readonly string[] | undefined;
    /** Whether a body may be a form too. */
    readonly takesForm?: true | FormAnswers<never> | undefined;
    /** Whether bodies are not even looked at. */
    readonly ignoresBody?: true | undefined;
    /** Whether errors are a page for whoever asks for HTML. */
    readonly forBrowsers?: true | undefined;
  }
}

const requestIdForm = /^[A-Za-z0-9-]{8,64}$/;

/** The caller's, if it is one. */
function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && requestIdForm.test(given) ? given : randomUUID();
}

export function createHttp(options: HttpOptions): FastifyInstance {
  const { config, authenticate, catchUp, limiter, appOrigins, log, logLine } = options;
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
    // Addresses that the router itself cannot read: like every other, they lead nowhere.
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
  // Those of other protocols too, for what answers every method.
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  app.setValidatorCompiler(() => () => true);
  app.decorateRequest('authentication', null as never);
  app.decorateRequest('authenticate', null as never);
  app.decorateRequest('rate', null);
  app.decorateRequest('network', null as never);
  app.decorateRequest('route', null);

  registerRouteTable(app);

  // Callbacks, not promises: where nothing has to be waited for, this path costs no turn of the event loop.
  const isLeaving = createLeaving(app);
  app.addHook('onRequest', (request, reply, done) => {
    request.route = request.routeOptions.config;
    reply.header('x-request-id', request.id).headers(constantHeaders);
    assertHost(config, request);
    // The router takes `/roles/` for `/roles/:id` with an empty id.
    if (hasEmptyMember(request.params as object)) throw fail('NOT_FOUND');
    request.network = clientNetwork(request.ip, request.headers['x-forwarded-for'], proxies);
    request.authenticate = () => authenticate(request.headers.authorization, request.network.address);
    const authenticating = authenticateFor(request);
    if (authenticating instanceof Promise) {
      authenticating.then((known) => count(request, known)).then(() => done(), done);
    } else {
      const counting = count(request, authenticating);
      if (counting) counting.then(() => done(), done);
      else done();
    }
  });

  /** Who calls is known, and counted. */
  function count(request: FastifyRequest, authentication: Authentication): Promise<void> | undefined {
    request.authentication = authentication;
    const state = countGeneral(request);
    if (state instanceof Promise) return state.then((counted) => void (request.rate = counted));
    request.rate = state;
    return undefined;
  }

  /**
   * A question may ask for a state that is newer than what this process knows, but says so in its body: before that is
   * read, nobody is refused whom the newer state may let in.
   */
  function authenticateFor({ authenticate, route }: FastifyRequest): ReturnType<Authenticate> {
    if (route?.rate !== 'check') return authenticate();
    const unsure = (known: Authentication) =>
      known.ok ? known.principal.mfaPending : known.reason === 'invalid';
    const again = (known: Authentication) => {
      const waiting = unsure(known) ? catchUp() : undefined;
      return waiting ? waiting.then(authenticate) : known;
    };
    const known = authenticate();
    return known instanceof Promise ? known.then(again) : again(known);
  }

  /** Class `general`, counted for the credential or else the network, before anything is refused for its sake. */
  function countGeneral({ route, authentication, network }: FastifyRequest) {
    const kind = route?.rate;
    if (kind === 'exempt' || kind === 'check') return null;
    const principal = authentication.ok && kind !== 'network' ? authentication.principal : null;
    // Whoever has no point left is refused before anything is read.
    return limiter.consume('general', credentialKey(principal, network), kind === 'fields' ? 0 : 1);
  }

  app.addHook('onSend', (request, reply, _payload, done) => {
    if (request.rate && !reply.hasHeader('ratelimit')) reply.headers(request.rate.headers());
    if (isLeaving()) reply.header('connection', 'close');
    done();
  });

  app.addHook('onResponse', (request, reply, done) => {
    if (logLine) logLine(lineOf(request, reply));
    done();
  });

  registerCors(app, { origins: config.security.origins, appOrigins, limiter });
  app.setErrorHandler((thrown, request, reply) => {
    const error = toDoorwardError(thrown);
    if (error.isFault) log(error.extras.cause ?? thrown, error.code, request.id);
    return sendError(error, request, reply);
  });
  app.setNotFoundHandler((request, reply) => {
    const allowed = app.routeTable.methodsAt(request.url.split('?')[0] ?? '/');
    // A route that turned itself away (a page that is switched off) is no route.
    const other = allowed.length > 0 && !allowed.includes(request.method);
    const error = other
      ? fail('METHOD_NOT_ALLOWED', { headers: { Allow: [...allowed, 'OPTIONS'].join(', ') } })
      : fail('NOT_FOUND');
    return other ? sendError(error, request, reply) : sendNotFound(error, request, reply);
  });
  return app;
}

const tenths = (ms: number): number => Math.round(ms * 10) / 10;

/** One line a request: templates and ids, never a query or a body. */
function lineOf(request: FastifyRequest, reply: FastifyReply): RequestLine {
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

function hasEmptyMember(members: object): boolean {
  for (const name in members) if (name !== '*' && members[name as never] === '') return true;
  return false;
}

function assertHost({ security }: Config, request: FastifyRequest): void {
  if (!security.allowedHosts) return;
  // Of two hosts a proxy in front may have looked at the other one (RFC 9112 §3.2).
  const names = request.raw.rawHeaders.filter((text, index) => index % 2 === 0 && /^host$/i.test(text));
  if (names.length > 1) throw fail('VALIDATION_ERROR', { fix: 'Send one Host.' });
  if (!security.allowedHosts.includes(request.host)) throw fail('MISDIRECTED_REQUEST');
}

/** What the operation sees of this request. */
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
    // Sent twice it is joined by ", ", which no key may contain.
    idempotencyKey: key === undefined ? null : [key].flat().join(', '),
    refreshCookie: readCookie(request, 'refresh', https),
    flowCookie: readCookie(request, 'flow', https),
    repeated: request.route?.oauth ? repeatedIn(request.query) : [],
    originAllowed:
      site === 'same-origin' || (origin !== undefined && config.security.origins.includes(origin)),
    language: languageOf(request),
    effects: { headers: {} },
    slot: requestSlot(request.raw, request.bodyLength),
    budget: createAnswerBudget(),
  };
}

/** Sets what an operation wants on the answer. */
export function applyEffects(effects: Effects, reply: FastifyReply, https: boolean): void {
  reply.headers(effects.headers);
  const { refreshCookie, flowCookie } = effects;
  if (refreshCookie) writeCookie(reply, 'refresh', https, refreshCookie);
  if (flowCookie) writeCookie(reply, 'flow', https, flowCookie);
}
