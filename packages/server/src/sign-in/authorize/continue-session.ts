import type { AppError } from '../../apps/access/authorization-response.ts';
import { offeredIdentityProviders, offeredProviders, type LiveApp } from '../../apps/access/app.ts';
import { acrOf } from '../../people/acr.ts';
import { pageOf } from '../admission/answer-app.ts';
import { resolveCandidate, type SignInCandidate } from '../admission/app-sign-in.ts';
import type { AppRequest } from '../../apps/access/app-request.ts';
import { storeStep, type SignInState } from '../sso/sign-in-state.ts';
import { canonicalAddress } from '../../sessions/password-sign-in.ts';
import type { Run } from '../../services.ts';
import type { SessionRow } from '../../schema/sign-in/session.ts';
import { connectionById } from '../connections/live-connection.ts';
import { connectionOfSession, findSsoSession, personOfSession } from '../sso/sso-session.ts';
import { isEnrolled } from '../../people/enrolment.ts';
import { askConsent, mayLearnUser, obstacleTo } from '../steps/ask-consent.ts';
import { mayAddFactor, missingFactor } from '../steps/missing-factor.ts';
import type { Prompt } from '../sso/prompt.ts';

/** Why a request with `prompt=none` gets an error instead of a code. */
interface SilentRefusal {
  readonly error: AppError;
  readonly error_description: string;
}

const signInRequired: SilentRefusal = {
  error: 'login_required',
  error_description: 'the user is not signed in',
};

const refusals: Record<'denied' | 'organization' | 'connection' | 'joining' | 'consent', SilentRefusal> = {
  connection: {
    error: 'login_required',
    error_description: 'the user has to sign in through the provider of the organization',
  },
  denied: { error: 'access_denied', error_description: 'the user may not sign in for this organization' },
  organization: {
    error: 'interaction_required',
    error_description: 'the user has to choose an organization',
  },
  joining: { error: 'interaction_required', error_description: 'the user has to join the project' },
  consent: { error: 'consent_required', error_description: 'the user has to consent' },
};

/**
 * Continues with the user who is signed in to another app of the project in this browser (openid §8). Returns the
 * address of the app or of the page for the next missing step; null if the user has to sign in; for a silent request,
 * the refusal instead of a page.
 */
export async function continueSession(
  ctx: Run,
  app: LiveApp,
  state: SignInState,
  prompt: Prompt,
): Promise<string | SilentRefusal | null> {
  const { tx, services, call } = ctx;
  const { isSilent } = prompt;
  const otherwise = isSilent ? signInRequired : null;
  if (prompt.asksSignIn) return otherwise;
  const session = await findSsoSession(tx, services, call.ssoCookie, app.tenantId);
  if (!session || !isRecent(session, prompt, services.clock.now())) return otherwise;
  if (!(await isTrusted(ctx, app, session))) return otherwise;
  // Checked before `login_hint` and `id_token_hint` are compared: an app without consent learns that a user is signed
  // in, but cannot find out who by guessing.
  if (isSilent && !(await mayLearnUser(tx, app, state.asked, session.userId))) return refusals.consent;
  const asked = answerable(session, state.asked);
  if (!asked) return otherwise;
  const bound = { ...state, asked };
  const user = personOfSession(services, session);
  const candidate = await resolveCandidate(ctx, app, user.proof);
  if (!candidate?.user || !isExpected(candidate, asked)) return otherwise;
  if (acrOf(user.amr) === 'aal1' && (await isEnrolled(tx, candidate.user.id))) {
    if (isSilent) return signInRequired;
    ctx.unchanged();
    await storeStep(ctx, bound, { name: 'secondFactor', user });
    return pageOf(services.config, 'secondFactor');
  }
  const missing = await missingFactor(tx, asked, user);
  if (missing && (isSilent || !mayAddFactor(services, user))) return otherwise;
  const obstacle = isSilent ? await obstacleTo(ctx, asked, app, { user, candidate }) : null;
  if (obstacle !== null) return refusals[obstacle];
  const next = await askConsent(ctx, bound, app, { user, candidate });
  if (next === pageOf(services.config, 'consent')) ctx.unchanged();
  return next;
}

/**
 * Returns the request, limited to what the session can fulfill: a session bound to an organization can only sign in for
 * that organization. Undefined if the app requests another organization.
 */
function answerable({ organizationId }: SessionRow, asked: AppRequest): AppRequest | undefined {
  if (organizationId === null) return asked;
  const isOther = typeof asked.organization === 'string' && asked.organization !== organizationId;
  return isOther ? undefined : { ...asked, organization: organizationId };
}

/**
 * Whether the app offers the sign-in method that the user used. An app does not trust a method that it does not offer.
 */
async function isTrusted({ tx, services }: Run, app: LiveApp, session: SessionRow): Promise<boolean> {
  const connectionId = connectionOfSession(session);
  if (connectionId !== undefined) return (await connectionById(tx, app, connectionId)) !== undefined;
  const { amr, ssoIssuer } = session;
  if (amr.includes('fed')) {
    return offeredIdentityProviders(services, app).some(({ issuer }) => issuer === ssoIssuer);
  }
  return offeredProviders(services.config, app).includes(wayOf(amr));
}

function wayOf(amr: readonly string[]): 'password' | 'passkey' | 'email' {
  if (amr.includes('pwd')) return 'password';
  // If the session began with another method, the passkey was only the second factor.
  return amr.includes('pop') && !amr.includes('mail') ? 'passkey' : 'email';
}

const isRecent = ({ authenticatedAt }: SessionRow, { maxAgeSeconds }: Prompt, now: Date): boolean =>
  maxAgeSeconds === null || now.getTime() - authenticatedAt.getTime() <= maxAgeSeconds * 1000;

/** Whether the request expects this user, according to its id_token hint or address. */
function isExpected({ user }: SignInCandidate, { expectedUserId, loginHint }: AppRequest): boolean {
  if (expectedUserId !== undefined && user?.id !== expectedUserId) return false;
  return loginHint === undefined || canonicalAddress(loginHint) === user?.email;
}
