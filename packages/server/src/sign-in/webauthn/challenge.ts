import { and, eq, gt, isNull } from 'drizzle-orm';
import { hashOneTimeToken, newOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import type { Services } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { passkeyChallenges } from '../../schema/sign-in/passkey-challenge.ts';

/** The use that a challenge is valid for. A challenge for one purpose, session or flow is not valid in another. */
export type ChallengeUse =
  /** Adds a passkey, in this session only. */
  | { readonly purpose: 'registration'; readonly boundTo: string }
  /** Signs in, or is a second factor of a session. */
  | { readonly purpose: 'signIn'; readonly boundTo: null }
  /**
   * A step of a sign-in on hosted pages. `boundTo` is the hash of the flow cookie, which stays the same between steps.
   */
  | { readonly purpose: 'flow'; readonly boundTo: string };

/** The use of challenges that `passkeyOptions` returns. */
export const forSignIn: ChallengeUse = { purpose: 'signIn', boundTo: null };

export const CHALLENGE_MS = 5 * 60_000;

/** A challenge of 32 random bytes, in base64url, that is sent to one browser. */
interface Challenge {
  readonly id: string;
  readonly challenge: string;
}

export async function createChallenge(
  tx: Executor,
  { ids, clock }: Pick<Services, 'ids' | 'clock'>,
  { purpose, boundTo }: ChallengeUse,
): Promise<Challenge> {
  const [id, challenge] = [ids.random(), newOneTimeToken()];
  const expiresAt = new Date(clock.now().getTime() + CHALLENGE_MS);
  await tx
    .insert(passkeyChallenges)
    .values({ id, purpose, hash: hashOneTimeToken(challenge), boundTo, expiresAt });
  return { id, challenge };
}

const isUsable = (id: string, { purpose, boundTo }: ChallengeUse, now: Date) =>
  and(
    eq(passkeyChallenges.id, id),
    eq(passkeyChallenges.purpose, purpose),
    boundTo === null ? isNull(passkeyChallenges.boundTo) : eq(passkeyChallenges.boundTo, boundTo),
    gt(passkeyChallenges.expiresAt, now),
  );

/** The hash of a challenge that can still be used here; undefined if there is none. */
export async function findChallenge(
  db: Executor,
  { clock }: Pick<Services, 'clock'>,
  id: string,
  use: ChallengeUse,
): Promise<string | undefined> {
  const [row] = await db
    .select()
    .from(passkeyChallenges)
    .where(isUsable(id, use, clock.now()));
  return row?.hash;
}

/**
 * Uses up the challenge, whether or not the response is correct. Returns false if it was used, has expired, or is for
 * something else.
 */
export async function consumeChallenge(
  tx: Executor,
  { clock }: Pick<Services, 'clock'>,
  id: string,
  use: ChallengeUse,
): Promise<boolean> {
  const used = await tx
    .delete(passkeyChallenges)
    .where(isUsable(id, use, clock.now()))
    .returning({ id: passkeyChallenges.id });
  return used.length > 0;
}
