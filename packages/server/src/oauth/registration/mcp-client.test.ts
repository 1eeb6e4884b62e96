import { createServer, type Server } from 'node:http';
import { auth, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../../../../scripts/service.ts';
import type { TestApp } from '../../../test/support/app/app.ts';
import { startAtOwnAddress } from '../../../test/support/app/own-address.ts';
import { appInProject, signInBrowser, type AppInProject } from '../../../test/support/sign-in/project-app.ts';

/**
 * The OAuth client of the MCP TypeScript SDK, unmodified. It knows only the address of a server, finds the issuer by
 * RFC 9728 and RFC 8414, registers, signs in and refreshes. A custom `fetch`, which the SDK accepts, adds the initial
 * access token to the registration.
 */
let app: TestApp;
let base: string;
let host: AppInProject;
let resourceServer: Server;
let resource: string;

beforeAll(async () => {
  const resourcePort = await freePort();
  resource = `http://127.0.0.1:${resourcePort}/mcp`;
  ({ app, base } = await startAtOwnAddress({ OIDC_DYNAMIC_REGISTRATION: 'true' }));
  host = await appInProject(app);
  await app.must(
    'updateProject',
    {
      scope: host.scope,
      id: host.scope.id.split(':')[1] as string,
      dynamicRegistration: 'token',
      registrableScopes: ['board:read'],
      registrableResources: [resource],
    },
    { token: host.owner.token },
  );
  const issuer = host.issuer.replace('http://localhost:4000', base);
  resourceServer = createServer((request, response) => {
    const isMetadata = request.url === '/.well-known/oauth-protected-resource/mcp';
    const document = { resource, authorization_servers: [issuer], scopes_supported: ['board:read'] };
    response.writeHead(isMetadata ? 200 : 404, { 'content-type': 'application/json' });
    response.end(isMetadata ? JSON.stringify(document) : '');
  });
  await new Promise<void>((resolve) => resourceServer.listen(resourcePort, '127.0.0.1', resolve));
});
afterAll(async () => {
  resourceServer.close();
  await app.close();
});

async function initialAccessToken(): Promise<string> {
  const key = await app.must('createApiKey', { scope: host.scope }, { token: host.owner.token });
  const sent = { clientId: key.clientId, clientSecret: key.clientSecret as string, scope: key.scope };
  return (await app.must('exchangeApiKey', sent)).accessToken;
}

it('registers, signs in and renews', async () => {
  const initial = await initialAccessToken();
  const fetchFn = (url: string | URL, init?: RequestInit) => {
    const headers = new Headers(init?.headers);
    if (String(url).endsWith('/register')) headers.set('authorization', `Bearer ${initial}`);
    return fetch(url, { ...init, headers });
  };
  const saved: { client?: OAuthClientInformationMixed; tokens?: OAuthTokens; verifier?: string; page?: URL } =
    {};
  const redirectUrl = 'http://127.0.0.1:7777/callback';
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: {
      client_name: 'An MCP client',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    clientInformation: () => saved.client,
    saveClientInformation: (client) => void (saved.client = client),
    tokens: () => saved.tokens,
    saveTokens: (tokens) => void (saved.tokens = tokens),
    redirectToAuthorization: (page) => void (saved.page = page),
    saveCodeVerifier: (verifier) => void (saved.verifier = verifier),
    codeVerifier: () => saved.verifier ?? '',
  };
  expect(await auth(provider, { serverUrl: resource, fetchFn })).toBe('REDIRECT');
  const browser = signInBrowser(app, { clientId: saved.client?.client_id ?? '', redirectUri: redirectUrl });
  await browser.get(String(saved.page));
  const end = await browser.finish(host.owner.email);
  const authorizationCode = new URL(String(end.headers.location)).searchParams.get('code') ?? '';
  expect(await auth(provider, { serverUrl: resource, authorizationCode, fetchFn })).toBe('AUTHORIZED');
  const first = saved.tokens?.access_token ?? '';
  const claims = JSON.parse(Buffer.from(first.split('.')[1] ?? '', 'base64url').toString()) as {
    aud: string[];
  };
  expect(claims.aud).toEqual([base, resource]);
  expect(await auth(provider, { serverUrl: resource, fetchFn })).toBe('AUTHORIZED');
  expect(saved.tokens?.refresh_token).toMatch(/^dwr_/);
  expect((await app.raw('projectUserInfo', {}, { token: saved.tokens?.access_token ?? '' })).status).toBe(
    200,
  );
});
