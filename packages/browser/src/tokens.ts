import { badAnswer, type Answer, type Service } from './service.ts';

/** The user of a session, as far as the app may see them. */
export interface User {
  readonly id: string;
  readonly name: string;
  readonly email?: string;
  readonly emailVerified?: boolean;
  readonly pictureUrl?: string;
  readonly locale?: string;
  /** The organization for which they signed in; absent: none. */
  readonly organization?: { readonly id: string; readonly name: string };
}

/** The tokens of a session, as tabs share them. They are kept in memory only. */
export interface Tokens {
  /** Random name of the session, which is not a secret. */
  readonly session: string;
  /** When it started, in ms: of two sessions the later one counts. */
  readonly startedAt: number;
  /** How often its tokens were renewed. */
  readonly generation: number;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** When these tokens came, in ms. */
  readonly issuedAt: number;
  /** When the access token ends, in ms. */
  readonly expiresAt: number;
  readonly user: User | undefined;
}

/** The tokens of an answer of the token endpoint, with their user. `previous`: the tokens that they replace. */
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

/** A user that cannot be read must not fail a sign-in: the next renewal tries again. */
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

/** Whether tokens replace those that a tab holds: of the same session the later generation, else the later session. */
export const isNewer = (candidate: Tokens, current: Tokens | null): boolean =>
  current === null ||
  (candidate.session === current.session
    ? candidate.generation > current.generation
    : candidate.startedAt > current.startedAt);
