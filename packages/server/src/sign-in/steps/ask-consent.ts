import { consentFor, hasConsented, hasAnyConsent } from '../../apps/access/consent.ts';
import type { LiveApp } from '../../apps/access/app.ts';
import { ceilingOf, scopesNotHeld } from '../../apps/access/scopes.ts';
import { finishSignIn } from './authorization-code.ts';
import { answerApp, pageOf } from '../admission/answer-app.ts';
import { decideOrganization } from '../admission/organization-decision.ts';
import type { AppRequest } from '../../apps/access/app-request.ts';
import { boundOrganization } from '../flow/bound-person.ts';
import type { SignInCandidate } from '../admission/app-sign-in.ts';
import type { IdentifiedPerson } from '../flow/flow-data.ts';
import { askFactor, missingFactor } from './missing-factor.ts';
import { storeStep, endSignIn, type SignInState } from '../sso/sign-in-state.ts';
import type { Run } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';

/**
 * Continues with the page of the next missing step (another provider, a second factor, the organization, or the
 * consent), or finishes the sign-in if the app needs no consent or the user has consented before.
 */
export async function askConsent(
  ctx: Run,
  state: SignInState,
  ownApp: LiveApp,
  { user, candidate: admissible }: Identified,
): Promise<string> {
  const { tx, services } = ctx;
  const place = await decideOrganization(ctx, ownApp, state.asked, {
    candidate: admissible,
    proof: user.proof,
  });
  const refuse = async (): Promise<string> => {
    ctx.unchanged();
    await endSignIn(ctx, state);
    return answerApp(ctx, ownApp, state.asked, { error: 'access_denied' });
  };
  if (place === 'denied') return refuse();
  if (typeof place !== 'string' && 'through' in place) {
    ctx.unchanged();
    const { id, name, enforced } = place.through;
    const connection = { id, name, enforced };
    await storeStep(ctx, state, {
      name: 'signIn',
      form: 'signIn',
      notice: 'connectionRequired',
      connection,
      providerKey: id,
      address: admissible.user?.email ?? admissible.address ?? '',
    });
    return pageOf(services.config, 'signIn');
  }
  // A user whom the app does not admit need not add a factor for it.
  const missing = await missingFactor(tx, state.asked, user);
  if (missing === 'enrolment' && boundOrganization(user) !== undefined) return refuse();
  if (missing) return askFactor(ctx, state, user, missing);
  if (place === 'choose') {
    ctx.unchanged();
    await storeStep(ctx, state, { name: 'organization', user });
    return pageOf(services.config, 'organization');
  }
  const { app, candidate, asked } = place;
  const scopes = ceilingOf(app, asked.scopes);
  const consent = await findConsent(tx, app, asked, { user, candidate });
  if (consent) {
    await endSignIn(ctx, state);
    return finishSignIn(ctx, app, { request: asked, candidate, user, scopes, consent });
  }
  const subject = { userId: user.userId, joins: candidate.joins };
  const later = scopes === null ? [] : await scopesNotHeld(tx, services, app, subject, scopes);
  await storeStep(ctx, { ...state, asked }, { name: 'consent', user, shown: scopes, later });
  return pageOf(services.config, 'consent');
}

/**
 * Whether another program on the user's device could receive the response: the app is public and has its own URI scheme
 * or a loopback address. A sign-in without any page must not send it a code (RFC 8252 §8.6).
 */
function isOnDevice({ confidential }: LiveApp, { redirectUri }: AppRequest): boolean {
  const { protocol, hostname } = new URL(redirectUri);
  const isWeb = protocol === 'https:' || protocol === 'http:';
  return !confidential && (!isWeb || hostname === '127.0.0.1' || hostname === '[::1]');
}

/**
 * Whether the app may learn, through requests without a page, who is signed in here, for example by guessing
 * `login_hint` or `organization`. It may if it is a first-party app or the user has consented to it, unless another
 * program on the user's device could receive the response.
 */
export const mayLearnUser = async (
  db: Executor,
  app: LiveApp,
  asked: AppRequest,
  userId: string,
): Promise<boolean> => !isOnDevice(app, asked) && (app.firstParty || (await hasAnyConsent(db, app, userId)));

interface Identified {
  readonly user: IdentifiedPerson;
  readonly candidate: SignInCandidate;
}

type Obstacle = 'denied' | 'organization' | 'connection' | 'joining' | 'consent';

/** Why the sign-in of this user still needs a page or is impossible; null if it would finish immediately. */
export async function obstacleTo(
  ctx: Run,
  asked: AppRequest,
  app: LiveApp,
  { user, candidate }: Identified,
): Promise<Obstacle | null> {
  const place = await decideOrganization(ctx, app, asked, { candidate, proof: user.proof });
  if (place === 'denied') return 'denied';
  if (place === 'choose') return 'organization';
  if ('through' in place) return 'connection';
  const placed = { user, candidate: place.candidate };
  if ((await findConsent(ctx.tx, place.app, asked, placed)) !== undefined) return null;
  return place.candidate.joins ? 'joining' : 'consent';
}

/**
 * Why the sign-in needs no consent; undefined if it does. The service itself needs none. A first-party app needs
 * consent if it asks for it, or if a user who is already signed in in this browser joins the project or uses an app on
 * their device. Other apps need it unless the user has consented before; a user who joins has not.
 */
async function findConsent(
  db: Executor,
  app: LiveApp,
  asked: AppRequest,
  { user: { proof }, candidate: { user, joins } }: Identified,
): Promise<'firstParty' | 'remembered' | undefined> {
  if (asked.toService) return 'firstParty';
  if (asked.asksConsent) return undefined;
  if (proof.provider === 'sso' && (joins || isOnDevice(app, asked))) return undefined;
  if (app.firstParty) return 'firstParty';
  if (user === null || joins) return undefined;
  const wanted = consentFor(ceilingOf(app, asked.scopes), asked.openid?.scopes);
  return (await hasConsented(db, app, user.id, wanted)) ? 'remembered' : undefined;
}
