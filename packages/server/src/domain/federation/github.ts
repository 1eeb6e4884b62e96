import * as oauth from 'openid-client';
import { z } from 'zod';
import type { Config } from '../../config/config.ts';
import { fail } from '../../errors.ts';
import { email, text } from '../../kernel/input/values.ts';

/**
 * GitHub as an OAuth 2.0 server. It has neither discovery nor id tokens, so its endpoints are built here and its API
 * identifies the user. Its answers are validated, and every failure there is a `ProviderFault`.
 */

/** A GitHub account. Only the account id identifies the user: login names and addresses can be taken over. */
export interface Identity {
  readonly id: string;
  /** The primary address, canonical, if it is verified; else null. */
  readonly address: string | null;
  readonly name: string | null;
  /** The login name, for pages that ask about the account. */
  readonly login: string | null;
}

/** Names the failed step and its error code, for the log: neither a token nor any part of the answer. */
export class ProviderFault extends Error {
  override readonly name = 'ProviderFault';
  readonly code: string | undefined;

  constructor(step: string, error?: unknown) {
    super(`GitHub: ${step}`);
    const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
    this.code = typeof code === 'string' ? code : typeof name === 'string' ? name : undefined;
  }
}

/** Limit for an answer, far above what GitHub sends. */
const MAX_BYTES = 262_144;
/** Limit for one call; GitHub usually answers in well under a second. */
const TIMEOUT_SECONDS = 8;

const Account = z.object({
  id: z.int().positive(),
  login: z.string().nullish().catch(null),
  name: z.string().nullish().catch(null),
});
const Addresses = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));

export interface Github {
  /** The address at which the user signs in. */
  signInPage(state: string, verifier: string): Promise<string>;
  /**
   * Exchanges the code and reads the account.
   * @throws ProviderFault
   */
  identify(code: string, verifier: string): Promise<Identity>;
}

export const newVerifier = (): string => oauth.randomPKCECodeVerifier();

/**
 * `callback`: the address to which GitHub redirects.
 * @throws PROVIDER_NOT_CONFIGURED
 */
export function githubAt(
  { client, webUrl, apiUrl }: Config['github'],
  callback: string,
  timeoutSeconds = TIMEOUT_SECONDS,
): Github {
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
  // Whether http is acceptable was decided when the configuration was read.
  if ([webUrl, apiUrl].some((url) => url.startsWith('http:'))) oauth.allowInsecureRequests(config);

  async function callApi(token: string, path: string): Promise<unknown> {
    const headers = new Headers({ accept: 'application/vnd.github+json', 'user-agent': 'Doorward' });
    const url = new URL(`${apiUrl}${path}`);
    const response = await oauth.fetchProtectedResource(config, token, url, 'GET', null, headers);
    if (response.status !== 200) throw new ProviderFault(`${path} answered ${response.status}`);
    return response.json();
  }

  return {
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
    async identify(code, verifier) {
      const { access_token: token } = await withProviderFault('the code was not exchanged', () => {
        const url = new URL(callback);
        url.searchParams.set('code', code);
        return oauth.authorizationCodeGrant(config, url, { pkceCodeVerifier: verifier });
      });
      const [account, addresses] = await withProviderFault('the user could not be read', async () => {
        const answers = await Promise.all([callApi(token, '/user'), callApi(token, '/user/emails')]);
        return [Account.parse(answers[0]), Addresses.parse(answers[1])] as const;
      });
      const primary = addresses.find((address) => address.primary && address.verified);
      const [login, name] = [account.login, account.name].map(
        (item) => text(1, 255).safeParse(item).data ?? null,
      );
      return {
        id: String(account.id),
        address: email.safeParse(primary?.email).data ?? null,
        name: name ?? login ?? null,
        login: login ?? null,
      };
    },
  };
}

async function withProviderFault<T>(step: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ProviderFault ? error : new ProviderFault(step, error);
  }
}

/** A fetch that follows no redirects, because only configured addresses are trusted, and reads at most `MAX_BYTES`. */
async function boundedFetch(url: string, options: oauth.CustomFetchOptions): Promise<Response> {
  const response = await fetch(url, { ...options, redirect: 'manual' } as RequestInit);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new ProviderFault('the answer is too long');
    chunks.push(chunk);
  }
  const { status, headers } = response;
  return new Response(Buffer.concat(chunks), { status, headers: withoutContentCoding(headers) });
}

/** `fetch` has decompressed the body already. */
function withoutContentCoding(headers: Headers): Headers {
  const remaining = new Headers(headers);
  remaining.delete('content-encoding');
  remaining.delete('content-length');
  return remaining;
}
