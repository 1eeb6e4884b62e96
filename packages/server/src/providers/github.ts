import * as oauth from 'openid-client';
import { z } from 'zod';
import type { Config } from '../config/config.ts';
import { fail } from '../errors.ts';
import { email } from '../kernel/input/values.ts';
import {
  ProviderFault,
  readLimited,
  shownName,
  TIMEOUT_SECONDS,
  withProviderFault,
  type IdentityProvider,
} from './provider.ts';

const Account = z.object({
  id: z.int().positive(),
  login: z.string().nullish().catch(null),
  name: z.string().nullish().catch(null),
});
const Addresses = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));

/** Creates a PKCE verifier for a flow (RFC 7636), without which a stolen code is useless. */
export const newVerifier = (): string => oauth.randomPKCECodeVerifier();

/**
 * Creates the provider for GitHub, an OAuth 2.0 server. It has neither discovery nor id_tokens, so its endpoints are
 * built here and its API identifies the user. Its responses are validated, and every failure is a `ProviderFault`.
 * `callback`: the address to which GitHub redirects.
 *
 * @throws PROVIDER_NOT_CONFIGURED
 */
export function githubAt(
  { client, webUrl, apiUrl }: Config['github'],
  callback: string,
  timeoutSeconds = TIMEOUT_SECONDS,
): IdentityProvider {
  if (!client) {
    throw fail('PROVIDER_NOT_CONFIGURED', {
      fix: 'Sign in with e-mail address and password; the operator can set GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET.',
    });
  }
  const server = {
    issuer: webUrl,
    authorization_endpoint: `${webUrl}/login/oauth/authorize`,
    token_endpoint: `${webUrl}/login/oauth/access_token`,
  };
  const config = new oauth.Configuration(server, client.id, client.secret);
  config.timeout = timeoutSeconds;
  config[oauth.customFetch] = boundedFetch;
  // Whether http is acceptable was already decided when the configuration was read.
  if ([webUrl, apiUrl].some((url) => url.startsWith('http:'))) oauth.allowInsecureRequests(config);

  async function callApi(token: string, path: string): Promise<unknown> {
    const headers = new Headers({ accept: 'application/vnd.github+json', 'user-agent': 'Doorward' });
    const url = new URL(`${apiUrl}${path}`);
    const response = await oauth.fetchProtectedResource(config, token, url, 'GET', null, headers);
    if (response.status !== 200) throw new ProviderFault('GitHub', `${path} answered ${response.status}`);
    return response.json();
  }

  return {
    key: 'github',
    name: 'GitHub',
    allowSignUp: true,
    reach: () => Promise.resolve(),
    async signInPage(state, verifier) {
      const url = oauth.buildAuthorizationUrl(config, {
        redirect_uri: callback,
        scope: 'read:user user:email',
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      return url.href;
    },
    async identify({ code = '' }, { verifier }) {
      const { access_token: token } = await withProviderFault('GitHub', 'the code was not exchanged', () => {
        const url = new URL(callback);
        url.searchParams.set('code', code);
        return oauth.authorizationCodeGrant(config, url, { pkceCodeVerifier: verifier });
      });
      const [account, addresses] = await withProviderFault(
        'GitHub',
        'the user could not be read',
        async () => {
          const answers = await Promise.all([callApi(token, '/user'), callApi(token, '/user/emails')]);
          return [Account.parse(answers[0]), Addresses.parse(answers[1])] as const;
        },
      );
      const primary = addresses.find((address) => address.primary && address.verified);
      const [login, name] = [shownName(account.login), shownName(account.name)];
      return {
        id: String(account.id),
        address: email.safeParse(primary?.email).data ?? null,
        name: name ?? login,
        login,
      };
    },
  };
}

/** A fetch that follows no redirects, because only configured addresses are trusted, and limits the response. */
async function boundedFetch(url: string, options: oauth.CustomFetchOptions): Promise<Response> {
  const response = await fetch(url, { ...options, redirect: 'manual' } as RequestInit);
  const content = await readLimited((response.body ?? []) as AsyncIterable<Uint8Array>);
  const { status, headers } = response;
  return new Response(new Uint8Array(content), { status, headers: withoutContentCoding(headers) });
}

/** Removes the headers of a coding that `fetch` has already decoded. */
function withoutContentCoding(headers: Headers): Headers {
  const remaining = new Headers(headers);
  remaining.delete('content-encoding');
  remaining.delete('content-length');
  return remaining;
}
