import { consentFor, hasConsented } from '../../domain/app-access/consent.ts';
import type { LiveApp } from '../../domain/app-access/app.ts';
import { ceilingOf, scopesNotHeld } from '../../domain/app-access/scopes.ts';
import { finishSignIn } from '../../domain/app-tokens/authorization-code.ts';
import { pageOf } from '../../domain/federation/answer-app.ts';
import type { AppRequest } from '../../domain/federation/app-request.ts';
import type { SignInCandidate } from '../../domain/federation/app-sign-in.ts';
import {
  advanceFlow,
  clearFlowCookie,
  consumeFlow,
  type Flow,
  type IdentifiedPerson,
} from '../../domain/federation/flow.ts';
import type { Run } from '../../domain/identity/sign-in.ts';
import type { Executor } from '../../kernel/scoped-db.ts';

/**
 * Fixes the scopes that consent can grant, and continues with the consent page; or back to the app, if it needs no
 * consent or the user gave it before.
 */
export async function askConsent(
  ctx: Run,
  flow: Flow<'project'>,
  app: LiveApp,
  { user, candidate }: { readonly user: IdentifiedPerson; readonly candidate: SignInCandidate },
): Promise<string> {
  const { tx, services, call } = ctx;
  const scopes = ceilingOf(app, flow.asked.scopes);
  const consent = await findConsent(tx, app, flow.asked, { candidate, scopes });
  if (consent) {
    await consumeFlow(tx, services, call, 'project', flow.handle);
    clearFlowCookie(ctx);
    return finishSignIn(ctx, app, { request: flow.asked, candidate, user, scopes, consent });
  }
  const subject = { userId: user.userId, joins: candidate.joins };
  const later = scopes === null ? [] : await scopesNotHeld(tx, services, app, subject, scopes);
  await advanceFlow(ctx, 'project', flow.handle, {
    asked: flow.asked,
    verifier: flow.verifier,
    step: { name: 'consent', user, shown: scopes, later },
  });
  return pageOf(services.config, 'consent');
}

/** Why no consent has to be asked for; undefined: it has to. Who joins the project by the sign-in is always asked. */
async function findConsent(
  db: Executor,
  app: LiveApp,
  asked: AppRequest,
  { candidate, scopes }: { readonly candidate: SignInCandidate; readonly scopes: readonly string[] | null },
): Promise<'firstParty' | 'remembered' | undefined> {
  const { user, joins } = candidate;
  if (asked.asksConsent) return undefined;
  if (app.firstParty) return 'firstParty';
  if (user === null || joins) return undefined;
  const wanted = consentFor(scopes, asked.openid?.scopes);
  return (await hasConsented(db, app, user.id, wanted)) ? 'remembered' : undefined;
}
