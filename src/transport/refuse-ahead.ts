import type { FastifyInstance } from 'fastify';
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { DoorwardError } from '../errors.ts';
import { pickLanguage } from '../i18n/translate.ts';
import type { LaneName } from './lanes.ts';
import { createRefusalTexts, type RefusalText } from './refusal-text.ts';
import { createSocketRefusals } from './refuse-on-socket.ts';
import type { Turn } from './turn.ts';

/**
 * Refuses whoever there is no room for before the router sees him. A flood brings ten of them for each who is served,
 * and what a refusal costs is taken from those: on the way through routes, hooks and an error that is thrown it would be
 * up to a quarter more. The answer is the same as there, and whoever needs another one goes that way: a page of another
 * site, a browser, a form, an address with an id in it, and everybody while the server is leaving.
 */
export interface RefuseAheadOptions {
  /** Whether there is no room for one more of that lane; he is counted as refused then. */
  readonly refuses: (lane: LaneName) => boolean;
  readonly refusal: DoorwardError;
  readonly answer: Turn['answer'];
  readonly isLeaving: () => boolean;
  readonly requestIdOf: (headers: IncomingHttpHeaders) => string;
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

/** After so long without a refusal connections are read by the parser alone again. */
const CALM_MS = 10_000;

interface Place {
  readonly lane: LaneName;
  readonly route: string;
}

/** What is looked at of a request. */
interface Asked {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
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
  const { server } = app;
  const known = new Map<string, Place>();
  const told: FastifyInstance['whenRefusedAhead'] = [];
  app.decorate('whenRefusedAhead', told);
  app.addHook('onRoute', ({ method, url, config: { lane, takesForm, forBrowsers } = {} }) => {
    if (!lane || takesForm || forBrowsers || /[:*]/.test(url)) return;
    for (const one of [method].flat()) known.set(`${one} ${url}`, { lane, route: url });
  });

  let lastRefused = -Infinity;
  /** Where he asks, if he is refused; counted then. */
  function refusedPlace({ method = '', url = '', headers }: Asked): Place | null {
    const query = url.indexOf('?');
    const place = known.get(`${method} ${query < 0 ? url : url.slice(0, query)}`);
    if (!place || headers.origin !== undefined || isLeaving() || !refuses(place.lane)) return null;
    lastRefused = performance.now();
    return place;
  }

  const texts = createRefusalTexts(refusal, options.headers);
  /** The answer, told of as if it were out. */
  function refuse({ lane, route }: Place, { method = '', headers }: Asked, began: number): RefusalText {
    const requestId = requestIdOf(headers);
    const language = pickLanguage(headers['accept-language']);
    const text = texts.textTo({ requestId, language, isGraphql: lane === 'graphql' });
    const ms = performance.now() - began;
    for (const tell of told) tell({ requestId, method, route, status: refusal.status, ms });
    return text;
  }

  const sockets = createSocketRefusals({
    isCalm: () => performance.now() - lastRefused > CALM_MS,
    refusalOf(asked) {
      // An answer to HEAD has no body.
      const place = asked.method === 'HEAD' ? null : refusedPlace(asked);
      if (!place) return null;
      const text = refuse(place, asked, performance.now());
      return texts.onTheWire(text, Math.floor(server.keepAliveTimeout / 1000));
    },
  });

  function isRefused(request: IncomingMessage, response: ServerResponse): boolean {
    const place = refusedPlace(request);
    if (!place) return false;
    const began = performance.now();
    answer((failed) => {
      if (failed) return void response.destroy();
      const { own, body } = refuse(place, request, began);
      response.writeHead(refusal.status, [...texts.fields, ...own]).end(body);
      sockets.watch(response);
    });
    return true;
  }

  const [route] = server.listeners('request') as [RequestListener];
  server.off('request', route);
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    sockets.handedOver(request, response);
    if (!isRefused(request, response)) route.call(server, request, response);
  });
}
