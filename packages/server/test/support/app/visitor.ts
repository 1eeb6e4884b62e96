import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import type { GithubDouble } from '../sign-in/github.ts';

/** A browser as far as sign-ins need it: it stores cookies and follows redirects, one step at a time. */
export interface Visitor {
  readonly cookies: Map<string, string>;
  get(address: string, headers?: Record<string, string>): Promise<LightMyRequestResponse>;
  post(
    address: string,
    form: Record<string, string>,
    headers?: Record<string, string>,
  ): Promise<LightMyRequestResponse>;
  /** Starts a sign-in and returns the callback address that GitHub redirects to. */
  toGithub(github: GithubDouble, query?: Record<string, string>): Promise<string>;
  /** All steps to a connected account; returns the last response, of the page or before it. */
  connect(github: GithubDouble, query?: Record<string, string>): Promise<LightMyRequestResponse>;
  /** All steps of a sign-in; returns the last response. */
  signIn(github: GithubDouble, query?: Record<string, string>): Promise<LightMyRequestResponse>;
}

/** The names of the cookies of a browser, without those of flows, which outlive the flows. */
export const cookieNames = ({ cookies }: Pick<Visitor, 'cookies'>): string[] =>
  [...cookies.keys()].filter((name) => !name.startsWith('doorward_flow_'));

/** The page without what differs in each sign-in: the flow in its links. */
export const withoutFlow = (page: string): string => page.replaceAll(/(?:\?|&amp;)flow=[\w-]{8}/g, '');

/** The flow in the address of a page: it differs in each sign-in. */
const flowParameter = /[?&]flow=[\w-]{8}$/;

/**
 * `origin`: of the service, if it is not the default `APP_URL`. The location of an answer is shown without the flow that it names,
 * and the visitor adds it again when it goes there; `showsFlow`: as sent, for a browser with several tabs.
 */
export function visitor(
  server: FastifyInstance,
  origin = 'http://localhost:4000',
  { showsFlow = false }: { readonly showsFlow?: boolean } = {},
): Visitor {
  const cookies = new Map<string, string>();
  /** The page to which the visitor was led last: its address as shown, and as sent. */
  let led = { shown: '', sent: '' };
  const ask = async (
    method: 'GET' | 'POST',
    address: string,
    headers: Record<string, string>,
    payload?: string,
  ) => {
    const { pathname, search } = new URL(
      method === 'GET' && address === led.shown ? led.sent : address,
      'http://localhost:4000',
    );
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await server.inject({
      method,
      url: pathname + search,
      headers: { ...(cookie ? { cookie } : {}), ...headers },
      ...(payload === undefined ? {} : { payload }),
    });
    for (const { name, value, maxAge, expires } of answer.cookies) {
      const over = maxAge === 0 || (expires !== undefined && expires.getTime() <= Date.now());
      if (over) cookies.delete(name);
      else cookies.set(name, value);
    }
    const { location } = answer.headers;
    if (typeof location === 'string' && !showsFlow) {
      const shown = location.replace(flowParameter, '');
      led = { shown, sent: location };
      answer.headers.location = shown;
    }
    return answer;
  };
  const self: Visitor = {
    cookies,
    get: (address, headers = {}) => ask('GET', address, headers),
    post: (address, form, headers = {}) =>
      ask(
        'POST',
        address,
        {
          'content-type': 'application/x-www-form-urlencoded',
          origin,
          ...headers,
        },
        new URLSearchParams(form).toString(),
      ),
    async toGithub(github, query = {}) {
      const start = await self.get(`/api/auth/github?${new URLSearchParams(query).toString()}`);
      if (start.statusCode !== 302) throw new Error(`the sign-in did not begin: ${start.body}`);
      return github.visit(String(start.headers.location));
    },
    async connect(github, query = {}) {
      const back = await self.signIn(github, { ...query, action: 'connect' });
      if (!String(back.headers.location).endsWith('/hosted/connect-provider')) return back;
      const page = await self.get('/hosted/connect-provider');
      const formToken = /name="formToken" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
      return self.post('/api/auth/providers/connect', { decision: 'approve', formToken });
    },
    async signIn(github, query) {
      return self.get(await self.toGithub(github, query));
    },
  };
  return self;
}
