import * as oauth from 'openid-client';
import { z } from 'zod';
import type { Config } from '../../config.ts';
import { fail } from '../../errors.ts';
import { email, text } from '../../values.ts';

/**
 * GitHub as an OAuth 2.0 server: it has no discovery and no id tokens, so its endpoints are put together here and the
 * user is asked for at its API. Nothing that it answers is trusted beyond its form, and everything that goes wrong
 * there is a `ProviderFault`.
 */

/** What GitHub says of a user. Only the account id tells who he is: a login name and an address can be taken over. */
export interface Identity {
  readonly id: string;
  /** Canonical; the one that is primary and verified, or null. */
  readonly address: string | null;
  readonly name: string | null;
  /** What the account is called there, for a page that asks about it. */
  readonly login: string | null;
}

/** Carries what was tried and the code of the failure, for the log: neither a token nor a line of the answer. */
export class ProviderFault extends Error {
  override readonly name = 'ProviderFault';
  readonly code: string | undefined;

  constructor(step: string, error?: unknown) {
    super(`GitHub: ${step}`);
    const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
    this.code = typeof code === 'string' ? code : typeof name === 'string' ? name : undefined;
  }
}

/** Far more than GitHub answers, far less than would hurt. */
const MAX_BYTES = 262_144;
/** For one call; GitHub answers in well under a second. */
const TIMEOUT_SECONDS = 8;

const Account = z.object({
  id: z.int().positive(),
  login: z.string().nullish().catch(null),
  name: z.string().nullish().catch(null),
});
const Addresses = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));

export interface Github {
  /** Where the browser goes to sign in. */
  signInPage(state: string, verifier: string): Promise<string>;
  /** Exchanges the code that came back, and asks whose it is. @throws ProviderFault */
  identify(code: string, verifier: string): Promise<Identity>;
}

export const newVerifier = (): string => oauth.randomPKCECodeVerifier();

/** `callback`: the address that GitHub leads back to. @throws PROVIDER_NOT_CONFIGURED */
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

  async function ask(token: string, path: string): Promise<unknown> {
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
      const { access_token: token } = await tried('the code was not exchanged', () => {
        const url = new URL(callback);
        url.searchParams.set('code', code);
        return oauth.authorizationCodeGrant(config, url, { pkceCodeVerifier: verifier });
      });
      const [account, addresses] = await tried('the user could not be read', async () => {
        const answers = await Promise.all([ask(token, '/user'), ask(token, '/user/emails')]);
        return [Account.parse(answers[0]), Addresses.parse(answers[1])] as const;
      });
      const primary = addresses.find((one) => one.primary && one.verified);
      const [login, name] = [account.login, account.name].map(
        (one) => text(1, 255).safeParse(one).data ?? null,
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

async function tried<T>(step: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ProviderFault ? error : new ProviderFault(step, error);
  }
}

/** Follows no redirect, since the next address was configured by nobody, and reads no more than `MAX_BYTES`. */
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
  return new Response(Buffer.concat(chunks), { status, headers: withoutCoding(headers) });
}

/** The body is read and unpacked by now. */
function withoutCoding(headers: Headers): Headers {
  const kept = new Headers(headers);
  kept.delete('content-encoding');
  kept.delete('content-length');
  return kept;
}
