import { and, eq, type SQL } from 'drizzle-orm';
import { isRecent } from '../../access/guard.ts';
import { hashRefreshToken, isAuthentic, parseRefreshToken } from '../../crypto/tokens/refresh-token.ts';
import { fail } from '../../errors.ts';
import type { Call } from '../../kernel/context.ts';
import type { Services, Run } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { findAddressOwner } from '../../people/address.ts';
import { canSignIn } from '../../sessions/password-sign-in.ts';
import { refreshKeys } from '../../sessions/sign-in.ts';
import { type UserRow, users } from '../../schema/people/user.ts';
import { isLive } from '../../sessions/live-sessions.ts';
import { lockClaimants } from '../../people/address-claims.ts';
import { lockUser } from '../../people/lock-user.ts';
import { sessions } from '../../schema/sign-in/session.ts';
import { isEnrolled } from '../../people/enrolment.ts';
import { withQuery, type FlowError } from './destination.ts';
import { beginFlow, clearFlowCookie, findFlowByCookie, consumeFlow } from '../flow/flow.ts';
import { providerKeyOf, type Identity } from '../../providers/provider.ts';
import { hasMaximumMethods, linkAccount, lockLinkedMethod } from './match-identity.ts';

/*
 * Connects an account at a provider to the signed-in user (identity §8). A browser that is redirected here sends no
 * access token, so the refresh cookie identifies the user: the newest token of a live browser session. Connecting
 * requires the same as adding any other sign-in method: a recent sign-in, with the second factor if the user has one.
 */

interface SessionUser {
  readonly sessionId: string;
  readonly user: UserRow;
}

/** The user of this browser, if they may change their sign-in methods now. The cookie is not consumed. */
export async function findConnectingUser(
  db: Executor,
  services: Services,
  { refreshCookie, accountSessionId }: Pick<Call, 'refreshCookie' | 'accountSessionId'>,
): Promise<SessionUser | undefined> {
  if (accountSessionId) return sessionUser(db, services, eq(sessions.id, accountSessionId));
  const token = refreshCookie === null ? null : parseRefreshToken(refreshCookie);
  if (refreshCookie === null || !token || !isAuthentic(refreshKeys(services), refreshCookie))
    return undefined;
  const hash = hashRefreshToken(refreshCookie);
  const isCurrent = and(eq(sessions.id, token.sessionId), eq(sessions.refreshHash, hash));
  return sessionUser(db, services, isCurrent);
}

async function sessionUser(
  db: Executor,
  services: Services,
  which: SQL | undefined,
): Promise<SessionUser | undefined> {
  const [row] = await db
    .select({ session: sessions, user: users })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(which);
  if (!row || !isLive(services, row.session) || !canSignIn(row.user)) return undefined;
  const { session, user } = row;
  const { clock, config } = services;
  const mayChange =
    session.kind === 'browser' &&
    session.organizationId === null &&
    isRecent(session.authenticatedAt, config.auth.stepUpMaxAgeMinutes, clock.now()) &&
    (session.acr === 'aal2' || !(await isEnrolled(db, user.id)));
  return mayChange ? { sessionId: session.id, user } : undefined;
}

/** The session of the user who began to connect the account. */
interface Connecting {
  readonly sessionId: string;
  /** Set if it is a session of the account pages. */
  readonly ofAccountPages?: true;
}

type ConnectCheck =
  | { readonly error: FlowError }
  /** `user` is null if the account is already linked to this user. */
  | { readonly user: UserRow | null; readonly address: string };

/**
 * Checks whether the account may be connected to the user of the session in which the flow began, and locks that user
 * until commit.
 */
async function checkConnect(
  ctx: Run,
  identity: Identity,
  { sessionId, ofAccountPages }: Connecting,
): Promise<ConnectCheck> {
  const { tx, services, call } = ctx;
  const linked = await lockLinkedMethod(ctx, identity);
  const { address } = identity;
  if (address !== null) await lockClaimants(ctx, address);
  // Only the account pages read their own cookie. Their session can be used here, because a flow that began on them is
  // bound to this browser.
  const cookies = ofAccountPages ? { refreshCookie: null, accountSessionId: sessionId } : call;
  const holder = await findConnectingUser(tx, services, cookies);
  if (!holder) return { error: 'stepUpRequired' };
  // Another user has signed in to this browser in the meantime, and must not get the account.
  if (holder.sessionId !== sessionId) return { error: 'invalidState' };
  if (linked) {
    return linked.userId === holder.user.id
      ? { user: null, address: linked.label }
      : { error: 'alreadyLinked' };
  }
  if (address === null) return { error: 'emailNotVerified' };
  const user = await lockUser(ctx, holder.user.id);
  const owner = await findAddressOwner(tx, address);
  const isTaken = !user || (owner && owner.id !== user.id) || (await hasMaximumMethods(tx, user.id));
  return isTaken ? { error: 'alreadyLinked' } : { user, address };
}

/**
 * Returns the address of the page that asks the user whether to connect the account that the provider has named. The
 * question is needed because any site can send a browser through the provider, where another person may be signed in:
 * without it, that account could become a sign-in method without the user's knowledge.
 */
export async function requestConnectConsent(
  ctx: Run,
  identity: Identity,
  { redirect, ...connecting }: Connecting & { readonly redirect: string },
): Promise<string | { readonly error: FlowError }> {
  const check = await checkConnect(ctx, identity, connecting);
  ctx.unchanged();
  if ('error' in check) return check;
  if (check.user === null) return withQuery(redirect, {});
  await beginFlow(ctx, 'connect', { identity, redirect, ...connecting });
  return `${ctx.services.config.appUrl}/hosted/connect-provider`;
}

/** The content of the page that asks the user. */
export interface ConnectQuestion {
  /** Name of the provider. */
  readonly provider: string;
  /** Name of the account at the provider. */
  readonly account: string;
  readonly accountAddress: string;
  readonly name: string;
  readonly address: string;
  readonly formToken: string;
  readonly redirect: string;
}

/** The pending question for the user of this browser; null if there is none. */
export async function loadConnectQuestion(
  db: Executor,
  services: Services,
  flowCookie: string,
): Promise<ConnectQuestion | null> {
  const flow = await findFlowByCookie(db, services, 'connect', flowCookie);
  if (!flow) return null;
  const [row] = await db
    .select({ session: sessions, user: users })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(eq(sessions.id, flow.sessionId));
  if (!row || !isLive(services, row.session) || !canSignIn(row.user)) return null;
  const { identity, handle, redirect } = flow;
  const { name: provider } = services.identityProviders.at(providerKeyOf(identity), 'session');
  return {
    provider,
    account: identity.login ?? identity.id,
    accountAddress: identity.address ?? '',
    name: row.user.name,
    address: row.user.email ?? '',
    formToken: handle,
    redirect,
  };
}

/**
 * Carries out the user's decision, and returns the browser's next address. All conditions are checked again before the
 * account is connected: the same session, a recent sign-in, and an account without another user.
 *
 * @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED
 */
export async function decideConnect(
  ctx: Run,
  { decision, formToken }: { readonly decision: 'approve' | 'deny'; readonly formToken: string },
): Promise<string> {
  const { tx, services, call } = ctx;
  if (call.flowCookie !== null && !call.originAllowed) throw fail('ORIGIN_NOT_ALLOWED');
  const flow =
    call.flowCookie === null ? undefined : await findFlowByCookie(tx, services, 'connect', call.flowCookie);
  // Lock order: users before flows, everywhere.
  const check = flow && decision === 'approve' ? await checkConnect(ctx, flow.identity, flow) : null;
  const { identity, redirect } = await consumeFlow(tx, services, call, 'connect', formToken);
  clearFlowCookie(ctx);
  if (check === null || 'error' in check) {
    ctx.unchanged();
    return withQuery(redirect, { error: check?.error ?? 'accessDenied' });
  }
  if (check.user === null) ctx.unchanged();
  else await linkAccount(ctx, check.user, identity, check.address);
  return withQuery(redirect, {});
}
