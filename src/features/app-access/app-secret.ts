import { equalHashes, hashSecret, newAppSecret } from '../../crypto/secrets.ts';
import type { Services } from '../../kernel/context.ts';

/** The secret of a confidential app: shown once, kept as its HMAC, compared in constant time. */

const LABEL = 'project-app-secret';

type Keys = Pick<Services, 'kek'>;

/** A secret to be shown, and what is stored of it. */
export function mintAppSecret({ kek }: Keys): { readonly clientSecret: string; readonly secretHash: Buffer } {
  const clientSecret = newAppSecret();
  return { clientSecret, secretHash: hashSecret(kek.derive(LABEL), clientSecret) };
}

interface Verdict {
  readonly isItsSecret: boolean;
  /** Its hash under the current key, if it is kept under a former one: to be stored, so that the former key can go. */
  readonly rehash: Buffer | null;
}

/** Whether that is the secret of whom this hash is kept, under the encryption key of now or a former one. */
export function judgeAppSecret({ kek }: Keys, stored: Uint8Array, given: string): Verdict {
  const hashes = kek.deriveAll(LABEL).map((pepper) => hashSecret(pepper, given));
  // Every one is compared, whichever comes first.
  const equal = hashes.map((hash) => equalHashes(stored, hash));
  const isItsSecret = equal.includes(true);
  return { isItsSecret, rehash: isItsSecret && equal[0] === false ? (hashes[0] ?? null) : null };
}
