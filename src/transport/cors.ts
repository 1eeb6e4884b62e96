import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AppOrigins } from '../access/app-origins.ts';
import type { NamedOperation } from '../kernel/operation.ts';
import type { RateLimiter } from './rate-limit.ts';

/**
 * Pages of which other origins may call, and read the answer (Fetch standard, "CORS protocol"). Three kinds:
 *
 * - origins of the configuration: all of the API, with the session cookie;
 * - any origin: what an operation declares as `cors: 'any'`, public documents;
 * - origins that project apps name: `cors: 'app'` and `'client'`, never with a cookie. They read only answers to their own
 *   app, so that a page of one app learns nothing with the token of another.
 *
 * All others get no header, and their browsers keep the answer from them. A request without an `Origin` pays one
 * comparison.
 */
export interface CorsOptions {
  /** Those of the configuration. */
  readonly origins: readonly string[];
  readonly appOrigins: AppOrigins;
  readonly limiter: RateLimiter;
}

/** As the operation declares it. */
export type Cors = NamedOperation['cors'];

const exposed = [
  'X-Request-Id',
  'X-Doorward-Revision',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'ETag',
  'Content-Language',
  'Idempotency-Replayed',
  'WWW-Authenticate',
].join(', ');

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE';
/**
 * Seconds for which a browser keeps a preflight. Every answer is checked again, so a removed origin loses access at
 * once.
 */
const MAX_AGE = '600';
/** The longest origin that an app can have. */
const ORIGIN_CHARACTERS = 255;
/** Statuses of refusals that come before it is known which app asks. */
const namelessRefusals = new Set([401, 429, 503]);

export function registerCors(app: FastifyInstance, { origins, appOrigins, limiter }: CorsOptions): void {
  const configured = new Set(origins);
  const isConfigured = ({ url }: FastifyRequest, origin: string): boolean =>
    configured.has(origin) && (url.startsWith('/api/') || /^\/graphql(?:\?|$)/.test(url));

  app.addHook('onSend', (request, reply, _payload, done) => {
    const { origin } = request.headers;
    const cors = request.route?.cors;
    if (origin === undefined) {
      // A shared cache may keep the answer and give it to the next client, which may be a page.
      if (cors === 'any') allow(reply, '*');
      return done();
    }
    if (cors === 'none') return done();
    if (isConfigured(request, origin)) {
      allow(reply, origin).header('access-control-allow-credentials', 'true');
    } else if (cors === 'any') {
      allow(reply, '*');
    } else if (cors !== undefined && origin.length <= ORIGIN_CHARACTERS) {
      mayRead(request, reply, origin).then(
        (may) => {
          if (may) allow(reply, origin);
          done();
        },
        // If the origins of the app cannot be loaded, the origin is not allowed; the answer itself is sent.
        () => done(),
      );
      return;
    }
    done();
  });

  async function mayRead(request: FastifyRequest, reply: FastifyReply, origin: string): Promise<boolean> {
    const named = await originsNamedIn(request);
    if (named) return named.includes(origin);
    return namelessRefusals.has(reply.statusCode) && appOrigins.has(origin);
  }

  /** Of the app that the request names, or none for a token of no app; null where it names nobody. */
  async function originsNamedIn({ route, authentication, body }: FastifyRequest) {
    if (route?.cors === 'app') return authentication?.ok ? authentication.principal.origins : null;
    const clientId = (body as { client_id?: unknown } | null | undefined)?.client_id;
    return typeof clientId === 'string' ? appOrigins.of(clientId) : null;
  }

  app.options('*', { config: { rate: 'exempt' } }, async (request, reply) => {
    const [path = ''] = request.url.split('?');
    const { origin, 'access-control-request-method': method } = request.headers;
    if (origin === undefined || method === undefined) return answerOptions(path, reply);
    const cors = app.routeTable.configAt(method, path)?.cors;
    if (cors !== 'none' && isConfigured(request, origin)) return permit(request, reply, methods);
    if (cors === 'any') return permit(request, allow(reply, '*'), method);
    if (cors !== undefined && cors !== 'none' && (await isOfSomeApp(request, origin))) {
      return permit(request, allow(reply, origin), method);
    }
    return reply.status(204).send();
  });

  /**
   * A preflight does not say which app will ask, so any live app counts. Strangers can try any number of origins: each
   * unknown one takes a point of their network.
   */
  async function isOfSomeApp({ network }: FastifyRequest, origin: string): Promise<boolean> {
    if (origin.length > ORIGIN_CHARACTERS) return false;
    if (appOrigins.peek(origin) === undefined) await limiter.consume('general', network.network);
    return appOrigins.has(origin);
  }

  /** RFC 9110 §9.3.7; `*` is the server as a whole. */
  function answerOptions(path: string, reply: FastifyReply): FastifyReply {
    const served = path === '*' ? methods.split(', ') : app.routeTable.methodsAt(path);
    if (served.length === 0) {
      reply.callNotFound();
      return reply;
    }
    return reply.header('allow', [...served, 'OPTIONS'].join(', ')).send('');
  }
}

const allow = (reply: FastifyReply, origin: string): FastifyReply =>
  reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed });

/** Headers carry nothing that a browser adds by itself, so a page that may call may send any. */
function permit({ headers }: FastifyRequest, reply: FastifyReply, allowed: string): FastifyReply {
  const asked = headers['access-control-request-headers'];
  if (asked !== undefined) reply.header('access-control-allow-headers', asked);
  return reply
    .headers({ 'access-control-allow-methods': allowed, 'access-control-max-age': MAX_AGE })
    .status(204)
    .send();
}
