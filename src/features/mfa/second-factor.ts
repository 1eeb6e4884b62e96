import { and, eq, isNull } from 'drizzle-orm';
import { fail } from '../../errors.ts';
import type { Call, Principal, Services } from '../../kernel/context.ts';
import { credentialKey } from '../../kernel/charge.ts';
import { refuse, type Refusal } from '../../kernel/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { endLeastUsed } from '../sessions/session-limit.ts';
import { signAccessToken, type Run, type UserRow } from '../identity/sign-in.ts';
import { nodeOfUser } from '../identity/user-node.ts';
import { lockUser } from '../identity/verification.ts';
import { sessions } from '../me/session.ts';
import { isEnrolled } from './mfa-factor.ts';

/**
 * What a right code makes of the session. Everything here runs under the lock of the user's row, so that attempts are
 * counted, steps used and factors changed one after the other.
 */

/** One bucket for all codes of a user from one network, before the five of `attempts.ts` (conventions §10). */
export const perUser = (_input: unknown, call: Call): string => {
  const { authentication } = call;
  return `mfa ${credentialKey(authentication.ok ? authentication.principal : null, call)} ${call.network}`;
};

/** The user's row, locked until commit. @throws UNAUTHENTICATED when he was deleted meanwhile */
export async function lockCaller(ctx: Pick<Run, 'tx'>, { userId }: Principal): Promise<UserRow> {
  const user = await lockUser(ctx, userId);
  if (!user) throw fail('UNAUTHENTICATED');
  return user;
}

/**
 * `lockCaller` for changes of factors and codes. The gate has asked before, but of a state that another request may
 * have changed: the first factor may have been enabled since.
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

async function sessionOf(tx: Executor, { credentialId }: Principal) {
  const [session] = await tx.select().from(sessions).where(eq(sessions.id, credentialId));
  return session;
}

/** What a session becomes by a right code; the token is signed before the transaction, and given away only after. */
export interface Raised {
  readonly amr: string[];
  readonly authenticatedAt: Date;
  readonly accessToken: string;
}

/** Call it in `prepare`. @throws UNAUTHENTICATED */
export async function prepareRaise(
  tx: Executor,
  services: Services,
  principal: Principal,
  method: 'otp' | 'rc',
): Promise<Raised> {
  const session = await sessionOf(tx, principal);
  if (!session) throw fail('UNAUTHENTICATED');
  const { id, userId } = session;
  const amr = [...new Set([...session.amr, method])];
  const authenticatedAt = services.clock.now();
  const { emailVerified } = principal;
  const facts = { id, userId, acr: 'aal2', amr, authenticatedAt, emailVerified } as const;
  return { amr, authenticatedAt, accessToken: await signAccessToken(services, facts) };
}

/**
 * Raises this session, and only this one, to `aal2`. It counts as signed in at this moment (identity §6), and as a full
 * session from now on; if there are too many of these, the least recently used one ends.
 */
export async function raise(
  ctx: Run,
  user: UserRow,
  { credentialId }: Principal,
  raised: Raised,
): Promise<void> {
  const { amr, authenticatedAt } = raised;
  const changed = await ctx.tx
    .update(sessions)
    .set({ acr: 'aal2', amr, authenticatedAt })
    .where(and(eq(sessions.id, credentialId), isNull(sessions.endedAt)))
    .returning({ id: sessions.id });
  if (changed.length === 0) throw fail('UNAUTHENTICATED');
  ctx.touch(`session:${credentialId}`);
  await endLeastUsed(ctx, user, { id: credentialId, acr: 'aal2', appId: null });
}

export const targetOf = (user: UserRow) => ({ type: 'User', id: user.id }) as const;

/** The one answer of a wrong, used or locked-out code. The count and the audit entry stay. */
export async function refuseCode(ctx: Run, user: UserRow): Promise<Refusal> {
  const node = await nodeOfUser(ctx.tx, user.id);
  ctx.record({ outcome: 'failed', code: 'UNAUTHENTICATED', target: targetOf(user), node });
  const fix =
    'Send a code that your authenticator app shows now, or an unused recovery code; or wait 15 minutes.';
  return refuse(fail('UNAUTHENTICATED', { fix }));
}
