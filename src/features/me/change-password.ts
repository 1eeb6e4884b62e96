import { and, eq, isNull, ne } from 'drizzle-orm';
import { fail } from '../../errors.ts';
import type { Principal, Services } from '../../kernel/context.ts';
import { refuse, type Refusal } from '../../kernel/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { assertPassword, ownerOfPassword, replacePassword } from '../identity/new-password.ts';
import { mayExist } from '../identity/password-sign-in.ts';
import type { Run } from '../identity/sign-in.ts';
import { nodeOfUser, userAsActor } from '../identity/user-node.ts';
import { lockUser } from '../identity/verification.ts';
import { users } from '../users/user.ts';
import { passwords } from './authentication-method.ts';
import { countFailure, isLockedOut } from './failed-attempts.ts';
import { sessions } from './session.ts';

interface Typed {
  readonly currentPassword: string;
  readonly newPassword: string;
  readonly confirmPassword?: string | undefined;
}

/** The hash that the current password fitted with the one of the new password; null when it did not fit. */
export type PreparedChange = { readonly matched: string; readonly hash: string } | null;

const refused = (path: string, code: 'not_allowed' | 'password_unchanged') =>
  fail('VALIDATION_ERROR', { details: [{ path, code }] });

/**
 * A user without a password (signed in by a provider) gets the same work and the same answer as for a wrong one: he
 * proves nothing here, and comes to a password by adding an address to sign in with. The new password is judged first,
 * so that no fault of it tells whether the current one was right.
 * @throws VALIDATION_ERROR
 */
export async function prepareChange(
  db: Executor,
  services: Services,
  { userId }: Principal,
  network: string,
  { currentPassword, newPassword, confirmPassword = newPassword }: Typed,
): Promise<PreparedChange> {
  if (confirmPassword !== newPassword) throw refused('confirmPassword', 'not_allowed');
  const [found] = await db
    .select({ user: users, hash: passwords.hash })
    .from(users)
    .leftJoin(passwords, eq(passwords.userId, users.id))
    .where(and(eq(users.id, userId), isNull(users.deletedAt)));
  // One password, however it was typed.
  if (newPassword.normalize('NFKC') === currentPassword.normalize('NFKC')) {
    throw refused('newPassword', 'password_unchanged');
  }
  if (!found) return null;
  await assertPassword(services, newPassword, await ownerOfPassword(db, found.user), 'newPassword');
  const lockedOut = await isLockedOut(db, services, userId, network);
  const matched = lockedOut ? null : found.hash;
  const fits = await services.passwords.verify(matched, currentPassword);
  if (matched === null || !fits) return null;
  return { matched, hash: await services.passwords.hash(newPassword) };
}

/** Replaces the password and ends every other session of the user; a wrong current one is recorded and refused. */
export async function changePassword(
  ctx: Run,
  { userId, credentialId }: Principal,
  prepared: PreparedChange,
): Promise<{ changed: true } | Refusal> {
  const { tx, services, call } = ctx;
  const user = await lockUser(ctx, userId);
  const [stored] = await tx.select().from(passwords).where(eq(passwords.userId, userId));
  const lockedOut = await isLockedOut(tx, services, userId, call.network);
  // Between the check and now another change or a reset may have come first, or another guess.
  const fits = prepared !== null && stored?.hash === prepared.matched && !lockedOut;
  if (!fits || !user || !mayExist(user)) {
    if (user && !lockedOut) await countFailure(tx, services, userId, call.network);
    const target = { type: 'User', id: userId };
    ctx.record({ outcome: 'failed', code: 'UNAUTHENTICATED', target, node: await nodeOfUser(tx, userId) });
    return refuse(fail('UNAUTHENTICATED'));
  }
  await replacePassword(ctx, user, prepared.hash, {
    actor: userAsActor(user),
    endedSessions: ne(sessions.id, credentialId),
  });
  return { changed: true };
}
