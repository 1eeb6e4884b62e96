import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import { closed, redirectOf } from '../app/loopback.ts';

/**
 * A provider of OpenID Connect on loopback: discovery, codes of one use that are bound to client, URL and PKCE challenge,
 * signed id_tokens, user info. A test changes what it says by `claims`, `idToken` and `faults`.
 */
export interface OpenidDouble {
  readonly issuer: string;
  /** Its entry in `IDENTITY_PROVIDERS`. */
  readonly entry: Record<string, unknown>;
  /** The claims of the person who is signed in there, in every browser. Null: they press Cancel. */
  person: (JWTPayload & { sub: string }) | null;
  /** Claims that only the user info has; absent: none. */
  userInfo: Record<string, unknown>;
  /** Changes the id_token before it is signed; null: none is sent. */
  idToken: ((claims: JWTPayload) => JWTPayload | null) | undefined;
  /** Signs with this key instead of the published one. */
  signingKey: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'] | undefined;
  /** Changes the metadata. */
  metadata: Record<string, unknown>;
  /** Answers of a path, e.g. `/token`. */
  readonly faults: Map<
    string,
    { readonly status: number; readonly body?: string; readonly headers?: Record<string, string> }
  >;
  /** Requests that came in, as method and path, with the text that they sent. */
  readonly requests: { readonly what: string; readonly body: string; readonly authorization: string }[];
  newPerson(more?: Record<string, unknown>): JWTPayload & { sub: string };
  /** The URL to which a browser is redirected. */
  visit(url: string): Promise<string>;
  close(): Promise<void>;
}

interface Grant {
  readonly claims: JWTPayload & { sub: string };
  readonly redirectUri: string;
  readonly challenge: string;
  readonly nonce: string;
}

export const clientSecret = 'the secret of the test';

export async function startOpenidProvider(key = 'acme', name = 'Acme ID'): Promise<OpenidDouble> {
  const grants = new Map<string, Grant>();
  const tokens = new Map<string, Grant>();
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const clientId = `doorward-at-${key}`;
  let count = 0;

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const double: OpenidDouble = {
    issuer,
    entry: { key, name, issuer, clientId, clientSecret },
    person: null,
    userInfo: {},
    idToken: undefined,
    signingKey: undefined,
    metadata: {},
    faults: new Map(),
    requests: [],
    newPerson: (more = {}) => ({
      sub: `person-${++count}-${randomBytes(4).toString('hex')}`,
      email: `person-${count}-${randomBytes(4).toString('hex')}@example.test`,
      email_verified: true,
      name: `Person ${count}`,
      ...more,
    }),
    visit: (url) => redirectOf(name, url),
    close: () => closed(server),
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', issuer);
    const { authorization = '' } = request.headers;
    let body = '';
    for await (const chunk of request) body += String(chunk);
    double.requests.push({ what: `${request.method} ${pathname}`, body, authorization });
    const json = (content: unknown, status = 200) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content));
    const fault = double.faults.get(pathname);
    if (fault) return void response.writeHead(fault.status, fault.headers).end(fault.body ?? '');
    switch (pathname) {
      case '/.well-known/openid-configuration':
        return json({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          userinfo_endpoint: `${issuer}/userinfo`,
          jwks_uri: `${issuer}/jwks`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256', 'ES256'],
          authorization_response_iss_parameter_supported: true,
          ...double.metadata,
        });
      case '/jwks':
        return json({ keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }] });
      case '/authorize':
        return authorize(searchParams, response);
      case '/token':
        return token(new URLSearchParams(body), authorization, json);
      case '/userinfo': {
        const grant = tokens.get(/^Bearer (.+)$/.exec(authorization)?.[1] ?? '');
        return grant ? json({ sub: grant.claims.sub, ...double.userInfo }) : json({}, 401);
      }
      default:
        return json({ message: 'Not Found' }, 404);
    }
  }

  function authorize(sent: URLSearchParams, response: ServerResponse): void {
    const get = (parameter: string) => sent.get(parameter) ?? '';
    const isRight =
      get('client_id') === clientId &&
      get('response_type') === 'code' &&
      get('scope').split(' ').includes('openid') &&
      get('code_challenge_method') === 'S256' &&
      get('code_challenge').length === 43 &&
      get('nonce').length === 43 &&
      get('nonce') !== get('code_challenge') &&
      get('state').length >= 32;
    if (!isRight) return void response.writeHead(400).end(`not to be authorized: ${sent.toString()}`);
    const back = new URL(get('redirect_uri'));
    back.searchParams.set('state', get('state'));
    back.searchParams.set('iss', issuer);
    if (double.person) {
      const code = randomBytes(10).toString('hex');
      grants.set(code, {
        claims: double.person,
        redirectUri: get('redirect_uri'),
        challenge: get('code_challenge'),
        nonce: get('nonce'),
      });
      back.searchParams.set('code', code);
    } else {
      back.searchParams.set('error', 'access_denied');
    }
    response.writeHead(302, { location: back.href }).end();
  }

  async function token(
    sent: URLSearchParams,
    authorization: string,
    json: (content: unknown, status?: number) => void,
  ): Promise<void> {
    const basic = Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString();
    const secret = decodeURIComponent((basic.split(':')[1] ?? '').replaceAll('+', ' '));
    if (secret !== clientSecret && sent.get('client_secret') !== clientSecret) {
      return json({ error: 'invalid_client' }, 401);
    }
    const code = sent.get('code') ?? '';
    const grant = grants.get(code);
    grants.delete(code);
    const challenge = createHash('sha256')
      .update(sent.get('code_verifier') ?? '')
      .digest('base64url');
    if (!grant || grant.redirectUri !== sent.get('redirect_uri') || grant.challenge !== challenge) {
      return json({ error: 'invalid_grant' }, 400);
    }
    const accessToken = randomBytes(18).toString('hex');
    tokens.set(accessToken, grant);
    const now = Math.floor(Date.now() / 1000);
    const standard = { iss: issuer, aud: clientId, iat: now, exp: now + 300, nonce: grant.nonce };
    const claims = { ...standard, ...grant.claims };
    const stated = double.idToken ? double.idToken(claims) : claims;
    const idToken =
      stated &&
      (await new SignJWT(stated)
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .sign(double.signingKey ?? privateKey));
    json({
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: 60,
      ...(idToken && { id_token: idToken }),
    });
  }

  return double;
}
