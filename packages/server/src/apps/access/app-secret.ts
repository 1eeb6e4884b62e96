import { equalHashes, hashSecret, newAppSecret } from '../../crypto/tokens/secrets.ts';
import type { Services } from '../../services.ts';

/* The secret of a confidential app: shown once, stored as its HMAC, and compared in constant time. */

const LABEL = 'project-app-secret';

type Keys = Pick<Services, 'kek'>;

/** Creates a secret, and the hash to store for it. */
export function createAppSecret({ kek }: Keys): {
  readonly clientSecret: string;
  readonly secretHash: Buffer;
} {
  const clientSecret = newAppSecret();
  return { clientSecret, secretHash: hashSecret(kek.derive(LABEL), clientSecret) };
}

interface SecretCheck {
  readonly isMatch: boolean;
  /**
   * The hash under the current encryption key, if the stored hash was made with a former key; otherwise null. Store it,
   * so that the former key can be removed.
   */
  readonly rehash: Buffer | null;
}

/** Compares a secret with the stored hash, under the current and all former encryption keys. */
export function verifyAppSecret({ kek }: Keys, stored: Uint8Array, presented: string): SecretCheck {
  const hashes = kek.deriveAll(LABEL).map((pepper) => hashSecret(pepper, presented));
  // All keys are tried, so that the time does not reveal which one matched.
  const equal = hashes.map((hash) => equalHashes(stored, hash));
  const isMatch = equal.includes(true);
  return { isMatch, rehash: isMatch && equal[0] === false ? (hashes[0] ?? null) : null };
}
