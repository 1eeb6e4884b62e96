import { matchingStep, typedTotpCode } from '../../crypto/tokens/totp.ts';
import { pageOf } from '../admission/answer-app.ts';
import { resolveCandidate } from '../admission/app-sign-in.ts';
import type { Run } from '../../services.ts';
import { lockUser } from '../../people/lock-user.ts';
import { hasAnyFactor } from '../second-factor/codes.ts';
import { addFirstFactor } from '../second-factor/first-factor.ts';
import { advanceFlow, startAgainError, updateFlow } from '../flow/flow.ts';
import type { EnrolmentStep } from '../flow/flow-data.ts';
import { fail } from '../../errors.ts';
import { refuse, type Refusal } from '../../kernel/output/reply.ts';
import { askConsent } from '../steps/ask-consent.ts';
import { appOf, assertOwnPage, commonPart, denyAccess, flowAt, type ProjectFlow } from '../steps/steps.ts';
import { mayAddFactor } from '../steps/missing-factor.ts';

/* The first second factor of a user, added during a sign-in to an app that requires one. */

interface FirstCode {
  readonly form_token?: string | undefined;
  readonly code?: string | undefined;
}

/**
 * Adds the authenticator app with its first correct code, and continues with the page of the recovery codes. A wrong
 * code does not count as a failed attempt: the page shows the secret, so there is nothing to guess.
 *
 * @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED
 */
export async function enrolFactor(ctx: Run, { form_token, code = '' }: FirstCode): Promise<string | Refusal> {
  const { tx, services, call } = ctx;
  assertOwnPage(call);
  const flow = await flowAt(tx, services, call, 'enrolment', form_token);
  const app = await appOf(tx, flow.asked);
  const { user: person, secret: stored } = flow.step;
  const candidate = await resolveCandidate(ctx, app, person.proof);
  if (!candidate) return denyAccess(ctx, flow, app);
  if (!candidate.user || candidate.user.id !== person.userId || stored === null) throw startAgainError();
  if (!mayAddFactor(services, person)) throw startAgainError();
  const user = await lockUser(ctx, candidate.user.id);
  // Another sign-in may have added a factor in the meantime. The user must then use that one.
  if (!user || (await hasAnyFactor(tx, user.id))) throw startAgainError();
  const secret = Buffer.from(stored, 'base64url');
  const now = services.clock.now();
  const typed = code.replaceAll(' ', '');
  const step = typedTotpCode.test(code) ? matchingStep(secret, typed, now, null) : null;
  if (step === null) return refuseEntry(ctx, flow, { ...flow.step, notice: 'wrongCode' }, 'code');
  const recoveryCodes = await addFirstFactor(ctx, user, { secret, step });
  const proved = { ...person, amr: [...person.amr, 'otp'], factorAt: now.toISOString() };
  await advanceFlow(ctx, 'project', flow.handle, {
    ...commonPart(flow),
    step: { name: 'enrolment', user: proved, secret: null, recoveryCodes },
  });
  return pageOf(services.config, 'enrolment');
}

interface KeptCodes {
  readonly form_token?: string | undefined;
  readonly kept?: string | undefined;
}

/**
 * Continues the sign-in after the user has confirmed that they saved the recovery codes.
 *
 * @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED
 */
export async function confirmCodes(ctx: Run, { form_token, kept }: KeptCodes): Promise<string | Refusal> {
  const { tx, services, call } = ctx;
  assertOwnPage(call);
  const flow = await flowAt(tx, services, call, 'enrolment', form_token);
  const app = await appOf(tx, flow.asked);
  const { user } = flow.step;
  if (flow.step.secret !== null) throw startAgainError();
  if (kept !== 'yes') return refuseEntry(ctx, flow, { ...flow.step, notice: 'codesNotKept' }, 'kept');
  const candidate = await resolveCandidate(ctx, app, user.proof);
  if (!candidate) return denyAccess(ctx, flow, app);
  // Another session may have removed the factor; the token would then claim a factor that the user no longer has.
  if (!candidate.user || candidate.user.id !== user.userId) throw startAgainError();
  if (!(await hasAnyFactor(tx, candidate.user.id))) throw startAgainError();
  return askConsent(ctx, flow, app, { user, candidate });
}

/** Shows the page again, with a message. */
async function refuseEntry(
  ctx: Run,
  flow: ProjectFlow,
  step: EnrolmentStep,
  path: 'code' | 'kept',
): Promise<Refusal> {
  await updateFlow(ctx, 'project', { handle: flow.handle, data: { ...commonPart(flow), step } });
  ctx.unchanged();
  const fixes = {
    code: 'Send the code that the authenticator app shows now.',
    kept: 'Send yes when the user has kept the recovery codes.',
  };
  return refuse(fail('VALIDATION_ERROR', { details: [{ path, code: 'not_allowed' }], fix: fixes[path] }));
}
