import { DoorwardError } from './errors.ts';
import type { Settings } from './options.ts';

/** The endpoints of the service for sign-in (RFC 8414). */
export interface Endpoints {
  readonly authorization: string;
  readonly token: string;
  readonly revocation: string;
  readonly userInfo: string;
  readonly endSession: string;
}

/** A response of the service with any status. */
export interface Answer {
  readonly status: number;
  readonly etag: string | null;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The requests of this package. They send no cookies and no referrer, and follow no redirects. */
export interface Service {
  endpoints(): Promise<Endpoints>;
  /** Sends JSON with POST, or GET without a body. @throws DoorwardError if there was no response */
  call(
    path: string,
    token: string,
    init?: { readonly body?: object; readonly etag?: string },
  ): Promise<Answer>;
  userInfo(token: string): Promise<Answer>;
  /** Sends a form, which needs no preflight request. @throws DoorwardError */
  post(to: 'token' | 'revocation', fields: Readonly<Record<string, string>>): Promise<Answer>;
}

/**
 * Time limit of a request. For ten seconds a refresh token may be used again if the response was lost (identity §5), so
 * after a time-out there is still time for a second attempt.
 */
const TIMEOUT_MS = 5000;

export function createService({ issuer, clientId, api }: Settings): Service {
  let metadata: Promise<Endpoints> | undefined;

  async function discover(): Promise<Endpoints> {
    const { status, body } = await request(`${issuer}/.well-known/oauth-authorization-server`, {
      cache: 'default',
    });
    if (status >= 400) throw refusal({ status, etag: null, body });
    // RFC 8414 §3.3: metadata of another issuer must not be used.
    if (body['issuer'] !== issuer) throw badAnswer('The metadata is of another issuer.');
    const { origin } = new URL(issuer);
    const endpoint = (name: string): string => {
      const url = body[`${name}_endpoint`];
      if (typeof url === 'string' && URL.canParse(url) && new URL(url).origin === origin) return url;
      throw badAnswer(`The metadata has no ${name} endpoint of the service.`);
    };
    return {
      authorization: endpoint('authorization'),
      token: endpoint('token'),
      revocation: endpoint('revocation'),
      userInfo: endpoint('userinfo'),
      endSession: endpoint('end_session'),
    };
  }

  const endpoints = (): Promise<Endpoints> =>
    (metadata ??= discover().catch((error: unknown) => {
      metadata = undefined;
      throw error;
    }));

  return {
    endpoints,
    call: (path, token, { body, etag } = {}) =>
      request(api + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(etag === undefined ? {} : { 'if-none-match': etag }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    userInfo: async (token) =>
      request((await endpoints()).userInfo, { headers: { authorization: `Bearer ${token}` } }),
    post: async (to, fields) => {
      const address = (await endpoints())[to];
      const body = new URLSearchParams({ ...fields, client_id: clientId });
      // The page may close right after the user signs out.
      const answer = await request(address, { method: 'POST', body, keepalive: to === 'revocation' });
      if (answer.status >= 400) throw refusal(answer);
      return answer;
    },
  };
}

async function request(url: string, init: RequestInit = {}): Promise<Answer> {
  try {
    const response = await fetch(url, {
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...init,
    });
    const text = await response.text();
    return { status: response.status, etag: response.headers.get('etag'), body: parsed(text, response) };
  } catch (cause) {
    if (cause instanceof DoorwardError) throw cause;
    // Only the time-out above aborts the request. Some browsers throw an AbortError if it happens while the body
    // arrives.
    if (cause instanceof DOMException && /^(Timeout|Abort)Error$/.test(cause.name))
      throw new DoorwardError('TIMEOUT', 'The service did not answer in time.', { cause });
    throw new DoorwardError('UNREACHABLE', 'The service could not be reached.', {
      cause,
      fix: 'Check the connection, and that allowedOrigins of the app lists the origin of this page.',
    });
  }
}

function parsed(text: string, { status }: Response): Answer['body'] {
  if (status === 304) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Answer['body'];
  } catch {
    // Falls through: handled below, like any other body that is not an object.
  }
  throw new DoorwardError('BAD_ANSWER', 'The answer is not JSON.', { status });
}

export const badAnswer = (message: string): DoorwardError => new DoorwardError('BAD_ANSWER', message);

/** The error of a response, from the API's envelope (conventions §2) or OAuth's (RFC 6749 §5.2). */
export function refusal({ status, body }: Answer): DoorwardError {
  const text = (name: string) => (typeof body[name] === 'string' ? body[name] : undefined);
  const [code, error, description] = [text('code'), text('error'), text('error_description')];
  return new DoorwardError(
    code ?? error ?? 'BAD_ANSWER',
    (code === undefined ? description : error) ?? `The service answered ${status}.`,
    { status, fix: text('fix') ?? description, requestId: text('requestId') },
  );
}
