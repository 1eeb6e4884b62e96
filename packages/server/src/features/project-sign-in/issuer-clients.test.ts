import { Auth, skipCSRFCheck } from '@auth/core';
import { JwtRsaVerifier } from 'aws-jwt-verify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestApp } from '../../../test/support/app.ts';
import type { Person } from '../../../test/support/client.ts';
import { startAtOwnAddress } from '../../../test/support/own-address.ts';
import { appInProject, signInBrowser, type AppInProject } from '../../../test/support/project-app.ts';

/** Third-party clients and verifiers, unmodified, that are configured with the issuer and the client id alone. */
let app: TestApp;
let base: string;
let user: Person;

beforeAll(async () => {
  ({ app, base } = await startAtOwnAddress());
  user = await app.person();
});
afterAll(() => app.close());

const issuerOf = ({ issuer }: AppInProject) => issuer.replace('http://localhost:4000', base);

describe('Auth.js', () => {
  it('signs in with discovery', async () => {
    const origin = 'https://web.example';
    const callback = `${origin}/auth/callback/doorward`;
    const client = await appInProject(app, { confidential: true, redirectUris: [callback] }, user);
    const jar = new Map<string, string>();
    const handle = async (path: string, init: RequestInit = {}): Promise<Response> => {
      const headers = new Headers(init.headers);
      headers.set('cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '));
      const response = await Auth(new Request(origin + path, { ...init, headers }), {
        basePath: '/auth',
        secret: 'a secret of the test',
        trustHost: true,
        skipCSRFCheck,
        providers: [
          {
            id: 'doorward',
            name: 'Doorward',
            type: 'oidc',
            // The claims of scopes come from user info (OpenID Connect Core §5.4).
            idToken: false,
            issuer: issuerOf(client),
            clientId: client.clientId,
            clientSecret: client.clientSecret ?? '',
          },
        ],
      });
      for (const cookie of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
        jar.set(name, value);
      }
      return response;
    };
    const begun = await handle('/auth/signin/doorward', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ callbackUrl: origin }),
    });
    const browser = signInBrowser(app, client);
    const first = await browser.get(begun.headers.get('location') ?? '');
    expect(first.headers.location, first.body).toBe(`${base}/api/auth/project/sign-in`);
    const end = new URL(String((await browser.finish(user.email)).headers.location));
    const signedIn = await handle(end.pathname + end.search);
    expect(signedIn.headers.get('location')).toBe(origin);
    const session = (await (await handle('/auth/session')).json()) as { user: { email: string } };
    expect(session.user.email).toBe(user.email);
  });
});

it('aws-jwt-verify accepts id_tokens and access tokens of the RFC 9068 profile by the keys of the issuer', async () => {
  const client = await appInProject(app, { accessTokenProfile: 'rfc9068', scopes: ['board:read'] }, user);
  const browser = signInBrowser(app, client);
  await browser.authorize({ scope: 'openid board:read' });
  const end = new URL(String((await browser.finish(user.email)).headers.location));
  const answer = await fetch(`${base}/api/auth/project/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: end.searchParams.get('code') ?? '',
      redirect_uri: client.redirectUri,
      code_verifier: browser.verifier,
      client_id: client.clientId,
    }),
  });
  const tokens = (await answer.json()) as { id_token: string; access_token: string };
  const { keys } = (await (await fetch(`${issuerOf(client)}/.well-known/jwks.json`)).json()) as {
    keys: never[];
  };
  const verifierFor = (audience: string) => {
    const verifier = JwtRsaVerifier.create({ issuer: issuerOf(client), audience });
    verifier.cacheJwks({ keys });
    return verifier;
  };
  const identity = await verifierFor(client.clientId).verify(tokens.id_token);
  expect(identity.sub).toBe(user.userId);
  const access = await verifierFor(base).verify(tokens.access_token);
  expect(access).toMatchObject({ client_id: client.clientId, scope: 'openid board:read' });
  await expect(verifierFor(base).verify(tokens.id_token)).rejects.toThrow('Audience');
  await expect(verifierFor(client.clientId).verify(tokens.access_token)).rejects.toThrow('Audience');
});
