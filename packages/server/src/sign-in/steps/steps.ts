/*
 * The steps of a sign-in to an app, from the choice of a provider to the consent page (identity §12). A step belongs to
 * the browser with the flow cookie. The stored flow decides which page is next, so no step can be skipped.
 */

import { fail } from '../../errors.ts';
import type { Call } from '../../kernel/context.ts';
import type { Services, Run } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { AppError } from '../../apps/access/authorization-response.ts';
import { appById, type LiveApp } from '../../apps/access/app.ts';
import { serviceAsApp } from '../../apps/access/service-itself.ts';
import { matchesRedirect } from '../../schema/apps/redirect-uri.ts';
import { acrOf } from '../../people/acr.ts';
import { findCandidate, lacksRoom } from '../admission/app-sign-in.ts';
import type { AppRequest } from '../../apps/access/app-request.ts';
import { answerApp, pageOf, type StepName } from '../admission/answer-app.ts';
import {
  advanceFlow,
  clearFlowCookie,
  findFlowByCookie,
  startAgainError,
  consumeFlow,
  type Flow,
} from '../flow/flow.ts';
import type { Proof, SignInStep } from '../flow/flow-data.ts';
import { isEnrolled } from '../../people/enrolment.ts';
import { askConsent } from './ask-consent.ts';

export type ProjectFlow = Flow<'project'>;

/**
 * Prevents CSRF: only the cookie identifies the flow, so pages of other origins must not be able to use it.
 *
 * @throws ORIGIN_NOT_ALLOWED
 */
export function assertOwnPage({ flowCookie, originAllowed }: Call): void {
  if (flowCookie !== null && !originAllowed) throw fail('ORIGIN_NOT_ALLOWED');
}

/** Returns the app of a flow, if it still exists with the flow's redirect URI. @throws INVALID_TOKEN */
export async function appOf(
  db: Executor,
  { appId, redirectUri, device, toService }: AppRequest,
): Promise<LiveApp> {
  if (toService) return serviceAsApp(toService);
  const app = await appById(db, appId);
  if (!app || (!device && !matchesRedirect(app, redirectUri))) throw startAgainError();
  return app;
}

/**
 * Returns the flow of this browser, which must be at this step, or at one of these. `formToken` must match the flow if
 * it was sent.
 *
 * @throws INVALID_TOKEN
 */
export async function flowAt<S extends StepName>(
  db: Executor,
  services: Services,
  { flowCookie }: Call,
  name: S | readonly S[],
  formToken?: string,
) {
  const flow = flowCookie === null ? undefined : await findFlowByCookie(db, services, 'project', flowCookie);
  if (!flow || !isAt(flow, name) || (formToken !== undefined && formToken !== flow.handle))
    throw startAgainError();
  return flow;
}

type At<S extends StepName> = ProjectFlow & { readonly step: { readonly name: S } };
const isAt = <S extends StepName>(flow: ProjectFlow, name: S | readonly S[]): flow is At<S> =>
  [name].flat().some((step) => step === flow.step.name);

/** The members of a flow that stay the same at every step. */
export const commonPart = ({ asked, verifier }: Pick<ProjectFlow, 'asked' | 'verifier'>) => ({
  asked,
  verifier,
});

/**
 * Continues after the identity is proved. Returns where the browser goes: to a further step, back to the first page if
 * another method is needed, or back to the app.
 */
export async function continueWithProof(
  ctx: Run,
  flow: ProjectFlow,
  proof: Proof,
  amr: readonly string[],
): Promise<string> {
  const { tx, services } = ctx;
  const app = await appOf(tx, flow.asked);
  const candidate = await findCandidate(ctx, app, proof);
  if (!candidate) return denyAccess(ctx, flow, app);
  const { expectedUserId } = flow.asked;
  if (expectedUserId !== undefined && candidate.user?.id !== expectedUserId) {
    return denyAccess(ctx, flow, app, 'login_required');
  }
  if (await lacksRoom(ctx, candidate)) return backToMethods(ctx, flow);
  const authenticatedAt = services.clock.now().toISOString();
  const isTwoFactors = acrOf(amr) === 'aal2';
  const factorAt = isTwoFactors ? authenticatedAt : null;
  const user = { proof, userId: candidate.user?.id ?? null, authenticatedAt, amr, factorAt };
  if (user.userId !== null && !isTwoFactors && (await isEnrolled(tx, user.userId))) {
    ctx.unchanged();
    await advanceFlow(ctx, 'project', flow.handle, {
      ...commonPart(flow),
      step: { name: 'secondFactor', user },
    });
    return pageOf(services.config, 'secondFactor');
  }
  const next = await askConsent(ctx, flow, app, { user, candidate });
  if (next === pageOf(services.config, 'consent')) ctx.unchanged();
  return next;
}

/**
 * Returns to the first page, which says that the account cannot be linked. It offers other sign-in methods and
 * `Cancel`, which reports to the app.
 */
async function backToMethods(ctx: Run, { handle, step: last, ...flow }: ProjectFlow): Promise<string> {
  ctx.unchanged();
  const {
    mail: _,
    mailedTo: _to,
    ...kept
  } = last.name === 'signIn' ? last : ({ name: 'signIn' } as SignInStep);
  await advanceFlow(ctx, 'project', handle, {
    ...commonPart(flow),
    step: { ...kept, notice: 'methodLimit' },
  });
  return pageOf(ctx.services.config, 'signIn');
}

/** Ends the flow. The app receives the error, but not the reason. */
export async function denyAccess(
  ctx: Run,
  { handle, asked: request }: ProjectFlow,
  app: LiveApp,
  error: AppError = 'access_denied',
): Promise<string> {
  await consumeFlow(ctx.tx, ctx.services, ctx.call, 'project', handle);
  clearFlowCookie(ctx);
  return answerApp(ctx, app, request, { error });
}
