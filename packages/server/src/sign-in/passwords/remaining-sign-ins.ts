import { and, asc, count, eq, inArray, ne } from 'drizzle-orm';
import { authenticationMethods } from '../../schema/sign-in/authentication-method.ts';
import { passkeys } from '../../schema/sign-in/passkey.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { recordMethodChange } from '../protection/method-changes.ts';
import type { RemainingSignIns } from './password-changed-mail.ts';
import { oneTimeTokens } from '../../schema/sign-in/one-time-token.ts';
import type { Run } from '../../services.ts';
import type { UserRow } from '../../schema/people/user.ts';
import { userAsActor } from '../../people/user-node.ts';

/**
 * Removes the addresses that were never proved, with the links mailed to them. Another person may have known the former
 * password, and added an address whose link is still valid.
 */
export async function removeUnproven(ctx: Run, user: UserRow): Promise<void> {
  const { tx } = ctx;
  const before = await tx
    .select()
    .from(authenticationMethods)
    .where(eq(authenticationMethods.userId, user.id));
  const unproven = before.filter(({ isVerified }) => !isVerified);
  if (unproven.length === 0) return;
  await tx.delete(authenticationMethods).where(
    inArray(
      authenticationMethods.id,
      unproven.map(({ id }) => id),
    ),
  );
  await tx
    .delete(oneTimeTokens)
    .where(and(eq(oneTimeTokens.userId, user.id), eq(oneTimeTokens.purpose, 'verifyEmail')));
  for (const method of unproven)
    await recordMethodChange(ctx, user, { change: 'removed', method, before, actor: userAsActor(user) });
}

export async function otherSignIns(db: Executor, userId: string, proven: string): Promise<RemainingSignIns> {
  const others = await db
    .selectDistinct({ label: authenticationMethods.label })
    .from(authenticationMethods)
    .where(and(eq(authenticationMethods.userId, userId), ne(authenticationMethods.label, proven)))
    .orderBy(asc(authenticationMethods.label));
  const [row] = await db.select({ number: count() }).from(passkeys).where(eq(passkeys.userId, userId));
  return { addresses: others.map(({ label }) => label), passkeys: row?.number ?? 0 };
}
