import { expect, it } from 'vitest';
import { clientModule, cookieJar, useProvider } from './support/client.ts';

/** Auth.js (`@auth/core`), unmodified, with the issuer and the credentials alone. */
const provider = useProvider();

interface AuthJs {
  readonly Auth: (request: Request, options: object) => Promise<Response>;
  readonly skipCSRFCheck: symbol;
}

const form = { 'content-type': 'application/x-www-form-urlencoded' };

/**
 * By default Auth.js takes all it knows from the id_token, which it verifies. Names and addresses are claims of user info
 * (OpenID Connect Core §5.4), which it asks with `idToken: false`.
 */
it.each([
  { title: 'an id_token', more: {}, expected: () => ({}) },
  {
    title: 'user info',
    more: { idToken: false },
    expected: () => ({ name: 'Ada Lovelace', email: provider.user.email }),
  },
])('Auth.js signs in, and knows the user by $title', async ({ more, expected }) => {
  const { Auth, skipCSRFCheck } = await clientModule<AuthJs>('@auth/core/index.js');
  const origin = 'https://web.example';
  const callback = `${origin}/auth/callback/doorward`;
  const client = await provider.makeApp({ confidential: true, redirectUris: [callback] });
  const problems: unknown[] = [];
  const ask = cookieJar((request) =>
    Auth(request, {
      basePath: '/auth',
      secret: 'a secret of the test',
      trustHost: true,
      skipCSRFCheck,
      callbacks: {
        jwt: ({ token, account }: Record<'token' | 'account', Record<string, unknown> | undefined>) =>
          account ? { ...token, subject: account['providerAccountId'] } : token,
        session: ({ session, token }: Record<'session' | 'token', Record<string, unknown>>) => ({
          ...session,
          subject: token['subject'],
        }),
      },
      logger: { error: (problem: unknown) => problems.push(problem) },
      providers: [
        {
          id: 'doorward',
          name: 'Doorward',
          type: 'oidc',
          issuer: provider.issuerOf(client),
          clientId: client.clientId,
          clientSecret: client.clientSecret,
          ...more,
        },
      ],
    }),
  );
  const body = new URLSearchParams({ callbackUrl: origin });
  const begun = await ask(`${origin}/auth/signin/doorward`, { method: 'POST', headers: form, body });
  const end = await provider.signIn(client, begun.headers.get('location') ?? '');
  const signedIn = await ask(end.href);
  expect(problems).toEqual([]);
  expect(signedIn.headers.get('location')).toBe(origin);
  const session = (await (await ask(`${origin}/auth/session`)).json()) as {
    user: object;
    subject: string;
  };
  expect(session.subject).toBe(provider.user.userId);
  expect(session.user).toEqual(expected());
});
