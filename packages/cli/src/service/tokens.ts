import type { Scope } from '@doorward/node';
import type { Client } from '@doorward/node/client';
import type { Protect } from '../environment/interruption.ts';
import { notSignedIn } from '../fault.ts';
import type { Profiles, SessionTokens } from '../settings/profiles.ts';
import type { Identity } from '../settings/settings.ts';

/** Returns a valid token, and renews it if needed. */
export type TokenSource = () => Promise<string>;

interface CachedToken {
  readonly text: string;
  readonly renewAt: number;
}

/** A token is renewed after this share of its lifetime, because a run can outlast a token. */
const RENEWED_AT = 0.8;

interface TokenParts {
  /** A client that sends no token. */
  readonly client: Client;
  readonly profiles: Profiles;
  readonly protect: Protect;
}

export function tokensOf(identity: Identity, parts: TokenParts): TokenSource {
  if (identity.kind === 'token') return async () => identity.token;
  const get = identity.kind === 'key' ? exchange(identity, parts) : refresh(identity, parts);
  let cached: CachedToken | null = null;
  let flight: Promise<CachedToken> | null = null;
  return async () => {
    if (cached && cached.renewAt > performance.now()) return cached.text;
    flight ??= get().finally(() => (flight = null));
    cached = await flight;
    return cached.text;
  };
}

const cachedFor = (text: string, expiresIn: number): CachedToken => ({
  text,
  renewAt: performance.now() + expiresIn * 1000 * RENEWED_AT,
});

type KeyIdentity = { clientId: string; clientSecret: string; scope: Scope };

function exchange({ clientId, clientSecret, scope }: KeyIdentity, { client }: TokenParts) {
  return async (): Promise<CachedToken> => {
    const { accessToken, expiresIn } = await client.api.exchangeApiKey({ clientId, clientSecret, scope });
    return cachedFor(accessToken, expiresIn);
  };
}

/** Converts the tokens of a response to the form in which they are stored. */
export const sessionTokens = (answer: {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresIn: number;
}): SessionTokens => ({
  accessToken: answer.accessToken,
  refreshToken: answer.refreshToken,
  renewAt: Date.now() + answer.expiresIn * 1000 * RENEWED_AT,
});

const cachedFrom = ({ accessToken, renewAt }: SessionTokens): CachedToken => ({
  text: accessToken,
  renewAt: performance.now() + (renewAt - Date.now()),
});

function refresh(
  { profile, url }: { readonly profile: string; readonly url: string },
  { client, profiles, protect }: TokenParts,
) {
  const renew = (): Promise<CachedToken> =>
    profiles.changeCredential(profile, async (stored) => {
      if (stored?.kind !== 'session' || stored.url !== url) throw notSignedIn();
      // Another run may have renewed the session while this one waited for the lock.
      if (stored.renewAt > Date.now()) return { stored, result: cachedFrom(stored) };
      const { accessToken, refreshToken } = stored;
      const tokens = sessionTokens(await client.api.refreshSession({ accessToken, refreshToken }));
      return { stored: { ...stored, ...tokens }, result: cachedFrom(tokens) };
    });
  return async (): Promise<CachedToken> => {
    const stored = (await profiles.credentials())[profile];
    if (stored?.kind === 'session' && stored.url === url && stored.renewAt > Date.now())
      return cachedFrom(stored);
    return protect(renew()).catch((error: unknown) => {
      throw (error as { status?: unknown }).status === 401
        ? notSignedIn(`The sign-in of the profile ${profile} has ended.`)
        : error;
    });
  };
}
