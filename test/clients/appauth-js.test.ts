import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { launch } from '../../packages/server/test/browser/watched.ts';
import { useProvider } from './support/client.ts';

/** AppAuth-js, unmodified, in a page of a public app in Chromium, with the issuer and the client id alone. */
const provider = useProvider();

/** The program of the page. AppAuth reads the answer from the fragment by default; that of a code is in the query. */
const program = `
import * as appauth from '@openid/appauth';
class Query extends appauth.BasicQueryStringUtils {
  parse(input) { return super.parse(input, false); }
}
const requestor = new appauth.FetchRequestor();
const handler = new appauth.RedirectRequestHandler(new appauth.LocalStorageBackend(), new Query());
const notifier = new appauth.AuthorizationNotifier();
handler.setAuthorizationNotifier(notifier);
const { issuer, client_id, redirect_uri } = settings;
const show = (id, value) => {
  const line = document.createElement('p');
  line.id = id;
  line.textContent = JSON.stringify(value);
  document.body.append(line);
};
const service = await appauth.AuthorizationServiceConfiguration.fetchFromIssuer(issuer, requestor);
notifier.setAuthorizationListener(async (request, response, error) => {
  if (error) return show('failed', error);
  const tokens = new appauth.BaseTokenRequestHandler(requestor);
  const exchange = (fields) =>
    tokens.performTokenRequest(service, new appauth.TokenRequest({ client_id, redirect_uri, ...fields }));
  const code_verifier = request.internal.code_verifier;
  const extras = { code_verifier };
  const first = await exchange({ grant_type: appauth.GRANT_TYPE_AUTHORIZATION_CODE, code: response.code, extras });
  const second = await exchange({ grant_type: appauth.GRANT_TYPE_REFRESH_TOKEN, refresh_token: first.refreshToken });
  const authorization = 'Bearer ' + second.accessToken;
  const answer = await fetch(service.userInfoEndpoint, { headers: { authorization } });
  show('user', await answer.json());
});
if (location.search.includes('code=') || location.search.includes('error=')) {
  await handler.completeAuthorizationRequestIfPossible();
} else {
  const request = new appauth.AuthorizationRequest({
    client_id,
    redirect_uri,
    scope: 'openid email offline_access',
    response_type: appauth.AuthorizationRequest.RESPONSE_TYPE_CODE,
  });
  handler.performAuthorizationRequest(service, request);
}
`;

it('AppAuth-js signs in, renews, and reads user info', async () => {
  let script = '';
  const site = createServer((request, response) => {
    const isScript = request.url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(
      isScript ? script : '<!doctype html><title>App</title><script type="module" src="/page.js"></script>',
    );
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  // Cookies belong to a host name, whatever the port: that of the service is another.
  const origin = `http://localhost:${(site.address() as AddressInfo).port}`;
  const client = await provider.makeApp({ redirectUris: [`${origin}/callback`], allowedOrigins: [origin] });
  const settings = {
    issuer: provider.issuerOf(client),
    client_id: client.clientId,
    redirect_uri: `${origin}/callback`,
  };
  const bundle = await build({
    stdin: { contents: program, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    logLevel: 'error',
    define: { settings: JSON.stringify(settings) },
    nodePaths: [join(import.meta.dirname, 'node_modules')],
  });
  script = bundle.outputFiles[0]?.text ?? '';

  const browser = await launch();
  const page = await browser.newPage({ locale: 'en' });
  page.setDefaultTimeout(20_000);
  const { app, user } = provider;
  await page.goto(origin);
  await page.locator('#email').fill(user.email);
  await page.locator('#email').press('Enter');
  await page.locator('input[name=code]').waitFor();
  await page.locator('input[name=code]').fill(await app.mailedCode(user.email));
  await page.locator('input[name=code]').press('Enter');
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.locator('#user, #failed').waitFor();
  expect(JSON.parse((await page.locator('#user').textContent()) ?? '')).toMatchObject({
    sub: user.userId,
    email: user.email,
    email_verified: true,
  });
  await browser.close();
  site.close();
});
