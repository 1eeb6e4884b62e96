import type { FastifyInstance } from 'fastify';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { DoorwardError } from '../errors.ts';
import { pickLanguage } from '../i18n/translate.ts';
import { graphqlError, restErrorBody } from './error-body.ts';
import type { LaneName } from './lanes.ts';
import type { Turn } from './turn.ts';

/**
 * Refuses whoever there is no room for before the router sees him. A flood brings ten of them for each who is served,
 * and what a refusal costs is taken from those: on the way through routes, hooks and an error that is thrown it would be
 * up to a quarter more. The answer is the same as there, and whoever needs another one goes that way: a page of another site, a
 * browser, a form, an address with an id in it, and everybody while the server is leaving.
 */
export interface RefuseAheadOptions {
  /** Whether there is no room for one more of that lane; he is counted as refused then. */
  readonly refuses: (lane: LaneName) => boolean;
  readonly refusal: DoorwardError;
  readonly answer: Turn['answer'];
  readonly isLeaving: () => boolean;
  readonly requestIdOf: (request: IncomingMessage) => string;
  /** Of every answer. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What there is to tell of a request that no hook has seen. */
export interface RefusedAhead {
  readonly requestId: string;
  readonly method: string;
  /** Template of the route. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
}

interface Place {
  readonly lane: LaneName;
  readonly route: string;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Called for each that was refused, in place of the hooks at the end of an answer. */
    whenRefusedAhead: ((told: RefusedAhead) => void)[];
  }
}

/** On a server that has no routes yet. */
export function refuseAhead(app: FastifyInstance, options: RefuseAheadOptions): void {
  const { refuses, refusal, answer, isLeaving, requestIdOf } = options;
  const known = new Map<string, Place>();
  const told: FastifyInstance['whenRefusedAhead'] = [];
  app.decorate('whenRefusedAhead', told);
  app.addHook('onRoute', ({ method, url, config: { lane, takesForm, forBrowsers } = {} }) => {
    if (!lane || takesForm || forBrowsers || /[:*]/.test(url)) return;
    for (const one of [method].flat()) known.set(`${one} ${url}`, { lane, route: url });
  });

  const headers = { ...options.headers, ...refusal.extras.headers, vary: 'Accept-Language, Origin' };
  const type = 'application/json; charset=utf-8';
  const lines = Object.entries({ ...headers, 'content-type': type }).flat();

  function send({ headers }: IncomingMessage, response: ServerResponse, lane: LaneName, requestId: string) {
    const language = pickLanguage(headers['accept-language']);
    const context = { language, requestId };
    const body = JSON.stringify(
      lane === 'graphql'
        ? { data: null, errors: [graphqlError(refusal, context)] }
        : restErrorBody(refusal, context),
    );
    const own = ['x-request-id', requestId, 'content-language', language];
    const length = ['content-length', String(Buffer.byteLength(body))];
    response.writeHead(refusal.status, [...lines, ...own, ...length]).end(body);
  }

  function isRefused(request: IncomingMessage, response: ServerResponse): boolean {
    const { method = '', url = '' } = request;
    const query = url.indexOf('?');
    const found = known.get(`${method} ${query < 0 ? url : url.slice(0, query)}`);
    if (!found || request.headers.origin !== undefined || isLeaving() || !refuses(found.lane)) return false;
    const began = performance.now();
    const requestId = requestIdOf(request);
    answer((failed) => {
      if (failed) return void response.destroy();
      const { lane, route } = found;
      send(request, response, lane, requestId);
      const ms = performance.now() - began;
      for (const tell of told) tell({ requestId, method, route, status: refusal.status, ms });
    });
    return true;
  }

  const { server } = app;
  const [route] = server.listeners('request') as [RequestListener];
  server.off('request', route);
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!isRefused(request, response)) route.call(server, request, response);
  });
}
