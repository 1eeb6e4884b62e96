import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import type { GithubDouble } from './github.ts';

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

/** `origin`: of the service, if it is not the default `APP_URL`. */
export function visitor(server: FastifyInstance, origin = 'http://localhost:4000'): Visitor {
  const cookies = new Map<string, string>();
  const ask = async (
    method: 'GET' | 'POST',
    address: string,
    headers: Record<string, string>,
    payload?: string,
  ) => {
    const { pathname, search } = new URL(address, 'http://localhost:4000');
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
