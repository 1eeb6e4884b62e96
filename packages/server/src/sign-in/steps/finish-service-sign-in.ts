import { firstRefreshToken } from '../../crypto/tokens/refresh-token.ts';
import { acrOf } from '../../people/acr.ts';
import type { LiveApp } from '../../apps/access/app.ts';
import { rememberNetwork } from '../../people/lockout.ts';
import { planSession, startSession, writeSession } from '../../sessions/sign-in.ts';
import type { Run } from '../../services.ts';
import { lockUser } from '../../people/lock-user.ts';
import type { AppRequest } from '../../apps/access/app-request.ts';
import { startAgainError } from '../flow/flow.ts';
import type { IdentifiedPerson } from '../flow/flow-data.ts';
import { admitToApp, type SignInCandidate } from '../admission/app-sign-in.ts';
import { requestCliConsent } from '../federation/cli.ts';
import { isAccountPage } from '../federation/destination.ts';

const HOUR_MS = 3_600_000;

/**
 * Ends a sign-in to this service itself. Opens a session and sends the browser to the page that it requested, or asks
 * whether a command line gets the session. A session of the account pages works only there, because only they accept
 * its cookie; it gets no tokens, and ends after SSO_IDLE_HOURS.
 *
 * @throws INVALID_TOKEN
 */
export async function finishServiceSignIn(
  ctx: Run,
  app: LiveApp,
  sent: {
    readonly request: AppRequest;
    readonly candidate: SignInCandidate;
    readonly user: IdentifiedPerson;
  },
): Promise<string> {
  const { tx, services, call } = ctx;
  const { request, candidate, user: person } = sent;
  const userId = candidate.user?.id ?? services.ids.next();
  if (!(await admitToApp(ctx, app, person.proof, candidate, userId))) throw startAgainError();
  const user = await lockUser(ctx, userId);
  if (!user) throw startAgainError();
  const { amr } = person;
  const { redirectUri, toService } = request;
  const waiting = request.device ? { device: request.device } : toService?.cli;
  if (waiting) {
    const signedIn = { amr, authenticatedAt: person.authenticatedAt, redirect: redirectUri };
    return requestCliConsent(ctx, { userId: user.id, ...signedIn, ...waiting }, user);
  }
  const authenticatedAt = new Date(person.authenticatedAt);
  const boundTo = candidate.member?.connection.organizationId ?? null;
  const planned = planSession(services, { amr, acr: acrOf(amr), authenticatedAt, boundTo });
  if (!isAccountPage(services.config, redirectUri)) {
    await startSession(ctx, planned, user);
    return redirectUri;
  }
  const now = services.clock.now().getTime();
  const lifetimeMs = services.config.auth.sso.idleHours * HOUR_MS;
  await writeSession(ctx, { ...planned, expiresAt: new Date(now + lifetimeMs) }, user);
  await rememberNetwork(tx, services, user.id, call.network);
  const value = firstRefreshToken(services.kek.deriveAll('account-pages'), planned.id);
  ctx.setCookies({ accountCookie: { value, maxAgeSeconds: lifetimeMs / 1000 } });
  return redirectUri;
}
