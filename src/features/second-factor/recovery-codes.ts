import { and, count, eq, inArray } from 'drizzle-orm';
import { createHmac, randomInt } from 'node:crypto';
import type { Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { mfaRecoveryCodes } from '../mfa/mfa-factor.ts';

/** Ten codes of 49 random bits each, shown once (identity §7). The alphabet has no two characters that look alike. */
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
 * One hash per configured encryption key, the current one first: so few bits need a key that is not in the database,
 * and codes outlive a change of it.
 */
const hashesOf = ({ kek }: Services, code: string): string[] =>
  kek.deriveAll('mfa-recovery-code').map((key) => createHmac('sha256', key).update(code).digest('base64url'));

/** A new set in place of the old one. */
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

export async function removeRecoveryCodes(tx: Executor, userId: string): Promise<void> {
  await tx.delete(mfaRecoveryCodes).where(eq(mfaRecoveryCodes.userId, userId));
}

export async function recoveryCodesLeft(tx: Executor, userId: string): Promise<number> {
  const [left] = await tx
    .select({ codes: count() })
    .from(mfaRecoveryCodes)
    .where(eq(mfaRecoveryCodes.userId, userId));
  return left?.codes ?? 0;
}

/** Whether the code was one of the user's; from now on it is not. Spaces, hyphens and case are the paper's. */
export async function useRecoveryCode(
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
