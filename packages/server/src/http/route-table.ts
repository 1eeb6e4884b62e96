import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fail } from '../errors.ts';
import { sendError, sendNotFound } from './send-error.ts';

/**
 * Looks up the methods of a path and their configuration. 405 responses, OPTIONS and preflights need this, but the
 * router offers only the route of the current request.
 */
interface RouteTable {
  /** The URL templates of the routes of a method. */
  readonly urls: (method: string) => readonly string[];
  /** The methods of a path, without OPTIONS, which every path with another method supports. */
  readonly methodsAt: (path: string) => readonly string[];
  readonly configAt: (method: string, path: string) => FastifyContextConfig | undefined;
}

interface Route {
  readonly url: string;
  readonly pattern: RegExp;
  readonly config: FastifyContextConfig | undefined;
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

declare module 'fastify' {
  interface FastifyInstance {
    routeTable: RouteTable;
  }
}

/** Decorates the app with its route table. Call it before the first route is added. */
export function registerRouteTable(app: FastifyInstance): void {
  const routes = new Map<string, Route[]>();
  app.addHook('onRoute', ({ method, url, config }) => {
    const route = { url, pattern: patternOf(url), config };
    for (const httpMethod of [method].flat())
      routes.set(httpMethod, [...(routes.get(httpMethod) ?? []), route]);
  });
  const find = (method: string, path: string): Route | undefined => {
    const ofMethod = routes.get(method) ?? [];
    return ofMethod.find(({ url }) => url === path) ?? ofMethod.find(({ pattern }) => pattern.test(path));
  };
  app.decorate('routeTable', {
    urls: (method) => (routes.get(method) ?? []).map(({ url }) => url),
    methodsAt: (path) => methods.filter((method) => find(method, path) !== undefined),
    configAt: (method, path) => find(method, path)?.config,
  });
}

/** Responds 404 for a path without a route, and 405 for a path that has routes for other methods. */
export function answerUnknownRoutes(app: FastifyInstance): void {
  const answer = (request: FastifyRequest, reply: FastifyReply): unknown => {
    const allowed = app.routeTable.methodsAt(request.url.split('?')[0] ?? '/');
    // If the method is allowed here, the route itself answered "not found", for example a page that is disabled.
    const isOtherMethod = allowed.length > 0 && !allowed.includes(request.method);
    const error = isOtherMethod
      ? fail('METHOD_NOT_ALLOWED', { headers: { Allow: [...allowed, 'OPTIONS'].join(', ') } })
      : fail('NOT_FOUND');
    return isOtherMethod ? sendError(error, request, reply) : sendNotFound(error, request, reply);
  };
  app.setNotFoundHandler(answer);
  // Runs before the body is parsed: without a route the body does not matter and stays unread.
  app.addHook('preParsing', (request, reply, _payload, done) => {
    if (request.is404) void answer(request, reply);
    else done();
  });
}

function patternOf(url: string): RegExp {
  const escaped = url.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/:[^/]+/g, '[^/]+').replaceAll('*', '.*')}$`);
}
