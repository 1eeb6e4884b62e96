import { createHash } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';
import * as oauth from 'openid-client';
import type { IdentityProviderConfig } from '../config/identity-providers.ts';
import { email } from '../kernel/input/values.ts';
import type { Clock } from '../kernel/ports.ts';
import {
  ProviderFault,
  shownName,
  TIMEOUT_SECONDS,
  withProviderFault,
  type Identity,
  type IdentityProvider,
} from './provider.ts';

/**
 * How long a provider's metadata is used before it is loaded again. It rarely changes, and the library reads the keys
 * again if one is missing.
 */
const METADATA_MS = 3_600_000;
/** How long to wait after a failure before the metadata is loaded again. */
const RETRY_MS = 10_000;
const ID_TOKEN_SECONDS = 300;
const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];

type Claims = Readonly<Record<string, unknown>>;

/**
 * `unlessDenied`: the provider vouches for an address unless it says that it does not. Used for an organization's
 * provider, which may vouch only for addresses in the organization's domains.
 */
interface OpenidProvider extends Omit<IdentityProviderConfig, 'trustEmail'> {
  readonly trustEmail: IdentityProviderConfig['trustEmail'] | 'unlessDenied';
}

interface Options {
  readonly provider: OpenidProvider;
  /** The URL to which the provider sends the browser back. */
  readonly callback: string;
  readonly fetch: oauth.CustomFetch;
  readonly clock: Clock;
}

/**
 * Creates an OpenID Connect provider, which only its issuer identifies. `openid-client` checks the responses. This
 * module adds the checks that the library leaves to its callers: the signature of the id_token although it came over
 * TLS, its algorithm, and its age.
 */
export function openidProvider({ provider, callback, fetch, clock }: Options): IdentityProvider {
  const { key, name, issuer, clientId, clientSecret, allowSignUp } = provider;
  const wanted = [
    provider.claims.subject,
    provider.claims.email,
    provider.claims.name,
    ...(provider.trustEmail === 'verified' ? [provider.claims.emailVerified] : []),
  ];
  const asProviderFault = <T>(step: string, work: () => Promise<T>) => withProviderFault(key, step, work);
  let loaded: { readonly client: oauth.Configuration; readonly until: number } | undefined;
  let loading: Promise<oauth.Configuration> | undefined;
  let failed: { readonly fault: unknown; readonly until: number } | undefined;

  /**
   * Returns the client for this provider, made from its metadata. While the metadata is loaded again, and if that
   * fails, calls use the former client, so that an outage of the metadata does not stop sign-ins. If the first load has
   * failed, calls fail immediately until the next attempt is due, so that they do not all wait for a hanging provider.
   */
  async function configuration(): Promise<oauth.Configuration> {
    const now = clock.now().getTime();
    if (loaded && loaded.until > now) return loaded.client;
    if (!failed || failed.until <= now) loading ??= load();
    if (loaded) return loaded.client;
    if (loading) return loading;
    throw failed?.fault;
  }

  function load(): Promise<oauth.Configuration> {
    const work = asProviderFault('its metadata could not be read', discover);
    work
      .then(
        (client) => {
          failed = undefined;
          loaded = { client, until: clock.now().getTime() + METADATA_MS };
        },
        (fault: unknown) => (failed = { fault, until: clock.now().getTime() + RETRY_MS }),
      )
      .finally(() => (loading = undefined));
    return work;
  }

  async function discover(): Promise<oauth.Configuration> {
    const server = await discoverIssuer({ key, issuer, clientId, fetch });
    const offered = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const isPost = !offered.includes('client_secret_basic') && offered.includes('client_secret_post');
    const authentication = isPost
      ? oauth.ClientSecretPost(clientSecret)
      : oauth.ClientSecretBasic(clientSecret);
    const client = new oauth.Configuration(server, clientId, undefined, authentication);
    client.timeout = TIMEOUT_SECONDS;
    client[oauth.customFetch] = fetch;
    if (isInsecure(issuer)) oauth.allowInsecureRequests(client);
    oauth.enableNonRepudiationChecks(client);
    return client;
  }

  /** Returns the claims of the id_token, and those of the user info if the id_token lacks some. */
  async function claimsOf(
    client: oauth.Configuration,
    tokens: oauth.TokenEndpointResponse & oauth.TokenEndpointResponseHelpers,
  ): Promise<readonly Claims[]> {
    const claims = tokens.claims();
    if (!claims || !tokens.id_token) throw new ProviderFault(key, 'it sent no id_token');
    const { alg = '' } = decodeProtectedHeader(tokens.id_token);
    if (!algorithms.includes(alg)) throw new ProviderFault(key, 'its id_token has an unsupported algorithm');
    if (Math.abs(clock.now().getTime() / 1000 - claims.iat) > ID_TOKEN_SECONDS) {
      throw new ProviderFault(key, 'its id_token was not issued just now');
    }
    const isComplete = wanted.every((claim) => claims[claim] !== undefined);
    if (isComplete || client.serverMetadata().userinfo_endpoint === undefined) return [claims];
    return [claims, await oauth.fetchUserInfo(client, tokens.access_token, claims.sub)];
  }

  function identityOf(sources: readonly Claims[]): Identity {
    const names = provider.claims;
    const first = (name: string) =>
      sources.map((claims) => claims[name]).find((value) => value !== undefined);
    const id = first(names.subject);
    if (typeof id !== 'string' || id === '' || id.length > 255) {
      throw new ProviderFault(key, 'it did not say who the user is');
    }
    const stated = first(names.email);
    const address = email.safeParse(stated).data ?? null;
    // The address counts as verified only if one source contains both claims, because only then they belong together.
    const isVerified = sources.some(
      (claims) => claims[names.email] === stated && isTrue(claims[names.emailVerified]),
    );
    // Any value other than true counts as a denial: some providers send text, and a denial as text must not be ignored.
    const isDenied = sources
      .map((claims) => claims[names.emailVerified])
      .some((claim) => claim !== undefined && !isTrue(claim));
    const isProved =
      provider.trustEmail === 'always' ||
      (provider.trustEmail === 'verified' && isVerified) ||
      (provider.trustEmail === 'unlessDenied' && !isDenied);
    const shown = shownName(first(names.name));
    // Only from the id_token, which is signed.
    const methods: unknown = sources[0]?.['amr'];
    return {
      id,
      address: isProved ? address : null,
      unprovedAddress: isProved ? null : address,
      name: shown,
      login: shown ?? address,
      oidc: { key, issuer },
      ...(Array.isArray(methods) && { methods: methods.filter((method) => typeof method === 'string') }),
    };
  }

  return {
    key,
    name,
    allowSignUp,
    reach: async () => void (await configuration()),
    async signInPage(state, verifier) {
      const client = await configuration();
      const url = oauth.buildAuthorizationUrl(client, {
        redirect_uri: callback,
        scope: provider.scopes.join(' '),
        state,
        nonce: nonceOf(verifier),
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      return url.href;
    },
    async identify(answer, { state, verifier }) {
      const client = await configuration();
      const url = new URL(callback);
      for (const name of ['state', 'code', 'iss'] as const) {
        const sent = answer[name];
        if (sent !== undefined) url.searchParams.set(name, sent);
      }
      const tokens = await asProviderFault('the code was not exchanged', () =>
        oauth.authorizationCodeGrant(client, url, {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonceOf(verifier),
          idTokenExpected: true,
        }),
      );
      return identityOf(await asProviderFault('the user could not be read', () => claimsOf(client, tokens)));
    },
  };
}

/** Whether the claim is true. Amazon Cognito and others send booleans as text. */
const isTrue = (claim: unknown): boolean => claim === true || claim === 'true';

const isInsecure = (issuer: string): boolean => issuer.startsWith('http:');

/** Loads the metadata of a provider. @throws Error if it cannot be read, or names another issuer */
export async function discoverIssuer({
  key,
  issuer,
  clientId,
  fetch,
}: Pick<IdentityProviderConfig, 'key' | 'issuer' | 'clientId'> & {
  readonly fetch: oauth.CustomFetch;
}): Promise<oauth.ServerMetadata> {
  const discovered = await oauth.discovery(new URL(issuer), clientId, undefined, oauth.None(), {
    timeout: TIMEOUT_SECONDS,
    [oauth.customFetch]: fetch,
    execute: isInsecure(issuer) ? [oauth.allowInsecureRequests] : [],
  });
  const server = discovered.serverMetadata();
  // The library compares parsed URLs, which ignores a final slash.
  if (server.issuer !== issuer) throw new ProviderFault(key, 'its metadata names another issuer');
  return server;
}

/**
 * Returns the nonce, which binds the id_token to the flow. It does not reveal the verifier, which stays secret until
 * the code is exchanged.
 */
const nonceOf = (verifier: string): string =>
  createHash('sha256').update(`nonce ${verifier}`).digest('base64url');
