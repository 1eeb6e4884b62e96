import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AppOrigins } from '../access/credentials/app-origins.ts';
import type { NamedOperation } from '../kernel/operation.ts';
import type { RateLimiter } from './rate-limit.ts';

interface CorsOptions {
  /** Configured origins. */
  readonly origins: readonly string[];
  readonly appOrigins: AppOrigins;
  readonly limiter: RateLimiter;
}

/** The CORS policy that an operation declares. */
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
 * How many seconds a browser caches a preflight response. The response to each request is checked again, so an origin
 * that is removed loses access immediately.
 */
const MAX_AGE = '600';
/** Maximum length of an app's origin. */
const ORIGIN_CHARACTERS = 255;
/** Statuses of errors that occur before the service knows which app calls. */
const anonymousRefusals = new Set([401, 429, 503]);

/**
 * Decides which pages of other origins may call the API and read the response (Fetch standard, "CORS protocol"):
 *
 * - configured origins may call all of the API, with the session cookie;
 * - any origin may call operations with `cors: 'any'`, which return public documents;
 * - origins of project apps may call operations with `cors: 'app'` or `'client'`, without a cookie. They can read only
 * responses to their own app, so that a page of one app cannot use a token of another.
 *
 * Other origins get no CORS header, so the browser withholds the response from them. For a request without an `Origin`
 * all this costs one comparison.
 */
export function registerCors(app: FastifyInstance, { origins, appOrigins, limiter }: CorsOptions): void {
  const configured = new Set(origins);
  const isConfigured = ({ url }: FastifyRequest, origin: string): boolean =>
    configured.has(origin) && (url.startsWith('/api/') || /^\/graphql(?:\?|$)/.test(url));

  app.addHook('onSend', (request, reply, _payload, done) => {
    const { origin } = request.headers;
    const cors = request.route?.cors;
    if (origin === undefined) {
      // Allowed even without an origin, because a shared cache may serve the same response to a page of another origin.
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
        // If the app's origins cannot be loaded, the origin is not allowed, but the response is sent.
        () => done(),
      );
      return;
    }
    done();
  });

  async function mayRead(request: FastifyRequest, reply: FastifyReply, origin: string): Promise<boolean> {
    const allowedOrigins = await originsOfApp(request);
    if (allowedOrigins) return allowedOrigins.includes(origin);
    return anonymousRefusals.has(reply.statusCode) && appOrigins.has(origin);
  }

  /**
   * The origins of the app that sent the request: empty if the token is not an app's, null if no caller or client is
   * named.
   */
  async function originsOfApp({ route, authentication, body }: FastifyRequest) {
    if (route?.cors === 'app') return authentication?.ok ? authentication.principal.origins : null;
    const clientId = (body as { client_id?: unknown } | null | undefined)?.client_id;
    return typeof clientId === 'string' ? appOrigins.of(clientId) : null;
  }

  app.options('*', { config: { rate: 'exempt' } }, async (request, reply) => {
    const [path = ''] = request.url.split('?');
    const { origin, 'access-control-request-method': method } = request.headers;
    if (origin === undefined || method === undefined) return answerOptions(path, reply);
    const cors = app.routeTable.configAt(method, path)?.cors;
    if (cors !== 'none' && isConfigured(request, origin)) return answerPreflight(request, reply, methods);
    if (cors === 'any') return answerPreflight(request, allow(reply, '*'), method);
    if (cors !== undefined && cors !== 'none' && (await isAppOrigin(request, origin))) {
      return answerPreflight(request, allow(reply, origin), method);
    }
    return reply.status(204).send();
  });

  /**
   * Whether a live app lists the origin. Any live app counts, because a preflight does not name the app of the request
   * that follows. To limit probing, each origin that is not cached costs the client's network one point of the rate
   * limit.
   */
  async function isAppOrigin({ network }: FastifyRequest, origin: string): Promise<boolean> {
    if (origin.length > ORIGIN_CHARACTERS) return false;
    if (appOrigins.peek(origin) === undefined) await limiter.consume('general', network.network);
    return appOrigins.has(origin);
  }

  /** Responds to OPTIONS requests that are not a preflight (RFC 9110 §9.3.7). `*` means the server as a whole. */
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

/** Allows every requested header, because the service trusts no header that a browser adds on its own. */
function answerPreflight({ headers }: FastifyRequest, reply: FastifyReply, allowed: string): FastifyReply {
  const requested = headers['access-control-request-headers'];
  if (requested !== undefined) reply.header('access-control-allow-headers', requested);
  return reply
    .headers({ 'access-control-allow-methods': allowed, 'access-control-max-age': MAX_AGE })
    .status(204)
    .send();
}
