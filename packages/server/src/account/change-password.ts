import { and, eq, isNull, ne } from 'drizzle-orm';
import { fail } from '../errors.ts';
import type { Principal } from '../kernel/context.ts';
import type { Services, Run } from '../services.ts';
import { refuse, type Refusal } from '../kernel/output/reply.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { assertPassword, loadPasswordOwner, replacePassword } from '../sign-in/passwords/new-password.ts';
import { canSignIn } from '../sessions/password-sign-in.ts';
import { nodeOfUser, userAsActor } from '../people/user-node.ts';
import { lockUser } from '../people/lock-user.ts';
import { users } from '../schema/people/user.ts';
import { passwords } from '../schema/sign-in/authentication-method.ts';
import { countFailure, isLockedOut } from '../people/lockout.ts';
import { sessions } from '../schema/sign-in/session.ts';

interface PasswordInput {
  readonly currentPassword: string;
  readonly newPassword: string;
  readonly confirmPassword?: string | undefined;
}

/**
 * The stored hash that matched the current password, and the hash of the new password; null if the current password did
 * not match.
 */
type PreparedChange = { readonly matched: string; readonly hash: string } | null;

const invalidField = (path: string, code: 'not_allowed' | 'password_unchanged') =>
  fail('VALIDATION_ERROR', { details: [{ path, code }] });

/**
 * Checks the new password before the current one: an error about the new password must not reveal whether the current
 * one was right. A user without a password, who signs in through a provider, gets the error for a wrong password after
 * the same work; they get a password by adding an address to sign in with.
 * @throws VALIDATION_ERROR
 */
export async function prepareChange(
  db: Executor,
  services: Services,
  { userId }: Principal,
  network: string,
  { currentPassword, newPassword, confirmPassword = newPassword }: PasswordInput,
): Promise<PreparedChange> {
  if (confirmPassword !== newPassword) throw invalidField('confirmPassword', 'not_allowed');
  const [stored] = await db
    .select({ user: users, hash: passwords.hash })
    .from(users)
    .leftJoin(passwords, eq(passwords.userId, users.id))
    .where(and(eq(users.id, userId), isNull(users.deletedAt)));
  // Passwords are compared in NFKC: the same password in another Unicode spelling is not new.
  if (newPassword.normalize('NFKC') === currentPassword.normalize('NFKC')) {
    throw invalidField('newPassword', 'password_unchanged');
  }
  if (!stored) return null;
  await assertPassword(services, newPassword, await loadPasswordOwner(db, stored.user), 'newPassword');
  const lockedOut = await isLockedOut(db, services, userId, network);
  const matchedHash = lockedOut ? null : stored.hash;
  const isCorrect = await services.passwords.verify(matchedHash, currentPassword, stored.hash);
  if (matchedHash === null || !isCorrect) return null;
  return { matched: matchedHash, hash: await services.passwords.hash(newPassword) };
}

/** Replaces the password and ends every other session of the user. Records and refuses a wrong current password. */
export async function changePassword(
  ctx: Run,
  { userId, credentialId }: Principal,
  prepared: PreparedChange,
): Promise<{ changed: true } | Refusal> {
  const { tx, services, call } = ctx;
  const user = await lockUser(ctx, userId);
  const [stored] = await tx.select().from(passwords).where(eq(passwords.userId, userId));
  const lockedOut = await isLockedOut(tx, services, userId, call.network);
  // Another request may have changed the password or counted a failure since `prepareChange` checked it.
  const isValid = prepared !== null && stored?.hash === prepared.matched && !lockedOut;
  if (!isValid || !user || !canSignIn(user)) {
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
