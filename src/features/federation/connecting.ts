import { and, eq } from 'drizzle-orm';
import { isRecent } from '../../access/guard.ts';
import { hashRefreshToken, isAuthentic, parseRefreshToken } from '../../crypto/refresh-token.ts';
import type { Call, Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { ownerOf } from '../identity/address.ts';
import { mayExist } from '../identity/password-sign-in.ts';
import { isLive, refreshKeys, type Run, type UserRow } from '../identity/sign-in.ts';
import { lockClaimants, lockUser } from '../identity/verification.ts';
import { sessions } from '../me/session.ts';
import { isEnrolled } from '../mfa/mfa-factor.ts';
import { users } from '../users/user.ts';
import type { FlowError } from './destination.ts';
import type { Identity } from './github.ts';
import { link, lockedMethod, refused } from './matching.ts';

/**
 * Connecting a GitHub account to the user who is signed in (identity §8). A browser that is led here sends no access
 * token, so the refresh cookie says who it is: the newest token of a live browser session. It is a new way to sign in,
 * so it asks for what adding any other one asks for: a recent sign-in, with the second factor if there is one.
 */
interface Holder {
  readonly sessionId: string;
  readonly user: UserRow;
}

/** Whose browser this is, if he may change his sign-in methods now. The cookie is not used up. */
export async function connectingUser(
  db: Executor,
  services: Services,
  { refreshCookie }: Call,
): Promise<Holder | undefined> {
  const token = refreshCookie === null ? null : parseRefreshToken(refreshCookie);
  if (refreshCookie === null || !token || !isAuthentic(refreshKeys(services), refreshCookie))
    return undefined;
  const [found] = await db
    .select({ session: sessions, user: users })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(and(eq(sessions.id, token.sessionId), eq(sessions.refreshHash, hashRefreshToken(refreshCookie))));
  if (!found || !isLive(services, found.session) || !mayExist(found.user)) return undefined;
  const { session, user } = found;
  const { clock, config } = services;
  const mayChange =
    session.kind === 'browser' &&
    isRecent(session.authenticatedAt, config.auth.stepUpMaxAgeMinutes, clock.now()) &&
    (session.acr === 'aal2' || !(await isEnrolled(db, user.id)));
  return mayChange ? { sessionId: session.id, user } : undefined;
}

/** Links the account to the user of the session that began this; null when it is done, or was before. */
export async function connect(
  ctx: Run,
  identity: Identity,
  begunIn: string,
): Promise<{ readonly error: FlowError } | null> {
  const { tx, services, call } = ctx;
  const linked = await lockedMethod(ctx, identity);
  const { address } = identity;
  if (address !== null) await lockClaimants(ctx, address);
  const holder = await connectingUser(tx, services, call);
  if (!holder) return refused(ctx, 'stepUpRequired');
  // Somebody else signed in here meanwhile: the account is not for him.
  if (holder.sessionId !== begunIn) return refused(ctx, 'invalidState');
  if (linked) {
    ctx.unchanged();
    return linked.userId === holder.user.id ? null : { error: 'alreadyLinked' };
  }
  if (address === null) return refused(ctx, 'emailNotVerified');
  const user = await lockUser(ctx, holder.user.id);
  const owner = await ownerOf(tx, address);
  if (!user || (owner && owner.id !== user.id)) return refused(ctx, 'alreadyLinked');
  return (await link(ctx, user, identity, address)) ? null : refused(ctx, 'alreadyLinked');
}
