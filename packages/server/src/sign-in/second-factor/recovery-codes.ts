import { and, count, eq, inArray } from 'drizzle-orm';
import { createHmac, randomInt } from 'node:crypto';
import type { Services } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { mfaRecoveryCodes } from '../../schema/sign-in/mfa-factor.ts';

/* Ten codes of 49 random bits each, shown once (identity §7). The alphabet has no characters that look alike. */

const COUNT = 10;
const LENGTH = 10;
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789';

interface Run {
  readonly tx: Executor;
  readonly services: Services;
}

const newCode = (): string =>
  Array.from({ length: LENGTH }, () => alphabet.charAt(randomInt(alphabet.length))).join('');

/**
 * One HMAC per configured encryption key, the current key first. Codes have few bits, so their hashes need a key that
 * is not in the database; former keys keep codes valid after a key change.
 */
const hashesOf = ({ kek }: Services, code: string): string[] =>
  kek.deriveAll('mfa-recovery-code').map((key) => createHmac('sha256', key).update(code).digest('base64url'));

/** Replaces the user's codes with a new set, and returns that. */
export async function replaceRecoveryCodes({ tx, services }: Run, userId: string): Promise<string[]> {
  await removeRecoveryCodes(tx, userId);
  const codes = new Set<string>();
  while (codes.size < COUNT) codes.add(newCode());
  await tx.insert(mfaRecoveryCodes).values(
    [...codes].map((code) => ({
      id: services.ids.next(),
      userId,
      hash: hashesOf(services, code)[0] ?? '',
    })),
  );
  return [...codes];
}

/** Removes all recovery codes of the user. */
export async function removeRecoveryCodes(tx: Executor, userId: string): Promise<void> {
  await tx.delete(mfaRecoveryCodes).where(eq(mfaRecoveryCodes.userId, userId));
}

/** Counts the recovery codes that the user has left. */
export async function countRecoveryCodes(tx: Executor, userId: string): Promise<number> {
  const [row] = await tx
    .select({ codes: count() })
    .from(mfaRecoveryCodes)
    .where(eq(mfaRecoveryCodes.userId, userId));
  return row?.codes ?? 0;
}

/**
 * Consumes a recovery code; returns false if the user does not have it. Spaces, hyphens and case are ignored, because
 * codes are typed from paper.
 */
export async function consumeRecoveryCode(
  { tx, services }: Run,
  userId: string,
  typed: string,
): Promise<boolean> {
  const code = typed.replace(/[\s-]/g, '').toLowerCase();
  const used = await tx
    .delete(mfaRecoveryCodes)
    .where(and(eq(mfaRecoveryCodes.userId, userId), inArray(mfaRecoveryCodes.hash, hashesOf(services, code))))
    .returning({ id: mfaRecoveryCodes.id });
  return used.length > 0;
}
