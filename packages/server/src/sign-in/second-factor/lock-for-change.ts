import { eq } from 'drizzle-orm';
import { fail } from '../../errors.ts';
import { sessions } from '../../schema/sign-in/session.ts';
import { isEnrolled } from '../../people/enrolment.ts';
import type { Principal } from '../../kernel/context.ts';
import type { Run } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { UserRow } from '../../schema/people/user.ts';
import { lockUser } from '../../people/lock-user.ts';

/**
 * Returns the caller's user row, locked until commit, so that attempts are counted, time steps used and factors changed
 * one after the other.
 *
 * @throws UNAUTHENTICATED if another request deleted the user
 */
export async function lockCaller(ctx: Pick<Run, 'tx'>, { userId }: Principal): Promise<UserRow> {
  const user = await lockUser(ctx, userId);
  if (!user) throw fail('UNAUTHENTICATED');
  return user;
}

/**
 * Like `lockCaller`, for changes of factors and codes. Checks the session again under the lock, because another request
 * may have enabled the first factor after the session was authenticated.
 *
 * @throws MFA_REQUIRED, UNAUTHENTICATED
 */
export async function lockForChange(ctx: Pick<Run, 'tx'>, principal: Principal): Promise<UserRow> {
  const user = await lockCaller(ctx, principal);
  if (await isEnrolled(ctx.tx, user.id)) {
    const session = await sessionOf(ctx.tx, principal);
    if (session?.acr !== 'aal2') throw fail('MFA_REQUIRED');
  }
  return user;
}

/** The caller's session, as it is stored now. */
export async function sessionOf(tx: Executor, { credentialId }: Principal) {
  const [session] = await tx.select().from(sessions).where(eq(sessions.id, credentialId));
  return session;
}
