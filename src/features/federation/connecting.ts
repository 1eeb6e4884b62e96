import { and, eq } from 'drizzle-orm';
import { isRecent } from '../../access/guard.ts';
import { hashRefreshToken, isAuthentic, parseRefreshToken } from '../../crypto/refresh-token.ts';
import { fail } from '../../errors.ts';
import type { Call, Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { ownerOf } from '../identity/address.ts';
import { mayExist } from '../identity/password-sign-in.ts';
import { isLive, refreshKeys, type Run, type UserRow } from '../identity/sign-in.ts';
import { lockClaimants, lockUser } from '../identity/verification.ts';
import { sessions } from '../me/session.ts';
import { isEnrolled } from '../mfa/mfa-factor.ts';
import { users } from '../users/user.ts';
import { withQuery, type FlowError } from './destination.ts';
import { beginFlow, forgetFlow, seeFlow, takeFlow } from './flow.ts';
import type { Identity } from './github.ts';
import { hasMostMethods, link, lockedMethod } from './matching.ts';

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

type Connectable =
  | { readonly error: FlowError }
  /** `null`: the account is this user's already. */
  | { readonly user: UserRow | null; readonly address: string };

/**
 * Whether the account may be connected to the user of the session in which the flow began. That user is locked until
 * commit.
 */
async function connectable(ctx: Run, identity: Identity, begunIn: string): Promise<Connectable> {
  const { tx, services, call } = ctx;
  const linked = await lockedMethod(ctx, identity);
  const { address } = identity;
  if (address !== null) await lockClaimants(ctx, address);
  const holder = await connectingUser(tx, services, call);
  if (!holder) return { error: 'stepUpRequired' };
  // Somebody else signed in here meanwhile: the account is not for him.
  if (holder.sessionId !== begunIn) return { error: 'invalidState' };
  if (linked) {
    return linked.userId === holder.user.id
      ? { user: null, address: linked.label }
      : { error: 'alreadyLinked' };
  }
  if (address === null) return { error: 'emailNotVerified' };
  const user = await lockUser(ctx, holder.user.id);
  const owner = await ownerOf(tx, address);
  const isTaken = !user || (owner && owner.id !== user.id) || (await hasMostMethods(tx, user.id));
  return isTaken ? { error: 'alreadyLinked' } : { user, address };
}

/**
 * Answers the page that asks the user whether to connect the account that the provider has named. Any site can lead a
 * browser through the provider, and somebody else may be signed in there: without the question, an account could become
 * a way to sign in without the user knowing.
 */
export async function askToConnect(
  ctx: Run,
  identity: Identity,
  { sessionId, redirect }: { readonly sessionId: string; readonly redirect: string },
): Promise<string | { readonly error: FlowError }> {
  const may = await connectable(ctx, identity, sessionId);
  ctx.unchanged();
  if ('error' in may) return may;
  if (may.user === null) return withQuery(redirect, {});
  await beginFlow(ctx, 'connect', { identity, sessionId, redirect });
  return `${ctx.services.config.appUrl}/hosted/connect-github`;
}

/** What the page asks; null when this browser has nothing to decide. */
export interface ConnectQuestion {
  /** The provider's account. */
  readonly account: string;
  readonly accountAddress: string;
  readonly name: string;
  readonly address: string;
  readonly formToken: string;
  readonly redirect: string;
}

export async function connectQuestionFor(
  db: Executor,
  services: Services,
  flowCookie: string,
): Promise<ConnectQuestion | null> {
  const flow = await seeFlow(db, services, 'connect', flowCookie);
  if (!flow) return null;
  const [found] = await db
    .select({ session: sessions, user: users })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(eq(sessions.id, flow.sessionId));
  if (!found || !isLive(services, found.session) || !mayExist(found.user)) return null;
  const { identity, handle, redirect } = flow;
  return {
    account: identity.login ?? identity.id,
    accountAddress: identity.address ?? '',
    name: found.user.name,
    address: found.user.email ?? '',
    formToken: handle,
    redirect,
  };
}

/**
 * Carries out the user's answer, and returns the next address of the browser. To connect, all conditions are checked
 * again: the same session, a recent sign-in, and an account that no other user has.
 * @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED
 */
export async function decideToConnect(
  ctx: Run,
  { decision, formToken }: { readonly decision: 'approve' | 'deny'; readonly formToken: string },
): Promise<string> {
  const { tx, services, call } = ctx;
  if (call.flowCookie !== null && !call.originAllowed) throw fail('ORIGIN_NOT_ALLOWED');
  const known =
    call.flowCookie === null ? undefined : await seeFlow(tx, services, 'connect', call.flowCookie);
  // Users are locked before flows, everywhere.
  const may =
    known && decision === 'approve' ? await connectable(ctx, known.identity, known.sessionId) : null;
  const { identity, redirect } = await takeFlow(tx, services, call, 'connect', formToken);
  forgetFlow(ctx);
  if (may === null || 'error' in may) {
    ctx.unchanged();
    return withQuery(redirect, { error: may?.error ?? 'accessDenied' });
  }
  if (may.user === null) ctx.unchanged();
  else await link(ctx, may.user, identity, may.address);
  return withQuery(redirect, {});
}
