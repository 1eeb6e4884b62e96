import { expect, it } from 'vitest';
import { clientModule, cookieJar, useProvider } from './support/client.ts';

/** better-auth with its plugin for any provider, unmodified, with the discovery document and the credentials alone. */
const provider = useProvider();

interface BetterAuth {
  readonly betterAuth: (options: object) => { readonly handler: (request: Request) => Promise<Response> };
}
interface Plugin {
  readonly genericOAuth: (options: object) => object;
}
interface Memory {
  readonly memoryAdapter: (tables: Record<string, Record<string, unknown>[]>) => object;
}

it('better-auth signs in, and stores the user with a verified address', async () => {
  const { betterAuth } = await clientModule<BetterAuth>('better-auth/dist/index.mjs');
  const { genericOAuth } = await clientModule<Plugin>('better-auth/dist/plugins/generic-oauth/index.mjs');
  const { memoryAdapter } = await clientModule<Memory>('better-auth/dist/adapters/memory-adapter/index.mjs');
  const origin = 'http://localhost:3999';
  const redirectUris = [
    `${origin}/api/auth/callback/doorward`,
    `${origin}/api/auth/oauth2/callback/doorward`,
  ];
  const client = await provider.makeApp({ confidential: true, redirectUris });
  const tables = { user: [], session: [], account: [], verification: [] } as Record<
    'user' | 'session' | 'account' | 'verification',
    Record<string, unknown>[]
  >;
  const { handler } = betterAuth({
    baseURL: origin,
    secret: 'a secret of the test that is long enough',
    database: memoryAdapter(tables),
    telemetry: { enabled: false },
    plugins: [
      genericOAuth({
        config: [
          {
            providerId: 'doorward',
            discoveryUrl: `${provider.issuerOf(client)}/.well-known/openid-configuration`,
            clientId: client.clientId,
            clientSecret: client.clientSecret,
            scopes: ['openid', 'profile', 'email'],
            pkce: true,
            requireIdTokenVerification: true,
          },
        ],
      }),
    ],
  });
  const ask = cookieJar(handler);
  const begun = await ask(`${origin}/api/auth/sign-in/social`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify({ provider: 'doorward', callbackURL: '/welcome' }),
  });
  const { url } = (await begun.json()) as { url: string };
  const end = await provider.signIn(client, url);
  const signedIn = await ask(end.href);
  expect(signedIn.headers.get('location')).toBe('/welcome');
  const session = (await (await ask(`${origin}/api/auth/get-session`)).json()) as { user: object };
  const { email, userId } = provider.user;
  expect(session.user).toMatchObject({ name: 'Ada Lovelace', email, emailVerified: true });
  expect(tables.account).toMatchObject([{ providerId: 'doorward', accountId: userId }]);
});
