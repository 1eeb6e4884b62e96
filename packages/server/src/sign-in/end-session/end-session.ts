import { and, eq, inArray } from 'drizzle-orm';
import { claimedAudience } from '../../crypto/tokens/jwt.ts';
import { appByClientId, nodeOfApp, type LiveApp } from '../../apps/access/app.ts';
import { responseRedirect } from '../../apps/access/authorization-response.ts';
import { readIdTokenHint, type IdTokenHint } from '../authorize/id-token.ts';
import { beginFlow, clearFlowCookie, consumeFlow, findFlowByCookie } from '../flow/flow.ts';
import type { Run, Services } from '../../services.ts';
import { type SessionRow, sessions } from '../../schema/sign-in/session.ts';
import { nodeOfUser, userAsActor } from '../../people/user-node.ts';
import { endSessions } from '../../sessions/live-sessions.ts';
import type { WayBack } from '../flow/logout-question.ts';
import { forgetSsoSessions, loadSsoSessions } from '../sso/sso-session.ts';
import { fail } from '../../errors.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { users } from '../../schema/people/user.ts';
import { unknownRedirect } from '../authorize/authorize.ts';
import { profileOf } from '../steps/page-profile.ts';

/*
 * Logout started by an app (OpenID Connect RP-Initiated Logout 1.0, openid §9). The user isn't asked if the app sends
 * an id_token of the user who is signed in here, or if no user is signed in. Otherwise the user is asked, because any
 * page could sign them out.
 */

interface LogoutParameters {
  readonly id_token_hint?: string | undefined;
  readonly client_id?: string | undefined;
  readonly post_logout_redirect_uri?: string | undefined;
  readonly state?: string | undefined;
}

interface PreparedLogout {
  readonly app: LiveApp | null;
  readonly hint: IdTokenHint | null;
  /** The address that the browser goes to afterwards. */
  readonly redirect: string;
  /** Absent if the browser goes directly to the app, or the app has no page to go back to. */
  readonly wayBack?: WayBack;
}

/**
 * Validates a logout request. Verifies a signature, so call it outside the transaction.
 *
 * @throws VALIDATION_ERROR, INVALID_REDIRECT_URI
 */
export async function prepareLogout(
  db: Executor,
  services: Services,
  sent: LogoutParameters,
): Promise<PreparedLogout> {
  const token = sent.id_token_hint ?? '';
  // The audience is only used to find the app, whose name and addresses are public. The signature is verified with the
  // key of its project.
  const app = (await appByClientId(db, sent.client_id || (claimedAudience(token) ?? ''))) ?? null;
  if (sent.client_id && !app) {
    throw fail('VALIDATION_ERROR', {
      details: [{ path: 'client_id', code: 'not_allowed' }],
      fix: 'Send the clientId of a project app that has not been deleted.',
    });
  }
  const { appUrl } = services.config;
  const uri = sent.post_logout_redirect_uri;
  if (uri && !app?.postLogoutRedirectUris.includes(uri)) {
    const fix = 'Send one of the postLogoutRedirectUris of the app, and its id_token_hint or client_id.';
    throw unknownRedirect('post_logout_redirect_uri', fix);
  }
  const end = uri || `${appUrl}/hosted/signed-out`;
  const redirect = uri && sent.state ? responseRedirect(uri, { state: sent.state }) : end;
  const hint = app && token !== '' ? await readIdTokenHint(services, app, token) : undefined;
  const homepageUrl = app && !uri ? profileOf(app).homepageUrl : null;
  const wayBack = app && homepageUrl !== null ? { wayBack: { app: app.name, homepageUrl } } : {};
  return { app, hint: hint ?? null, redirect, ...wayBack };
}

/** Ends the sessions, or asks the user first. Returns the browser's next address. */
export async function beginLogout(ctx: Run, prepared: PreparedLogout): Promise<string> {
  const { app, hint, redirect, wayBack } = prepared;
  const { tx, services, call } = ctx;
  const own = await loadSsoSessions(tx, services, call.ssoCookie, app?.tenantId);
  if (app && hint && own.every(({ userId }) => userId === hint.userId)) {
    const hasEnded = await endSessionsOfHint(ctx, app, hint, own);
    // The link back to the app is stored only if a session of this browser ended, because any site can send a browser
    // here with an id_token that it got for itself.
    if (hasEnded && wayBack) await beginFlow(ctx, 'signedOut', wayBack);
    return redirect;
  }
  ctx.unchanged();
  await beginFlow(ctx, 'logout', {
    projectId: app?.tenantId ?? null,
    app: app?.name ?? null,
    redirect,
    ...(wayBack && { wayBack }),
  });
  return `${services.config.appUrl}/hosted/sign-out`;
}

/**
 * Ends the session that the id_token names, the browser sign-in in which it began, and the browser sign-in of this
 * browser. Returns whether one of them was a session of this browser: the id_token alone proves nothing about the
 * person who sends it.
 */
async function endSessionsOfHint(
  ctx: Run,
  app: LiveApp,
  { userId, sessionId }: IdTokenHint,
  own: readonly SessionRow[],
): Promise<boolean> {
  const { tx } = ctx;
  const [named] = await tx
    .select({ ssoSessionId: sessions.ssoSessionId, name: users.name })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(and(eq(sessions.id, sessionId), eq(sessions.userId, userId), eq(sessions.projectAppId, app.id)));
  const ids = [
    ...own.map(({ id }) => id),
    ...(named ? [sessionId] : []),
    ...(named?.ssoSessionId ? [named.ssoSessionId] : []),
  ];
  const actor = userAsActor({ id: userId, name: named?.name ?? '' });
  const ended = ids.length === 0 ? [] : await endSessions(ctx, userId, inArray(sessions.id, ids), actor);
  forgetSsoSessions(ctx, ids);
  if (ended.length === 0) {
    ctx.unchanged();
    return false;
  }
  ctx.record({ actor, node: nodeOfApp(app), target: { type: 'ProjectApp', id: app.id } });
  return ended.some(({ id }) => own.some((session) => session.id === id));
}

/** The question for the user on the logout page; null if this browser has none. */
export async function loadLogoutQuestion(db: Executor, services: Services, flowCookie: string) {
  const flow = await findFlowByCookie(db, services, 'logout', flowCookie);
  if (!flow) return null;
  const app = flow.app ?? new URL(services.config.appUrl).host;
  return { app, formToken: flow.handle, redirect: flow.redirect };
}

/** The app that the page at the end of a logout links to; null if this browser did not come from one. */
export const loadWayBack = async (
  db: Executor,
  services: Services,
  flowCookie: string,
): Promise<WayBack | null> => (await findFlowByCookie(db, services, 'signedOut', flowCookie)) ?? null;

/**
 * Carries out the user's decision, and returns the browser's next address.
 *
 * @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED
 */
export async function decideLogout(
  ctx: Run,
  { decision, formToken }: { readonly decision: 'approve' | 'deny'; readonly formToken: string },
): Promise<string> {
  const { tx, services, call } = ctx;
  if (call.flowCookie !== null && !call.originAllowed) throw fail('ORIGIN_NOT_ALLOWED');
  const flow = await consumeFlow(tx, services, call, 'logout', formToken);
  clearFlowCookie(ctx);
  if (decision === 'deny') {
    ctx.unchanged();
    return `${services.config.appUrl}/hosted/signed-in`;
  }
  let ended = 0;
  // Read only now, because the first request may have come from another site, without the cookie.
  const own = await loadSsoSessions(tx, services, call.ssoCookie, flow.projectId ?? undefined);
  for (const { id, userId } of own) {
    const [user] = await tx
      .select({ id: users.id, name: users.name })
      .from(users)
      .where(eq(users.id, userId));
    const actor = userAsActor(user ?? { id: userId, name: '' });
    ended += (await endSessions(ctx, userId, eq(sessions.id, id), actor)).length;
    ctx.record({ actor, node: await nodeOfUser(tx, userId), target: { type: 'Session', id } });
  }
  forgetSsoSessions(
    ctx,
    own.map(({ id }) => id),
  );
  if (ended === 0) ctx.unchanged();
  if (flow.wayBack && ended > 0) await beginFlow(ctx, 'signedOut', flow.wayBack);
  return flow.redirect;
}
