import { hashOneTimeToken, newOneTimeToken } from '../../crypto/one-time-token.ts';
import { fail } from '../../errors.ts';
import { refuse, type Refusal } from '../../kernel/reply.ts';
import { codeAddress, errorAddress } from '../app-access/answer.ts';
import { nodeOfApp, type LiveApp } from '../app-access/app.ts';
import { grantable } from '../app-access/scopes.ts';
import { enter, entrantOf, type Entrant } from '../federation/app-entrance.ts';
import {
  amendFlow,
  forgetFlow,
  startAgain,
  takeFlow,
  type AskedByApp,
  type SignedInToApp,
} from '../federation/flow.ts';
import type { Run } from '../identity/sign-in.ts';
import { nodeOfUser, userAsActor } from '../identity/user-node.ts';
import { rememberNetwork } from '../me/failed-attempts.ts';
import { isEnrolled } from '../mfa/mfa-factor.ts';
import { givesFactor, type Given } from '../second-factor/codes.ts';
import { projectCodes } from './project-code.ts';
import { appOf, askConsent, assertOwnPage, flowAt, turnBack } from './steps.ts';

/** The second half of the sign-in: the second factor of a user who has one, and his answer to the app. */

const CODE_SECONDS = 60;
const codeForm = /^ *(?:[0-9] *){6}$/;

interface GivenHere extends Given {
  readonly form_token?: string | undefined;
}

/** @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED, VALIDATION_ERROR */
export async function giveFactor(ctx: Run, given: GivenHere): Promise<string | Refusal> {
  const { tx, services, call } = ctx;
  assertOwnPage(call);
  const flow = await flowAt(tx, services, call, 'secondFactor', given.form_token);
  const app = await appOf(tx, flow.asked);
  const { asked, verifier, step } = flow;
  const entrant = await entrantOf(ctx, app, step.user.proof);
  if (!entrant) return turnBack(ctx, flow, app);
  const { user, joins } = entrant;
  if (!user || user.id !== step.user.userId) throw startAgain();
  const target = { type: 'User', id: user.id } as const;
  const node = await nodeOfUser(tx, user.id);
  // What is no code at all is no guess either.
  const isGuess = given.code === undefined || codeForm.test(given.code);
  if (!isGuess || !(await givesFactor(ctx, user.id, given))) {
    const again = { name: 'secondFactor', user: step.user, notice: 'wrongCode' } as const;
    await amendFlow(ctx, 'project', { handle: flow.handle, kept: { asked, verifier, step: again } });
    if (!isGuess) ctx.unchanged();
    else ctx.record({ outcome: 'failed', code: 'UNAUTHENTICATED', target, node });
    return refuse(wrongCode());
  }
  const method = given.code === undefined ? 'rc' : 'otp';
  ctx.record({ actor: userAsActor(user), target, node, metadata: { method } });
  const proved = { ...step.user, amr: [...step.user.amr, method] };
  return askConsent(ctx, flow, app, { user: proved, joins });
}

const wrongCode = () =>
  fail('UNAUTHENTICATED', {
    fix: 'Send a code that your authenticator app shows now, or an unused recovery code; or wait 15 minutes.',
  });

const acrOf = (amr: readonly string[]) =>
  amr.some((method) => method === 'otp' || method === 'rc') ? 'aal2' : 'aal1';

/**
 * The user lets the app in: it gets its code, and now he is created, linked and joined, as far as need be. What has
 * changed since the question was shown can make less of the answer, and never more.
 * @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED
 */
export async function approve(ctx: Run, consentToken: string): Promise<string | Refusal> {
  const { tx, services, call } = ctx;
  assertOwnPage(call);
  const { handle, asked, step } = await flowAt(tx, services, call, 'consent', consentToken);
  const app = await appOf(tx, asked);
  // Users are locked before flows, as whoever ends their flows does it.
  const entrant = await entrantOf(ctx, app, step.user.proof);
  await takeFlow(tx, services, call, 'project', handle);
  forgetFlow(ctx);
  if (!entrant) return errorAddress(services.config, app, asked, 'access_denied');
  if (!(await isAsShown(ctx, app, entrant, step))) return refuse(startAgain());
  const userId = entrant.user?.id ?? services.ids.next();
  const wearer = { userId: entrant.user?.id ?? null, joins: entrant.joins };
  const scopes = step.shown && (await grantable(tx, services, app, wearer, step.shown));
  ctx.record({
    actor: userAsActor({ id: userId, name: entrant.name }),
    target: { type: 'ProjectApp', id: app.id },
    node: nodeOfApp(app),
    metadata: { scopes },
  });
  if (!(await enter(ctx, app, step.user.proof, entrant, userId))) throw startAgain();
  await rememberNetwork(tx, services, userId, call.network);
  const code = await newCode(ctx, app, { asked, userId, scopes, user: step.user });
  return codeAddress(services.config, app, asked, code);
}

/**
 * Whether it is still who was asked, and as strictly known: somebody else may own the address by now, a second factor
 * may have been enabled, and an app that was not restricted may be so, in ways that nobody was shown.
 */
async function isAsShown(
  { tx }: Run,
  app: LiveApp,
  { user }: Entrant,
  { user: shownTo, shown }: { readonly user: SignedInToApp; readonly shown: readonly string[] | null },
): Promise<boolean> {
  if (shown === null && app.scopes !== null) return false;
  if (shownTo.userId !== null && user?.id !== shownTo.userId) return false;
  return user === null || acrOf(shownTo.amr) === 'aal2' || !(await isEnrolled(tx, user.id));
}

async function newCode(
  { tx, services }: Run,
  app: LiveApp,
  {
    asked,
    userId,
    scopes,
    user,
  }: {
    readonly asked: AskedByApp;
    readonly userId: string;
    readonly scopes: string[] | null;
    readonly user: SignedInToApp;
  },
): Promise<string> {
  const code = newOneTimeToken();
  await tx.insert(projectCodes).values({
    hash: hashOneTimeToken(code),
    appId: app.id,
    userId,
    redirectUri: asked.redirectUri,
    challenge: asked.challenge,
    scopes,
    acr: acrOf(user.amr),
    amr: [...user.amr],
    authenticatedAt: new Date(user.authenticatedAt),
    expiresAt: new Date(services.clock.now().getTime() + CODE_SECONDS * 1000),
  });
  return code;
}

/** The user turns back, at whichever step. @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED */
export async function deny(ctx: Run, consentToken: string): Promise<string> {
  assertOwnPage(ctx.call);
  ctx.unchanged();
  const { tx, services, call } = ctx;
  const flow = await takeFlow(tx, services, call, 'project', consentToken);
  forgetFlow(ctx);
  return errorAddress(services.config, await appOf(tx, flow.asked), flow.asked, 'access_denied');
}
