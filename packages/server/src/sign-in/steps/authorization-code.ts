import { rememberNetwork } from '../../people/lockout.ts';
import { acrOf } from '../../people/acr.ts';
import { projectCodes } from '../../schema/oauth/project-code.ts';
import { hashOneTimeToken, newOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { nodeOfApp, type LiveApp } from '../../apps/access/app.ts';
import { consentFor, rememberConsent } from '../../apps/access/consent.ts';
import { approveDevice } from '../devices/decide-device.ts';
import { boundOrganization } from '../flow/bound-person.ts';
import { finishServiceSignIn } from './finish-service-sign-in.ts';
import { answerApp } from '../admission/answer-app.ts';
import type { AppRequest } from '../../apps/access/app-request.ts';
import { admitToApp, type SignInCandidate } from '../admission/app-sign-in.ts';
import { startAgainError } from '../flow/flow.ts';
import type { IdentifiedPerson } from '../flow/flow-data.ts';
import type { Run } from '../../services.ts';
import { userAsActor } from '../../people/user-node.ts';
import { lockUser } from '../../people/lock-user.ts';
import { keepSignIn } from '../sso/sso-session.ts';

const CODE_SECONDS = 60;

interface FinishedSignIn {
  readonly request: AppRequest;
  readonly candidate: SignInCandidate;
  readonly user: IdentifiedPerson;
  /** The scopes that limit the tokens; null for no restriction. */
  readonly scopes: readonly string[] | null;
  /** Why the app gets a code: the user consented on the page or earlier, or the app needs no consent. */
  readonly consent: 'given' | 'remembered' | 'firstParty';
}

/**
 * Ends a sign-in to an app: records it and sends the app a code (identity §12), which it exchanges for tokens. If
 * needed, creates the user, links their account at the provider and adds them to the project, which no earlier step
 * does. The caller has consumed the flow.
 *
 * @throws INVALID_TOKEN
 */
export async function finishSignIn(
  ctx: Run,
  app: LiveApp,
  { request, candidate, user, scopes, consent }: FinishedSignIn,
): Promise<string> {
  if (request.toService) return finishServiceSignIn(ctx, app, { request, candidate, user });
  const { tx, services, call } = ctx;
  const userId = candidate.user?.id ?? services.ids.next();
  const organizationId = app.organization?.id ?? null;
  ctx.record({
    actor: userAsActor({ id: userId, name: candidate.name }),
    target: { type: 'ProjectApp', id: app.id },
    node: nodeOfApp(app),
    metadata: { scopes, consent },
    audited: true,
  });
  if (!(await admitToApp(ctx, app, user.proof, candidate, userId))) throw startAgainError();
  if (consent === 'given') {
    await rememberConsent(tx, services, app, userId, consentFor(scopes, request.openid?.scopes));
  }
  await rememberNetwork(tx, services, userId, call.network);
  if (request.device) {
    return approveDevice(ctx, request.device.hash, {
      userId,
      user,
      boundTo: boundOrganization(user) ?? null,
      acr: acrOf(user.amr),
      scopes,
      organizationId,
    });
  }
  const admitted = await lockUser(ctx, userId);
  if (!admitted) throw startAgainError();
  const ssoSessionId = await keepSignIn(ctx, app.tenantId, admitted, user);
  const code = newOneTimeToken();
  await tx.insert(projectCodes).values({
    hash: hashOneTimeToken(code),
    appId: app.id,
    userId,
    redirectUri: request.redirectUri,
    challenge: request.challenge,
    scopes: scopes && [...scopes],
    openidScopes: [...(request.openid?.scopes ?? [])],
    resources: [...(request.resources ?? [])],
    nonce: request.openid?.nonce ?? null,
    organizationId,
    acr: acrOf(user.amr),
    amr: [...user.amr],
    ssoSessionId,
    authenticatedAt: new Date(user.authenticatedAt),
    expiresAt: new Date(services.clock.now().getTime() + CODE_SECONDS * 1000),
  });
  return answerApp(ctx, app, request, { code });
}
