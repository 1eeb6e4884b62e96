import { and, eq, isNull } from 'drizzle-orm';
import { fail } from '../../errors.ts';
import type { Call, Principal } from '../../kernel/context.ts';
import type { Services, Run } from '../../services.ts';
import { credentialKey } from '../../kernel/charge.ts';
import { refuse, type Refusal } from '../../kernel/output/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { endLeastUsed } from '../../sessions/session-limit.ts';
import { signAccessToken } from '../../sessions/sign-in.ts';
import type { UserRow } from '../../schema/people/user.ts';
import { nodeOfUser } from '../../people/user-node.ts';
import { sessionOf } from './lock-for-change.ts';
import { sessions } from '../../schema/sign-in/session.ts';

/** One rate-limit bucket for all codes of a credential from one network (conventions §10). */
export const codeBucket = (_input: unknown, call: Call): string => {
  const { authentication } = call;
  return `mfa ${credentialKey(authentication.ok ? authentication.principal : null, call)} ${call.network}`;
};

/** The state of a session after a correct code. The token is signed before the transaction and returned after it. */
interface RaisedSession {
  /** The methods of the sign-in, before this factor. */
  readonly formerAmr: readonly string[];
  readonly amr: string[];
  readonly authenticatedAt: Date;
  readonly accessToken: string;
}

/** Signs the token of the raised session. Call it in `prepare`. @throws UNAUTHENTICATED */
export async function prepareRaise(
  tx: Executor,
  services: Services,
  principal: Principal,
  ...methods: ('otp' | 'rc' | 'pop' | 'mfa')[]
): Promise<RaisedSession> {
  const session = await sessionOf(tx, principal);
  if (!session) throw fail('UNAUTHENTICATED');
  const { id, userId } = session;
  const amr = [...new Set([...session.amr, ...methods])];
  const authenticatedAt = services.clock.now();
  const { emailVerified } = principal;
  const claims = { id, userId, acr: 'aal2', amr, authenticatedAt, emailVerified } as const;
  return {
    formerAmr: session.amr,
    amr,
    authenticatedAt,
    accessToken: await signAccessToken(services, claims),
  };
}

/**
 * Raises only this session to `aal2`. It then counts as a recent sign-in (identity §6) and as a full session; if the
 * user has too many full sessions, the least recently used one ends.
 *
 * @throws UNAUTHENTICATED if the session has ended
 */
export async function raiseSession(
  ctx: Run,
  user: UserRow,
  { credentialId }: Principal,
  raised: RaisedSession,
): Promise<void> {
  const { amr, authenticatedAt } = raised;
  const changed = await ctx.tx
    .update(sessions)
    .set({ acr: 'aal2', amr, authenticatedAt })
    .where(and(eq(sessions.id, credentialId), isNull(sessions.endedAt)))
    .returning({ id: sessions.id });
  if (changed.length === 0) throw fail('UNAUTHENTICATED');
  ctx.invalidate(`session:${credentialId}`);
  await endLeastUsed(ctx, user, { id: credentialId, acr: 'aal2', appId: null, isSso: false });
}

/** The target of audit entries about a user. */
export const userTarget = (user: UserRow) => ({ type: 'User', id: user.id }) as const;

/**
 * Refuses a wrong, used or locked-out code, always in the same way. The transaction commits the counted failure and the
 * audit entry.
 */
export async function refuseCode(ctx: Run, user: UserRow): Promise<Refusal> {
  const node = await nodeOfUser(ctx.tx, user.id);
  ctx.record({ outcome: 'failed', code: 'UNAUTHENTICATED', target: userTarget(user), node });
  const fix =
    'Send the code that your authenticator app shows now, a passkey, or an unused recovery code; or wait 15 minutes.';
  return refuse(fail('UNAUTHENTICATED', { fix }));
}
