import { createCipheriv, createDecipheriv } from 'node:crypto';
import { z } from 'zod';

/**
 * Revision tokens: a mutation returns one, and a later query passes it to read a state at least as new, in any process
 * (decision 0014). The token is the encrypted transaction number. Encryption hides the write rate of the server, which
 * plain numbers would reveal, and makes tokens of other installations invalid.
 */
export interface Revisions {
  seal(transaction: number): string;
  /** The transaction number; null for a token of another installation. */
  open(revision: string): number | null;
}

/** Input of operations that can respond from a state at least as new as a revision. */
export const revision = z
  .string()
  .regex(/^[\w-]{22}$/)
  .meta({
    description: 'X-Doorward-Revision of an earlier change. The answer is at least as new as that change.',
  });

const MAGIC = Buffer.from('revision');
const CIPHER = 'aes-256-ecb';

/** `keys`: the current key first. Older keys can still decrypt. */
export function createRevisions(keys: readonly Buffer[]): Revisions {
  /** All mutations of a group commit have the same transaction number, so the last result is cached. */
  const last = { transaction: NaN, sealed: '' };

  return {
    seal(transaction) {
      if (transaction === last.transaction) return last.sealed;
      const block = Buffer.alloc(16);
      MAGIC.copy(block);
      block.writeBigUInt64BE(BigInt(transaction), MAGIC.length);
      const cipher = createCipheriv(CIPHER, keys[0] as Buffer, null).setAutoPadding(false);
      const sealed = cipher.update(block).toString('base64url');
      Object.assign(last, { transaction, sealed });
      return sealed;
    },

    open(revision) {
      const sealed = Buffer.from(revision, 'base64url');
      if (sealed.length !== 16) return null;
      for (const key of keys) {
        const block = createDecipheriv(CIPHER, key, null).setAutoPadding(false).update(sealed);
        if (block.subarray(0, MAGIC.length).equals(MAGIC)) return Number(block.readBigUInt64BE(MAGIC.length));
      }
      return null;
    },
  };
}
