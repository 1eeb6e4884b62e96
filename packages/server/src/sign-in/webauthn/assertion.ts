import { verifyAuthenticationResponse } from '@simplewebauthn/server';
import { isoBase64URL } from '@simplewebauthn/server/helpers';
import { and, eq } from 'drizzle-orm';
import type { z } from 'zod';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { passkeyHandles, passkeys } from '../../schema/sign-in/passkey.ts';
import type { Services, Run } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import {
  CHALLENGE_MS,
  consumeChallenge,
  createChallenge,
  findChallenge,
  type ChallengeUse,
} from './challenge.ts';
import { mailClonedPasskey } from './cloned-mail.ts';
import { isCrossOrigin, type SentAssertion } from './credential.ts';
import type { RequestOptions } from './options.ts';

/*
 * The use of a passkey, to sign in or as a second factor, in two steps. `checkAssertion` verifies the signature before
 * the transaction. `useAssertion` runs inside it, with the user's row locked: it consumes the challenge and updates the
 * counter.
 *
 *   const check = await checkAssertion(db, services, { challengeId, credential }, use);
 *   const user = check.userId === null ? undefined : await lockUser(ctx, check.userId);
 *   const proof = await useAssertion(ctx, user?.id ?? null, check);
 *   if (proof) // sign in with proof.acr and proof.amr
 */

/** The result of `checkAssertion`. */
export interface AssertionCheck {
  readonly challengeId: string;
  readonly use: ChallengeUse;
  /** The user whose passkey it is, whether or not the signature is valid; null for an unknown passkey. */
  readonly userId: string | null;
  /**
   * Whether a signature was checked, so that a failure counts as a wrong secret. False if the challenge has expired or
   * the passkey is unknown.
   */
  readonly isAttempt: boolean;
  readonly verified: VerifiedAssertion | null;
}

interface VerifiedAssertion {
  readonly passkeyId: string;
  readonly counter: number;
  readonly userVerified: boolean;
  readonly backedUp: boolean;
}

/** How a user is authenticated by a passkey that they used. */
export interface PasskeyProof {
  readonly passkeyId: string;
  /** With user verification the passkey is two factors: the key pair, and a PIN or a biometric trait. */
  readonly acr: 'aal1' | 'aal2';
  readonly amr: readonly string[];
}

export const proofOf = ({ passkeyId, userVerified }: VerifiedAssertion): PasskeyProof =>
  userVerified ? { passkeyId, acr: 'aal2', amr: ['pop', 'mfa'] } : { passkeyId, acr: 'aal1', amr: ['pop'] };

/**
 * Creates a challenge, and the options for `navigator.credentials.get`. The options are the same for all users and name
 * no passkey.
 */
export async function beginAssertion(tx: Executor, services: Services, use: ChallengeUse) {
  const { id, challenge } = await createChallenge(tx, services, use);
  const publicKey: z.output<typeof RequestOptions> = {
    challenge,
    rpId: services.config.passkeys.rpId,
    timeout: CHALLENGE_MS,
    allowCredentials: [],
    userVerification: 'preferred',
  };
  return { challengeId: id, publicKey };
}

/** Verifies the response of an authenticator, without changing anything. */
export async function checkAssertion(
  db: Executor,
  services: Services,
  sent: { readonly challengeId: string; readonly credential: SentAssertion },
  use: ChallengeUse,
): Promise<AssertionCheck> {
  const { challengeId, credential } = sent;
  const hash = await findChallenge(db, services, challengeId, use);
  const [stored] = await db
    .select({ passkey: passkeys, handle: passkeyHandles.handle })
    .from(passkeys)
    .innerJoin(passkeyHandles, eq(passkeyHandles.userId, passkeys.userId))
    .where(eq(passkeys.credentialId, credential.id));
  const isAttempt = hash !== undefined && stored !== undefined;
  const verified = isAttempt ? await verify(services, credential, hash, stored) : null;
  return { challengeId, use, userId: stored?.passkey.userId ?? null, isAttempt, verified };
}

async function verify(
  services: Services,
  credential: SentAssertion,
  challengeHash: string,
  { passkey, handle }: { readonly passkey: typeof passkeys.$inferSelect; readonly handle: string },
): Promise<VerifiedAssertion | null> {
  const { rpId, origins } = services.config.passkeys;
  const { clientDataJSON, authenticatorData, signature, userHandle } = credential.response;
  try {
    // The authenticator signs in the user that it has stored, so it must name the user.
    if (userHandle !== handle || isCrossOrigin(clientDataJSON)) return null;
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        id: credential.id,
        rawId: credential.rawId,
        type: credential.type,
        clientExtensionResults: {},
        response: { clientDataJSON, authenticatorData, signature, userHandle },
      },
      expectedChallenge: (challenge) => hashOneTimeToken(challenge) === challengeHash,
      expectedOrigin: [...origins],
      expectedRPID: rpId,
      // The counter is compared later, under the lock, so that the user gets a mail if it went back.
      credential: {
        id: passkey.credentialId,
        publicKey: isoBase64URL.toBuffer(passkey.publicKey),
        counter: 0,
      },
      requireUserVerification: false,
    });
    if (!verified) return null;
    const { newCounter, userVerified, credentialBackedUp } = authenticationInfo;
    return { passkeyId: passkey.id, counter: newCounter, userVerified, backedUp: credentialBackedUp };
  } catch {
    // The library throws for anything that does not match, and for malformed bytes.
    return null;
  }
}

/**
 * Uses up the challenge, and returns what the passkey proves. Returns null if the assertion is not of this user, or is
 * not accepted; the challenge is used up then too, so commit. The caller has locked the user's row. With null as user,
 * every user is refused.
 */
export async function useAssertion(
  ctx: Run,
  ofUserId: string | null,
  { challengeId, use, userId, verified }: AssertionCheck,
): Promise<PasskeyProof | null> {
  const { tx, services } = ctx;
  if (!(await consumeChallenge(tx, services, challengeId, use))) return null;
  if (!verified || ofUserId === null || ofUserId !== userId) return null;
  const isPasskey = and(eq(passkeys.id, verified.passkeyId), eq(passkeys.userId, ofUserId));
  const [passkey] = await tx.select().from(passkeys).where(isPasskey).for('update');
  if (!passkey) return null;
  const { counter, userVerified, backedUp } = verified;
  if (passkey.counter > 0 && counter <= passkey.counter) {
    await mailClonedPasskey(ctx, ofUserId, passkey.name);
    return null;
  }
  await tx
    .update(passkeys)
    .set({ counter, userVerified, backedUp, lastUsedAt: services.clock.now() })
    .where(isPasskey);
  return proofOf(verified);
}
