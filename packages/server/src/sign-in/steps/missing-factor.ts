/* The second factor that an app requests with `acr_values` (openid §3), although its user may have none. */

import { newTotpSecret } from '../../crypto/tokens/totp.ts';
import { acrOf } from '../../people/acr.ts';
import { pageOf } from '../admission/answer-app.ts';
import type { Run, Services } from '../../services.ts';
import type { AppRequest } from '../../apps/access/app-request.ts';
import { boundOrganization } from '../flow/bound-person.ts';
import type { IdentifiedPerson } from '../flow/flow-data.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { isEnrolled } from '../../people/enrolment.ts';
import { hasPasskey } from '../webauthn/has-passkey.ts';
import { storeStep, type SignInState } from '../sso/sign-in-state.ts';

/**
 * Whether the app requests a second factor. It lists values by preference (OpenID Connect Core §3.1.2.1), so the first
 * value that is known here counts.
 */
export const asksSecondFactor = (acrValues: string | undefined): boolean =>
  (acrValues ?? '').split(' ').find((value) => value === 'aal1' || value === 'aal2') === 'aal2';

/**
 * The page of the missing second factor: to use one, or to add the first; null if none is missing. A user who does not
 * exist yet cannot get a factor, so they are asked the next time.
 */
export async function missingFactor(
  db: Executor,
  { asksFactor }: AppRequest,
  { userId, amr }: IdentifiedPerson,
): Promise<'secondFactor' | 'enrolment' | null> {
  if (!asksFactor || userId === null || acrOf(amr) === 'aal2') return null;
  return (await isEnrolled(db, userId)) || (await hasPasskey(db, userId)) ? 'secondFactor' : 'enrolment';
}

/**
 * Whether the user may add a factor now. As everywhere else, they must have signed in recently. A user whom an
 * organization vouched for may not: the provider, which can sign in as the user, could add a factor that counts in
 * other organizations too.
 */
export function mayAddFactor({ clock, config }: Services, person: IdentifiedPerson): boolean {
  if (boundOrganization(person) !== undefined) return false;
  const { stepUpMaxAgeMinutes: minutes } = config.auth;
  const { authenticatedAt } = person;
  return minutes === 0 || clock.now().getTime() - new Date(authenticatedAt).getTime() <= minutes * 60_000;
}

/** Moves the sign-in to the page of the missing factor. Nothing is added to the user before the first correct code. */
export async function askFactor(
  ctx: Run,
  state: SignInState,
  user: IdentifiedPerson,
  page: 'secondFactor' | 'enrolment',
): Promise<string> {
  ctx.unchanged();
  const secret = newTotpSecret().toString('base64url');
  await storeStep(ctx, state, page === 'enrolment' ? { name: page, user, secret } : { name: page, user });
  return pageOf(ctx.services.config, page);
}
