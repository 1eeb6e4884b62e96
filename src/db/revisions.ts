import { createCipheriv, createDecipheriv } from 'node:crypto';
import { z } from 'zod';

/**
 * What a mutation answers so that a later question can ask for a state at least as new, on any process
 * (docs/decisions/0014). Inside is the number of its transaction, sealed as one block: the numbers count what the whole
 * server writes, which is nobody's business, and another installation's revision is not taken for one of ours.
 */
export interface Revisions {
  seal(transaction: number): string;
  /** Null for what was not sealed here. */
  open(revision: string): number | null;
}

/** Input of an operation that may be asked for a state at least as new. */
export const revision = z
  .string()
  .regex(/^[\w-]{22}$/)
  .meta({ description: 'X-Doorward-Revision of an earlier change: what is answered is not older than it.' });

const MARK = Buffer.from('revision');
const CIPHER = 'aes-256-ecb';

/** `keys`: the current one first; former ones still open. */
export function createRevisions(keys: readonly Buffer[]): Revisions {
  /** Mutations that share a commit ask for the same one after the other. */
  const last = { transaction: NaN, sealed: '' };

  return {
    seal(transaction) {
      if (transaction === last.transaction) return last.sealed;
      const block = Buffer.alloc(16);
      MARK.copy(block);
      block.writeBigUInt64BE(BigInt(transaction), MARK.length);
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
        if (block.subarray(0, MARK.length).equals(MARK)) return Number(block.readBigUInt64BE(MARK.length));
      }
      return null;
    },
  };
}
