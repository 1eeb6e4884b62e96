/**
 * The key-encryption key. Everything that must be readable again (private signing keys, TOTP seeds, webhook secrets)
 * is stored sealed under it, and every other server key (peppers, refresh-token keys) is derived from it, so one
 * secret is backed up and one is changed. Former keys still open and derive; only the current one seals.
 * A canary stored in the database tells at start whether this key is the one that the rows were sealed under.
 *
 * @example const sealed = kek.seal(pem, `signing_keys:${id}`);
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** A sealed text cannot be opened: not ours, sealed under a key that is not configured, or changed or moved. */
export class SealError extends Error {
  override readonly name = 'SealError';
  readonly reason: 'malformed' | 'unknownKey' | 'tampered';

  constructor(reason: SealError['reason'], cause?: unknown) {
    super(`A sealed value cannot be opened: ${reason}.`, { cause });
    this.reason = reason;
  }
}

/** The keys of this process, 32 bytes each. */
export interface EncryptionKeys {
  readonly current: Buffer;
  readonly old: readonly Buffer[];
}

export interface Kek {
  /** `v1.<key id>.<base64url>`, AES-256-GCM. Opens only with the same `aad`, which names the row and column. */
  seal(plain: Buffer | string, aad: string): string;
  /** The sealed bytes, unchanged. @throws SealError */
  open(sealed: string, aad: string): Buffer;
  /** Whether a text was sealed under the current key; if not, `createReseal` seals it anew. */
  isCurrent(sealed: string): boolean;
  /** How texts begin that were sealed under the current key, for a question to the database. */
  readonly mark: string;
  /** 32 bytes from the current key (HKDF-SHA-256, RFC 5869); equal for equal labels, independent for others. */
  derive(label: string): Buffer;
  /** `derive` under every key, the current one first. */
  deriveAll(label: string): readonly Buffer[];
}

const ivBytes = 12;
const tagBytes = 16;

const deriveFrom = (key: Buffer, label: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key, 'doorward', label, 32));

/** @throws RangeError when a key is not 32 bytes long. */
export function createKek({ current, old }: EncryptionKeys): Kek {
  const keys = [current, ...old];
  if (keys.some((key) => key.length !== 32)) throw new RangeError('An encryption key has 32 bytes.');
  const idOf = (key: Buffer) => deriveFrom(key, 'key-id').subarray(0, 6).toString('base64url');
  const mark = `v1.${idOf(current)}.`;
  // The current key is set last, so that it wins should it be listed among the old ones too.
  const sealKeys = new Map(keys.toReversed().map((key) => [idOf(key), deriveFrom(key, 'seal')]));
  const sealKey = deriveFrom(current, 'seal');
  /** A label is a word of the code, so these are few; deriving one takes longer than the HMAC it is for. */
  const derived = new Map<string, readonly Buffer[]>();
  const deriveAll = (label: string): readonly Buffer[] => {
    const known = derived.get(label) ?? keys.map((key) => deriveFrom(key, label));
    derived.set(label, known);
    return known;
  };

  return {
    seal(plain, aad) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', sealKey, iv).setAAD(Buffer.from(aad));
      const body = Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
      return mark + body.toString('base64url');
    },
    open(sealed, aad) {
      const [, id = '', text = ''] = /^v1\.([\w-]{8})\.([\w-]+)$/.exec(sealed) ?? [];
      const body = Buffer.from(text, 'base64url');
      // Comparing with the re-encoded bytes refuses a second spelling of the same bytes.
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
    isCurrent: (sealed) => sealed.startsWith(mark),
    mark,
    derive: (label) => deriveAll(label)[0] ?? deriveFrom(current, label),
    deriveAll,
  };
}

const canaryAad = 'canary';

/** A value to be stored once, by which a later start recognises its key. */
export const makeCanary = (kek: Kek): string => kek.seal('doorward', canaryAad);

/** Whether this key, or a configured old one, is the key that the canary was made with. */
export function canaryOpens(kek: Kek, canary: string): boolean {
  try {
    return kek.open(canary, canaryAad).toString() === 'doorward';
  } catch (error) {
    if (error instanceof SealError) return false;
    throw error;
  }
}
