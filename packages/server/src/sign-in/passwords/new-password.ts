import { and, eq, type SQL } from 'drizzle-orm';
import { passwordProblems } from '../../crypto/passwords/password-policy.ts';
import { fail } from '../../errors.ts';
import type { Services, Run } from '../../services.ts';
import type { Actor } from '../../kernel/event.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { authenticationMethods, passwords } from '../../schema/sign-in/authentication-method.ts';
import { endProofs } from '../../sessions/pending-proofs.ts';
import { userData } from '../../sessions/sign-in.ts';
import type { UserRow } from '../../schema/people/user.ts';
import { endSessions } from '../../sessions/live-sessions.ts';
import { passwordChangedMail, type RemainingSignIns } from './password-changed-mail.ts';
import { nodeOfUser } from '../../people/user-node.ts';
import { flushMails } from '../../people/flush-mails.ts';

/** What a password is checked against: it must not contain the name or an address of its user. */
interface PasswordOwner {
  readonly addresses: readonly (string | null)[];
  readonly name: string;
}

/**
 * Applies the password policy (identity §2). `path` is the path of the password in the input.
 *
 * @throws VALIDATION_ERROR
 */
export async function assertPassword(
  { config }: Services,
  password: string,
  { addresses, name }: PasswordOwner,
  path: string,
): Promise<void> {
  const { passwordMinLength: minLength } = config.auth;
  const problems = await Promise.all(
    addresses.map((email) => passwordProblems(password, { minLength, identity: { email, name } })),
  );
  const codes = [...new Set(problems.flat())];
  if (codes.length > 0) throw fail('VALIDATION_ERROR', { details: codes.map((code) => ({ path, code })) });
}

/** Loads the name and every address of the user, verified or only claimed, for `assertPassword`. */
export async function loadPasswordOwner(db: Executor, user: UserRow): Promise<PasswordOwner> {
  const methods = await db
    .select({ address: authenticationMethods.providerId })
    .from(authenticationMethods)
    .where(and(eq(authenticationMethods.userId, user.id), eq(authenticationMethods.provider, 'email')));
  return {
    addresses: [...new Set([user.email, ...methods.map(({ address }) => address)])],
    name: user.name,
  };
}

/**
 * Stores the password and ends everything that the old password may have opened: every session except those that
 * `endedSessions` leaves out, and every pending proof (`endProofs`). Records `user.password_changed`, and mails the
 * change to `proved` and to the verified primary address, so that an attacker who controls one mailbox is noticed in
 * the other. The mail is queued here rather than by the event's notification, which does not know the address that the
 * link was mailed to. The caller holds the lock on the user's row, so no sign-in with the old password happens in
 * between.
 */
export async function replacePassword(
  ctx: Run,
  user: UserRow,
  hash: string,
  by: {
    readonly actor: Actor;
    readonly endedSessions?: SQL;
    readonly proved?: string;
    readonly remaining?: RemainingSignIns;
  },
): Promise<void> {
  const { tx, services, call } = ctx;
  const set = { hash, updatedAt: services.clock.now() };
  await tx
    .insert(passwords)
    .values({ userId: user.id, ...set })
    .onConflictDoUpdate({ target: passwords.userId, set });
  await endProofs(tx, user.id);
  ctx.record({
    actor: by.actor,
    event: 'user.password_changed',
    data: userData(user),
    target: { type: 'User', id: user.id },
    node: await nodeOfUser(tx, user.id),
  });
  await endSessions(ctx, user.id, by.endedSessions, by.actor);
  const recipients = new Set([by.proved, user.emailVerified ? user.email : null]);
  for (const address of recipients) {
    if (address)
      await services.mail.queue(tx, passwordChangedMail(address, user.locale ?? call.language, by.remaining));
  }
  flushMails(ctx);
}
