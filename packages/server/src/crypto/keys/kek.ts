/**
 * The key-encryption key (KEK). Data that must be readable again (private signing keys, TOTP seeds, webhook secrets) is
 * stored sealed under it, and all other server keys (peppers, refresh-token keys) are derived from it, so that
 * operators back up and rotate only one secret. Old keys can still open and derive; only the current key seals. A
 * canary in the database reveals at the start whether the configured key is the right one.
 *
 * @example const sealed = kek.seal(pem, `signing_key_secrets:${id}`);
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/**
 * Thrown if a sealed text cannot be opened: wrong format, sealed under a key that is not configured, altered, or moved
 * to another row.
 */
export class SealError extends Error {
  override readonly name = 'SealError';
  readonly reason: 'malformed' | 'unknownKey' | 'tampered';

  constructor(reason: SealError['reason'], cause?: unknown) {
    super(`A sealed value cannot be opened: ${reason}.`, { cause });
    this.reason = reason;
  }
}

/** The configured keys of 32 bytes each. */
export interface EncryptionKeys {
  readonly current: Buffer;
  readonly old: readonly Buffer[];
}

export interface Kek {
  /**
   * Encrypts with AES-256-GCM to `v1.<key id>.<base64url>`. The result opens only with the same `aad`, which names
   * table and row.
   */
  seal(plain: Buffer | string, aad: string): string;
  /** Decrypts and authenticates a sealed text. @throws SealError */
  open(sealed: string, aad: string): Buffer;
  /** Whether a text is sealed under the current key. If not, `createReseal` seals it again. */
  isCurrent(sealed: string): boolean;
  /** Prefix of texts that are sealed under the current key, for database queries. */
  readonly currentPrefix: string;
  /**
   * Derives 32 bytes from the current key (HKDF-SHA-256, RFC 5869). Equal labels give equal keys, different labels
   * independent ones.
   */
  derive(label: string): Buffer;
  /** Like `derive`, but with every key, the current key first. */
  deriveAll(label: string): readonly Buffer[];
}

const ivBytes = 12;
const tagBytes = 16;

const deriveFrom = (key: Buffer, label: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key, 'doorward', label, 32));

/** @throws RangeError if a key is not 32 bytes long */
export function createKek({ current, old }: EncryptionKeys): Kek {
  const keys = [current, ...old];
  if (keys.some((key) => key.length !== 32)) throw new RangeError('An encryption key has 32 bytes.');
  const idOf = (key: Buffer) => deriveFrom(key, 'key-id').subarray(0, 6).toString('base64url');
  const currentPrefix = `v1.${idOf(current)}.`;
  // The current key comes last, so that it wins if an old key has the same id.
  const sealKeys = new Map(keys.toReversed().map((key) => [idOf(key), deriveFrom(key, 'seal')]));
  const sealKey = deriveFrom(current, 'seal');
  /**
   * Cached, because deriving a key takes longer than the HMAC that uses it. Labels are constants, so the cache stays
   * small.
   */
  const derivedKeys = new Map<string, readonly Buffer[]>();
  const deriveAll = (label: string): readonly Buffer[] => {
    const keysOfLabel = derivedKeys.get(label) ?? keys.map((key) => deriveFrom(key, label));
    derivedKeys.set(label, keysOfLabel);
    return keysOfLabel;
  };

  return {
    seal(plain, aad) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', sealKey, iv).setAAD(Buffer.from(aad));
      const body = Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
      return currentPrefix + body.toString('base64url');
    },
    open(sealed, aad) {
      const [, id = '', text = ''] = /^v1\.([\w-]{8})\.([\w-]+)$/.exec(sealed) ?? [];
      const body = Buffer.from(text, 'base64url');
      // Compares with the re-encoded bytes, to reject other encodings of the same bytes.
      if (body.length < ivBytes + tagBytes || body.toString('base64url') !== text) {
        throw new SealError('malformed');
      }
      const key = sealKeys.get(id);
      if (key === undefined) throw new SealError('unknownKey');
      const decipher = createDecipheriv('aes-256-gcm', key, body.subarray(0, ivBytes), {
        authTagLength: tagBytes,
      });
      decipher.setAAD(Buffer.from(aad)).setAuthTag(body.subarray(-tagBytes));
      try {
        return Buffer.concat([decipher.update(body.subarray(ivBytes, -tagBytes)), decipher.final()]);
      } catch (error) {
        throw new SealError('tampered', error);
      }
    },
    isCurrent: (sealed) => sealed.startsWith(currentPrefix),
    currentPrefix,
    derive: (label) => deriveAll(label)[0] ?? deriveFrom(current, label),
    deriveAll,
  };
}

const canaryAad = 'canary';

/** Returns a value that is stored once, and by which later starts check the configured key. */
export const makeCanary = (kek: Kek): string => kek.seal('doorward', canaryAad);

/** Whether the current key or a configured old key opens the canary. */
export function canaryOpens(kek: Kek, canary: string): boolean {
  try {
    return kek.open(canary, canaryAad).toString() === 'doorward';
  } catch (error) {
    if (error instanceof SealError) return false;
    throw error;
  }
}
