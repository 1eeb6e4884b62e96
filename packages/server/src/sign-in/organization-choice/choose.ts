import { acrOf } from '../../people/acr.ts';
import { resolveCandidate } from '../admission/app-sign-in.ts';
import type { Run } from '../../services.ts';
import { startAgainError } from '../flow/flow.ts';
import { isEnrolled } from '../../people/enrolment.ts';
import { askConsent } from '../steps/ask-consent.ts';
import { appOf, assertOwnPage, denyAccess, flowAt } from '../steps/steps.ts';

interface Choice {
  /** Id of the organization; absent for none. */
  readonly organization?: string | undefined;
  readonly form_token?: string | undefined;
}

/**
 * Continues with the organization that the user chose. An organization that the page did not offer is treated like one
 * that does not exist.
 *
 * @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED
 */
export async function chooseOrganization(ctx: Run, { organization, form_token }: Choice): Promise<string> {
  const { tx, services, call } = ctx;
  assertOwnPage(call);
  const flow = await flowAt(tx, services, call, 'organization', form_token);
  const app = await appOf(tx, flow.asked);
  const { user } = flow.step;
  const candidate = await resolveCandidate(ctx, app, user.proof);
  if (!candidate) return denyAccess(ctx, flow, app);
  if (!candidate.user || candidate.user.id !== user.userId) throw startAgainError();
  if (acrOf(user.amr) === 'aal1' && (await isEnrolled(tx, candidate.user.id))) throw startAgainError();
  const asked = { ...flow.asked, organization: organization || null };
  return askConsent(ctx, { ...flow, asked }, app, { user, candidate });
}
