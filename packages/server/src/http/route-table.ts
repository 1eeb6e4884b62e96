import type { FastifyContextConfig, FastifyInstance } from 'fastify';

/**
 * Answers the methods of a path and the configuration of each. 405, OPTIONS and preflights need them, and the router
 * offers only the route of the current request.
 */
interface RouteTable {
  /** The URL templates of the routes of a method. */
  readonly urls: (method: string) => readonly string[];
  /** Methods of a path, without OPTIONS, which every path with another method answers. */
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

/** Decorates the app with its route table. It must be called before the first route is added. */
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

function patternOf(url: string): RegExp {
  const escaped = url.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/:[^/]+/g, '[^/]+').replaceAll('*', '.*')}$`);
}
