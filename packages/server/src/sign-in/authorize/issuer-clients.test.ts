import { JwtRsaVerifier } from 'aws-jwt-verify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { startAtOwnAddress } from '../../../test/support/app/own-address.ts';
import { appInProject, signInBrowser, type AppInProject } from '../../../test/support/sign-in/project-app.ts';

/** A third-party verifier, unmodified, that is configured with the issuer and the client id alone. */
let app: TestApp;
let base: string;
let user: Person;

beforeAll(async () => {
  ({ app, base } = await startAtOwnAddress());
  user = await app.person();
});
afterAll(() => app.close());

const issuerOf = ({ issuer }: AppInProject) => issuer.replace('http://localhost:4000', base);

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
