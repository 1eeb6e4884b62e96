import { verifyRegistrationResponse } from '@simplewebauthn/server';
import { cose, decodeAttestationObject, isoBase64URL } from '@simplewebauthn/server/helpers';
import { eq } from 'drizzle-orm';
import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { passkeyHandles, passkeys } from '../../schema/sign-in/passkey.ts';
import type { Services } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { UserRow } from '../../schema/people/user.ts';
import { CHALLENGE_MS, createChallenge, findChallenge, type ChallengeUse } from './challenge.ts';
import { isCrossOrigin, type SentRegistration } from './credential.ts';
import type { CreationOptions } from './options.ts';

/* Registration of a passkey (docs/guides/passkeys.md). */

/** ES256, EdDSA, RS256: authenticators of every platform support at least one of them. */
const algorithms = [cose.COSEALG.ES256, cose.COSEALG.EdDSA, cose.COSEALG.RS256];

/** The names that WebAuthn defines. Browsers may send others, which no client would understand. */
const transportNames = ['ble', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;
const isTransport = (name: string): name is (typeof transportNames)[number] =>
  (transportNames as readonly string[]).includes(name);

/** The use of a challenge that adds a passkey in this session. */
export const forRegistration = (sessionId: string): ChallengeUse => ({
  purpose: 'registration',
  boundTo: sessionId,
});

/** The user's random id for authenticators, which is created with the first passkey. */
async function handleOf(tx: Executor, userId: string): Promise<string> {
  const handle = randomBytes(32).toString('base64url');
  await tx.insert(passkeyHandles).values({ userId, handle }).onConflictDoNothing();
  const [row] = await tx.select().from(passkeyHandles).where(eq(passkeyHandles.userId, userId));
  return row?.handle ?? handle;
}

/** The passkeys of a user, oldest first. */
export const passkeysOf = (tx: Executor, userId: string): PromiseLike<(typeof passkeys.$inferSelect)[]> =>
  tx.select().from(passkeys).where(eq(passkeys.userId, userId)).orderBy(passkeys.createdAt, passkeys.id);

/** Creates a challenge for this session, and the options for `navigator.credentials.create`. */
export async function beginRegistration(tx: Executor, services: Services, user: UserRow, sessionId: string) {
  const { passkeys: party, auth } = services.config;
  const { id, challenge } = await createChallenge(tx, services, forRegistration(sessionId));
  const publicKey: z.output<typeof CreationOptions> = {
    challenge,
    rp: { id: party.rpId, name: auth.mfaIssuer },
    user: {
      id: await handleOf(tx, user.id),
      name: user.email ?? user.name,
      displayName: user.name,
    },
    pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
    timeout: CHALLENGE_MS,
    attestation: 'none',
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    },
    excludeCredentials: (await passkeysOf(tx, user.id)).map(({ credentialId, transports }) => ({
      id: credentialId,
      type: 'public-key',
      transports,
    })),
  };
  return { challengeId: id, publicKey };
}

/** A new passkey with a verified registration. */
export type VerifiedRegistration = Pick<
  typeof passkeys.$inferInsert,
  'credentialId' | 'publicKey' | 'counter' | 'aaguid' | 'transports' | 'backedUp' | 'userVerified'
>;

/**
 * Whether an attestation contains no certificates. The options request none, and browsers then send none; a certificate
 * could make the library fetch the revocation list that it names.
 */
function hasNoCertificates(attestationObject: string): boolean {
  const decoded = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
  const fmt = decoded.get('fmt');
  return fmt === 'none' || (fmt === 'packed' && decoded.get('attStmt').get('x5c') === undefined);
}

/**
 * Verifies the registration. Returns null if it does not match this challenge, session, origin or domain, or the user
 * was not verified.
 */
export async function verifyRegistration(
  db: Executor,
  services: Services,
  sent: { readonly challengeId: string; readonly credential: SentRegistration },
  sessionId: string,
): Promise<VerifiedRegistration | null> {
  const { rpId, origins } = services.config.passkeys;
  const { credential } = sent;
  const hash = await findChallenge(db, services, sent.challengeId, forRegistration(sessionId));
  if (hash === undefined) return null;
  try {
    const { clientDataJSON, attestationObject, transports = [] } = credential.response;
    if (isCrossOrigin(clientDataJSON) || !hasNoCertificates(attestationObject)) return null;
    const understood = [...new Set(transports)].filter(isTransport);
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        id: credential.id,
        rawId: credential.rawId,
        type: credential.type,
        clientExtensionResults: {},
        response: { clientDataJSON, attestationObject, transports: understood },
      },
      expectedChallenge: (challenge) => hashOneTimeToken(challenge) === hash,
      expectedOrigin: [...origins],
      expectedRPID: rpId,
      supportedAlgorithmIDs: algorithms,
    });
    if (!verified) return null;
    const { id, publicKey, counter } = registrationInfo.credential;
    // Browsers later use the id that the authenticator signed.
    if (id !== credential.id) return null;
    return {
      credentialId: id,
      publicKey: isoBase64URL.fromBuffer(publicKey),
      counter,
      aaguid: registrationInfo.aaguid,
      transports: understood,
      backedUp: registrationInfo.credentialBackedUp,
      userVerified: registrationInfo.userVerified,
    };
  } catch {
    // The library throws for anything that does not match, and for malformed bytes.
    return null;
  }
}
