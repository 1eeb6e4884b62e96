import { badAnswer, type Answer, type Service } from './service.ts';

/** The user of a session, with the data that the app may see. */
export interface User {
  readonly id: string;
  readonly name: string;
  readonly email?: string;
  readonly emailVerified?: boolean;
  readonly pictureUrl?: string;
  readonly locale?: string;
  /** The organization that they signed in to; absent if none. */
  readonly organization?: { readonly id: string; readonly name: string };
}

/** The tokens of a session, as shared between tabs. They are only kept in memory. */
export interface Tokens {
  /** Random id of the session; not a secret. */
  readonly session: string;
  /** When the session started, in ms since 1970. Of two sessions the later one is used. */
  readonly startedAt: number;
  /** How often the session's tokens have been renewed. */
  readonly generation: number;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** When these tokens were received, in ms since 1970. */
  readonly issuedAt: number;
  /** When the access token expires, in ms since 1970. */
  readonly expiresAt: number;
  readonly user: User | undefined;
}

/**
 * Reads the tokens in a response of the token endpoint, and loads their user. `previous`: the tokens that they replace.
 */
export async function readTokens(service: Service, { body }: Answer, previous?: Tokens): Promise<Tokens> {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = body;
  if (typeof accessToken !== 'string' || typeof refreshToken !== 'string' || !(Number(seconds) > 0))
    throw badAnswer('The answer of the token endpoint has no tokens.');
  const issuedAt = Date.now();
  return {
    session: previous?.session ?? crypto.randomUUID(),
    startedAt: previous?.startedAt ?? issuedAt,
    generation: (previous?.generation ?? -1) + 1,
    accessToken,
    refreshToken,
    issuedAt,
    expiresAt: issuedAt + Number(seconds) * 1000,
    user: previous?.user ?? (await readUser(service, accessToken)),
  };
}

/** Loads the user. A failure must not fail the sign-in; the next renewal tries again. */
async function readUser(service: Service, token: string): Promise<User | undefined> {
  const answer = await service.userInfo(token).catch(() => undefined);
  if (answer?.status !== 200) return undefined;
  const { sub, name, email, email_verified: emailVerified, picture, locale } = answer.body;
  const { org_id: organizationId, org_name: organizationName } = answer.body;
  return {
    id: String(sub),
    name: String(name),
    ...(typeof email === 'string' ? { email } : {}),
    ...(typeof emailVerified === 'boolean' ? { emailVerified } : {}),
    ...(typeof picture === 'string' ? { pictureUrl: picture } : {}),
    ...(typeof locale === 'string' ? { locale } : {}),
    ...(typeof organizationId === 'string'
      ? { organization: { id: organizationId, name: String(organizationName) } }
      : {}),
  };
}

/** Whether tokens should replace a tab's current ones: the later generation of the same session, or a later session. */
export const isNewer = (candidate: Tokens, current: Tokens | null): boolean =>
  current === null ||
  (candidate.session === current.session
    ? candidate.generation > current.generation
    : candidate.startedAt > current.startedAt);
