import type { FastifyContextConfig, FastifyInstance } from 'fastify';

/**
 * Which methods a path has, and the declaration of each. The router knows only the route of the request; 405, OPTIONS
 * and preflights need the other methods too.
 */
export interface RouteTable {
  /** Addresses as they were declared, of one method. */
  readonly urls: (method: string) => readonly string[];
  /** Methods served at a path, without OPTIONS, which is answered wherever there is another. */
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

/** Call it before the first route: each is noted as it is added. */
export function registerRouteTable(app: FastifyInstance): void {
  const routes = new Map<string, Route[]>();
  app.addHook('onRoute', ({ method, url, config }) => {
    const route = { url, pattern: patternOf(url), config };
    for (const one of [method].flat()) routes.set(one, [...(routes.get(one) ?? []), route]);
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
