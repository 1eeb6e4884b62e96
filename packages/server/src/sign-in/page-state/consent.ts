import { fail } from '../../errors.ts';
import { refuse, type Refusal } from '../../kernel/output/reply.ts';
import type { LiveApp } from '../../apps/access/app.ts';
import { ceilingOf } from '../../apps/access/scopes.ts';
import { acrOf } from '../../people/acr.ts';
import { finishSignIn } from '../steps/authorization-code.ts';
import { resolveCandidate, type SignInCandidate } from '../admission/app-sign-in.ts';
import { answerApp } from '../admission/answer-app.ts';
import { decideOrganization } from '../admission/organization-decision.ts';
import { updateFlow, clearFlowCookie, startAgainError, consumeFlow } from '../flow/flow.ts';
import type { IdentifiedPerson } from '../flow/flow-data.ts';
import type { Run } from '../../services.ts';
import { nodeOfUser, userAsActor } from '../../people/user-node.ts';
import { isEnrolled } from '../../people/enrolment.ts';
import { verifySecondFactor, type SecondFactorInput } from '../second-factor/codes.ts';
import type { AssertionCheck } from '../webauthn/assertion.ts';
import { typedTotpCode } from '../../crypto/tokens/totp.ts';
import { askConsent } from '../steps/ask-consent.ts';
import { appOf, assertOwnPage, denyAccess, flowAt } from '../steps/steps.ts';

/* The second half of a sign-in to an app: the user's second factor, if enabled, and their consent. */

interface SubmittedFactor extends Omit<SecondFactorInput, 'passkey'> {
  /** The checked passkey, instead of a code. */
  readonly check?: AssertionCheck | undefined;
  readonly form_token?: string | undefined;
}

/** Verifies the second factor and returns the next page. @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED, VALIDATION_ERROR */
export async function verifyFactor(ctx: Run, submitted: SubmittedFactor): Promise<string | Refusal> {
  const { tx, services, call } = ctx;
  assertOwnPage(call);
  const flow = await flowAt(tx, services, call, 'secondFactor', submitted.form_token);
  const app = await appOf(tx, flow.asked);
  const { asked: request, verifier, step } = flow;
  const candidate = await resolveCandidate(ctx, app, step.user.proof);
  if (!candidate) return denyAccess(ctx, flow, app);
  const { user } = candidate;
  if (!user || user.id !== step.user.userId) throw startAgainError();
  const target = { type: 'User', id: user.id } as const;
  const node = await nodeOfUser(tx, user.id);
  // A malformed code is not a guess, so it does not count as a failed attempt.
  const isGuess = submitted.code === undefined || typedTotpCode.test(submitted.code);
  const { check, code, recoveryCode } = submitted;
  const given = check ? { passkey: { check, after: step.user.amr } } : { code, recoveryCode };
  if (!isGuess || !(await verifySecondFactor(ctx, user.id, given))) {
    const notice = check ? 'passkeyRefused' : 'wrongCode';
    const again = { name: 'secondFactor', user: step.user, notice } as const;
    await updateFlow(ctx, 'project', {
      handle: flow.handle,
      data: { asked: request, verifier, step: again },
    });
    if (!isGuess) ctx.unchanged();
    else ctx.record({ outcome: 'failed', code: 'UNAUTHENTICATED', target, node });
    return refuse(wrongCode());
  }
  const methods = check ? (['pop', 'mfa'] as const) : ([code === undefined ? 'rc' : 'otp'] as const);
  ctx.record({ actor: userAsActor(user), target, node, metadata: { method: methods[0] } });
  const factorAt = services.clock.now().toISOString();
  const amr = [...new Set([...step.user.amr, ...methods])];
  const proved = { ...step.user, amr, factorAt };
  return askConsent(ctx, flow, app, { user: proved, candidate });
}

const wrongCode = () =>
  fail('UNAUTHENTICATED', {
    fix: 'Send the current code of your authenticator app, a passkey, or an unused recovery code; or wait 15 minutes.',
  });

/**
 * Records the consent and issues the app's code. Changes since the consent page was shown can reduce what is granted,
 * but never extend it.
 *
 * @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED
 */
export async function approve(ctx: Run, consentToken: string): Promise<string | Refusal> {
  const { tx, services, call } = ctx;
  assertOwnPage(call);
  const { handle, asked: request, step } = await flowAt(tx, services, call, 'consent', consentToken);
  const app = await appOf(tx, request);
  // Users are locked before flows, in the same order as in operations that end all flows of a user.
  const candidate = await resolveCandidate(ctx, app, step.user.proof);
  await consumeFlow(tx, services, call, 'project', handle);
  clearFlowCookie(ctx);
  if (!candidate) return answerApp(ctx, app, request, { error: 'access_denied' });
  const place = await decideOrganization(ctx, app, request, { candidate, proof: step.user.proof });
  if (typeof place === 'string' || 'through' in place)
    return answerApp(ctx, app, request, { error: 'access_denied' });
  if (!(await isUnchangedSinceShown(ctx, app, candidate, step))) return refuse(startAgainError());
  const scopes = ceilingOf(app, step.shown);
  const finished = {
    request,
    candidate: place.candidate,
    user: step.user,
    scopes,
    consent: 'given',
  } as const;
  return finishSignIn(ctx, place.app, finished);
}

/**
 * Whether the user and the assurance level are unchanged since consent was requested. In the meantime another user may
 * have come to own the address, the user may have enabled a second factor, or an unrestricted app may have been given
 * scopes that were not shown.
 */
async function isUnchangedSinceShown(
  { tx }: Run,
  app: LiveApp,
  { user }: SignInCandidate,
  { user: shownTo, shown }: { readonly user: IdentifiedPerson; readonly shown: readonly string[] | null },
): Promise<boolean> {
  if (shown === null && app.scopes !== null) return false;
  if (shownTo.userId !== null && user?.id !== shownTo.userId) return false;
  return user === null || acrOf(shownTo.amr) === 'aal2' || !(await isEnrolled(tx, user.id));
}

/**
 * Cancels the sign-in for the user, at any step; the app receives `access_denied`.
 *
 * @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED
 */
export async function deny(ctx: Run, consentToken: string): Promise<string> {
  assertOwnPage(ctx.call);
  ctx.unchanged();
  const { tx, services, call } = ctx;
  const flow = await consumeFlow(tx, services, call, 'project', consentToken);
  clearFlowCookie(ctx);
  return answerApp(ctx, await appOf(tx, flow.asked), flow.asked, { error: 'access_denied' });
}
