import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closed, redirectOf } from '../app/loopback.ts';

/**
 * An OAuth server on loopback that behaves like GitHub: codes of one use that are bound to client, address and PKCE
 * challenge, errors with status 200, and a user to be read with the token. Every response can be replaced by a fault.
 */
export interface GithubAccount {
  id: number | string;
  login: string;
  name: string | null;
  emails: { email: string; primary: boolean; verified: boolean }[];
}

interface Fault {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** Never responds. */
  readonly hangs?: true;
}

export interface GithubDouble {
  readonly url: string;
  /** The configuration of the service for this server. */
  readonly env: Record<string, string>;
  /** The account that is signed in there, in every browser. Null: the user presses Cancel. */
  account: GithubAccount | null;
  /** By path, e.g. `/user`. */
  readonly faults: Map<string, Fault>;
  /** Requests that came in, as method and path. */
  readonly requests: string[];
  /** A new account with a verified primary address. */
  newAccount(more?: Partial<GithubAccount>): GithubAccount;
  /** The address to which a browser is redirected. */
  visit(address: string): Promise<string>;
  close(): Promise<void>;
}

interface Grant {
  readonly account: GithubAccount;
  readonly redirectUri: string;
  readonly challenge: string;
}

const clientId = 'doorward-test';
const clientSecret = 'the secret of the test';

export async function startGithub(): Promise<GithubDouble> {
  const grants = new Map<string, Grant>();
  const tokens = new Map<string, GithubAccount>();
  let count = 0;

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const double: GithubDouble = {
    url,
    env: {
      GITHUB_CLIENT_ID: clientId,
      GITHUB_CLIENT_SECRET: clientSecret,
      GITHUB_WEB_URL: url,
      GITHUB_API_URL: `${url}/api/v3`,
    },
    account: null,
    faults: new Map(),
    requests: [],
    newAccount: (more = {}) => {
      const id = Number.parseInt(randomBytes(5).toString('hex'), 16);
      const email = `octo-${++count}-${id}@example.test`;
      const emails = [
        { email: `old-${email}`, primary: false, verified: true },
        { email, primary: true, verified: true },
      ];
      return { id, login: `octo-${id}`, name: `Octo ${count}`, emails, ...more };
    },
    visit: (url) => redirectOf('GitHub', url),
    close: () => closed(server),
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', url);
    double.requests.push(`${request.method} ${pathname}`);
    const json = (body: unknown, status = 200) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const fault = double.faults.get(pathname);
    if (fault?.hangs) return;
    if (fault) return void response.writeHead(fault.status ?? 200, fault.headers).end(fault.body ?? '');
    switch (`${request.method} ${pathname}`) {
      case 'GET /login/oauth/authorize':
        return authorize(searchParams, response);
      case 'POST /login/oauth/access_token':
        return json(exchange(new URLSearchParams(await textOf(request))));
      case 'GET /api/v3/user':
      case 'GET /api/v3/user/emails': {
        const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
        const account = tokens.get(token);
        if (!account || !request.headers['user-agent']) return json({ message: 'Bad credentials' }, 401);
        const { emails, ...user } = account;
        return json(pathname.endsWith('/emails') ? emails : user);
      }
      default:
        return json({ message: 'Not Found' }, 404);
    }
  }

  function authorize(urlSearchParams: URLSearchParams, response: ServerResponse): void {
    const get = (name: string) => urlSearchParams.get(name) ?? '';
    const wrong =
      get('client_id') !== clientId ||
      get('response_type') !== 'code' ||
      get('scope') !== 'read:user user:email' ||
      get('code_challenge_method') !== 'S256' ||
      get('code_challenge').length !== 43 ||
      get('state').length < 32;
    if (wrong) return void response.writeHead(400).end(`not to be authorized: ${urlSearchParams.toString()}`);
    const back = new URL(get('redirect_uri'));
    back.searchParams.set('state', get('state'));
    if (double.account) {
      const code = randomBytes(10).toString('hex');
      const redirectUri = get('redirect_uri');
      grants.set(code, { account: double.account, redirectUri, challenge: get('code_challenge') });
      back.searchParams.set('code', code);
    } else {
      back.searchParams.set('error', 'access_denied');
      back.searchParams.set('error_description', 'The user has denied your application access.');
      back.searchParams.set('error_uri', 'https://docs.example.test/errors#access-denied');
    }
    response.writeHead(302, { location: back.href }).end();
  }

  function exchange(sent: URLSearchParams): unknown {
    if (sent.get('client_id') !== clientId || sent.get('client_secret') !== clientSecret) {
      return { error: 'incorrect_client_credentials', error_description: 'They are not right.' };
    }
    const code = sent.get('code') ?? '';
    const grant = grants.get(code);
    grants.delete(code);
    const challenge = createHash('sha256')
      .update(sent.get('code_verifier') ?? '')
      .digest('base64url');
    if (!grant || grant.redirectUri !== sent.get('redirect_uri') || grant.challenge !== challenge) {
      return { error: 'bad_verification_code', error_description: 'It is not right, or was used.' };
    }
    const token = `gho_${randomBytes(18).toString('hex')}`;
    tokens.set(token, grant.account);
    return { access_token: token, token_type: 'bearer', scope: 'read:user,user:email' };
  }

  return double;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
