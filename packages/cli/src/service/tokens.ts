import type { Scope } from '@doorward/node';
import type { Client } from '@doorward/node/client';
import type { Protect } from '../environment/interruption.ts';
import { notSignedIn } from '../fault.ts';
import type { Profiles, SessionTokens } from '../settings/profiles.ts';
import type { Identity } from '../settings/settings.ts';

/** Gives the token of each call. */
export type TokenSource = () => Promise<string>;

interface Held {
  readonly text: string;
  readonly renewAt: number;
}

/** A token lives for minutes, and a run may be longer. */
const RENEWED_AT = 0.8;

interface TokenParts {
  /** Without a token of its own. */
  readonly client: Client;
  readonly profiles: Profiles;
  readonly protect: Protect;
}

export function tokensOf(identity: Identity, parts: TokenParts): TokenSource {
  if (identity.kind === 'token') return async () => identity.token;
  const get = identity.kind === 'key' ? exchange(identity, parts) : refresh(identity, parts);
  let held: Held | null = null;
  let flight: Promise<Held> | null = null;
  return async () => {
    if (held && held.renewAt > performance.now()) return held.text;
    flight ??= get().finally(() => (flight = null));
    held = await flight;
    return held.text;
  };
}

const heldUntil = (text: string, expiresIn: number): Held => ({
  text,
  renewAt: performance.now() + expiresIn * 1000 * RENEWED_AT,
});

type KeyIdentity = { clientId: string; clientSecret: string; scope: Scope };

function exchange({ clientId, clientSecret, scope }: KeyIdentity, { client }: TokenParts) {
  return async (): Promise<Held> => {
    const { accessToken, expiresIn } = await client.api.exchangeApiKey({ clientId, clientSecret, scope });
    return heldUntil(accessToken, expiresIn);
  };
}

/** The tokens of an answer, as they are stored. */
export const sessionTokens = (answer: {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresIn: number;
}): SessionTokens => ({
  accessToken: answer.accessToken,
  refreshToken: answer.refreshToken,
  renewAt: Date.now() + answer.expiresIn * 1000 * RENEWED_AT,
});

const heldOf = ({ accessToken, renewAt }: SessionTokens): Held => ({
  text: accessToken,
  renewAt: performance.now() + (renewAt - Date.now()),
});

function refresh(
  { profile, url }: { readonly profile: string; readonly url: string },
  { client, profiles, protect }: TokenParts,
) {
  const renew = (): Promise<Held> =>
    profiles.changeCredential(profile, async (stored) => {
      if (stored?.kind !== 'session' || stored.url !== url) throw notSignedIn();
      // Another run may have renewed it, while this one waited for the lock.
      if (stored.renewAt > Date.now()) return { stored, result: heldOf(stored) };
      const { accessToken, refreshToken } = stored;
      const tokens = sessionTokens(await client.api.refreshSession({ accessToken, refreshToken }));
      return { stored: { ...stored, ...tokens }, result: heldOf(tokens) };
    });
  return async (): Promise<Held> => {
    const stored = (await profiles.credentials())[profile];
    if (stored?.kind === 'session' && stored.url === url && stored.renewAt > Date.now())
      return heldOf(stored);
    return protect(renew()).catch((error: unknown) => {
      throw (error as { status?: unknown }).status === 401
        ? notSignedIn(`The sign-in of the profile ${profile} has ended.`)
        : error;
    });
  };
}
