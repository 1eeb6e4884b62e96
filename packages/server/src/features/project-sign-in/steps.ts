import { newOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { fail, type DoorwardError } from '../../errors.ts';
import type { Call, Services } from '../../kernel/context.ts';
import { refuse, type Refusal } from '../../kernel/output/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { AppError } from '../../domain/app-access/authorization-response.ts';
import { appById, offeredProviders, type LiveApp } from '../../domain/app-access/app.ts';
import { matchesRedirect } from '../../domain/app-access/redirect-uri.ts';
import { resolveCandidate } from '../../domain/federation/app-sign-in.ts';
import type { AppRequest } from '../../domain/sign-in-flow/app-request.ts';
import { answerApp, pageOf, type StepName } from '../../domain/federation/answer-app.ts';
import {
  advanceFlow,
  updateFlow,
  FLOW_SECONDS,
  findFlowByMailedToken,
  clearFlowCookie,
  findFlowByCookie,
  startAgainError,
  consumeFlow,
  type Flow,
} from '../../domain/sign-in-flow/flow.ts';
import type { Proof } from '../../domain/sign-in-flow/flow-data.ts';
import { githubAt, ProviderFault, type Github, type Identity } from '../../domain/federation/github.ts';
import { lockAccount } from '../../domain/federation/match-identity.ts';
import { findAddressOwner } from '../../domain/identity/address.ts';
import { delayToStep } from '../../domain/sign-in-protection/constant-time-answer.ts';
import { consumeMailQuota, consumeStrangerMailQuota } from '../../domain/sign-in-protection/mail-limit.ts';
import { canonicalAddress } from '../../domain/identity/password-sign-in.ts';
import { isReachable } from '../../domain/identity/registration.ts';
import type { Run } from '../../domain/identity/sign-in.ts';
import { flushMails } from '../../domain/identity/flush-mails.ts';
import { isEnrolled } from '../mfa/mfa-factor.ts';
import { askConsent } from './ask-consent.ts';
import { signInMail } from './sign-in-mail.ts';

/**
 * The steps of a sign-in to an app, from the choice of a provider to the consent page (identity §12). A step belongs to
 * the browser with the flow cookie. The stored flow decides which page is next, so no step can be skipped.
 */
export type ProjectFlow = Flow<'project'>;

/**
 * Prevents CSRF: only the cookie identifies the flow, so pages of other origins must not use it.
 * @throws ORIGIN_NOT_ALLOWED
 */
export function assertOwnPage({ flowCookie, originAllowed }: Call): void {
  if (flowCookie !== null && !originAllowed) throw fail('ORIGIN_NOT_ALLOWED');
}

/** The app of a flow, if it still exists with the redirect URI of the flow. @throws INVALID_TOKEN */
export async function appOf(db: Executor, { appId, redirectUri, device }: AppRequest): Promise<LiveApp> {
  const app = await appById(db, appId);
  if (!app || (!device && !matchesRedirect(app, redirectUri))) throw startAgainError();
  return app;
}

/**
 * The flow of this browser, which must be at this step. `formToken` must match the flow if sent.
 * @throws INVALID_TOKEN
 */
export async function flowAt<S extends StepName>(
  db: Executor,
  services: Services,
  { flowCookie }: Call,
  name: S,
  formToken?: string,
) {
  const flow = flowCookie === null ? undefined : await findFlowByCookie(db, services, 'project', flowCookie);
  if (!flow || !isAt(flow, name) || (formToken !== undefined && formToken !== flow.handle))
    throw startAgainError();
  return flow;
}

type At<S extends StepName> = ProjectFlow & { readonly step: { readonly name: S } };
const isAt = <S extends StepName>(flow: ProjectFlow, name: S): flow is At<S> => flow.step.name === name;

/** The part of a flow that every step keeps. */
const commonPart = ({ asked: request, verifier }: ProjectFlow) => ({ asked: request, verifier });

/**
 * Continues after the identity is proved: with the second factor or the consent page, or back to the app if access is
 * denied.
 */
export async function continueWithProof(
  ctx: Run,
  flow: ProjectFlow,
  proof: Proof,
  amr: readonly string[],
): Promise<string> {
  const { tx, services } = ctx;
  const app = await appOf(tx, flow.asked);
  const candidate = await resolveCandidate(ctx, app, proof);
  if (!candidate) return denyAccess(ctx, flow, app);
  const { expectedUserId } = flow.asked;
  if (expectedUserId !== undefined && candidate.user?.id !== expectedUserId) {
    return denyAccess(ctx, flow, app, 'login_required');
  }
  const authenticatedAt = services.clock.now().toISOString();
  const user = { proof, userId: candidate.user?.id ?? null, authenticatedAt, amr, factorAt: null };
  if (user.userId !== null && (await isEnrolled(tx, user.userId))) {
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

const invalidAddress = () => fail('VALIDATION_ERROR', { details: [{ path: 'email', code: 'format' }] });

/**
 * Mails a sign-in link to any address. Neither the answer nor its timing reveals whether the address belongs to a user;
 * only the reader of the mail learns that. When the address has reached its mail limit, the answer is the same and the
 * link that was mailed before stays valid.
 */
export async function mailLink(
  ctx: Run,
  { email, form_token }: { readonly email: string; readonly form_token?: string | undefined },
): Promise<{ accepted: true } | Refusal> {
  const { tx, services, call } = ctx;
  delayToStep(ctx, performance.now());
  assertOwnPage(call);
  const flow = await flowAt(tx, services, call, 'signIn', form_token);
  const app = await appOf(tx, flow.asked);
  if (!app.enabledProviders.includes('email')) throw notOffered();
  ctx.unchanged();
  const to = reachableAddress(services, email);
  const { link: earlierLink } = flow.step;
  if (to === null) {
    const step = {
      name: 'signIn',
      notice: 'addressInvalid',
      ...(earlierLink && { link: earlierLink }),
    } as const;
    await updateFlow(ctx, 'project', { handle: flow.handle, data: { ...commonPart(flow), step } });
    return refuse(invalidAddress());
  }
  const owner = await findAddressOwner(tx, to);
  const isStranger = !owner || owner.deletedAt !== null;
  const isWithinLimits =
    (!isStranger || (await consumeStrangerMailQuota(services, { appId: app.id, network: call.network }))) &&
    (await consumeMailQuota(services, 'signIn', to));
  const token = isWithinLimits ? newOneTimeToken() : undefined;
  const link = token === undefined ? earlierLink : { address: to, expiresAt: endOfLink(services) };
  const step = { name: 'signIn', notice: 'mailed', mailedTo: to, ...(link && { link }) } as const;
  const amended = { handle: flow.handle, data: { ...commonPart(flow), step }, extend: true, mailed: token };
  await updateFlow(ctx, 'project', amended);
  if (token === undefined) return { accepted: true };
  const language = owner?.locale ?? flow.asked.language ?? call.language;
  await services.mail.queue(tx, signInMail(services.config.appUrl, app, { to, language, token }));
  flushMails(ctx);
  return { accepted: true };
}

const endOfLink = ({ clock }: Services): string =>
  new Date(clock.now().getTime() + FLOW_SECONDS * 1000).toISOString();

const notOffered = (): DoorwardError =>
  fail('PROVIDER_NOT_CONFIGURED', { fix: 'Sign in with a provider that the app offers.' });

/** The canonical address, or null if mail cannot reach it. */
function reachableAddress(services: Services, typed: string): string | null {
  const address = canonicalAddress(typed);
  return address === null || !isReachable(services, address) ? null : address;
}

/**
 * The flow whose newest mail has this token, and the address that the token proves; undefined for an invalid or
 * expired one.
 */
export async function linkUnder(
  db: Executor,
  services: Services,
  mailed: { readonly token: string; readonly cookie: string | null },
): Promise<
  { readonly flow: ProjectFlow; readonly isSameBrowser: boolean; readonly address: string } | undefined
> {
  const mail = await findFlowByMailedToken(db, services, 'project', mailed);
  const link = mail && isAt(mail.flow, 'signIn') ? mail.flow.step.link : undefined;
  if (!mail || !link || new Date(link.expiresAt) <= services.clock.now()) return undefined;
  return { ...mail, address: link.address };
}

/**
 * Continues with the address that an opened mail proves. In another browser the link is refused but stays valid.
 * @throws INVALID_TOKEN
 */
export async function openMail(ctx: Run, token: string): Promise<string> {
  const { tx, services, call } = ctx;
  assertOwnPage(call);
  const mail = await linkUnder(tx, services, { token, cookie: call.flowCookie });
  if (!mail?.isSameBrowser) throw startAgainError();
  return continueWithProof(ctx, mail.flow, { provider: 'email', address: mail.address }, ['mail']);
}

/** @throws PROVIDER_NOT_CONFIGURED */
const github = ({ config }: Services): Github =>
  githubAt(config.github, `${config.appUrl}/api/auth/github/callback/project`);

/** Address of the sign-in page of GitHub. @throws INVALID_TOKEN, PROVIDER_NOT_CONFIGURED */
export async function toGithub({ tx, services, call }: Run): Promise<string> {
  const flow = await flowAt(tx, services, call, 'signIn');
  const app = await appOf(tx, flow.asked);
  if (!offeredProviders(services.config, app).includes('github')) throw notOffered();
  return github(services).signInPage(flow.handle, flow.verifier);
}

interface GithubAnswer {
  readonly state: string;
  readonly code?: string | undefined;
  readonly error?: string | undefined;
}

export interface FromGithub {
  readonly flow: ProjectFlow;
  readonly outcome: Identity | 'providerRefused' | 'providerFailed';
}

/**
 * Asks GitHub for the identity. It waits for the network, so call it in `prepare`.
 * @throws INVALID_TOKEN without a flow of this browser
 */
export async function fromGithub(
  db: Executor,
  services: Services,
  call: Call,
  { state, code, error }: GithubAnswer,
): Promise<FromGithub> {
  const provider = github(services);
  const flow = await flowAt(db, services, call, 'signIn', state);
  if (error !== undefined) {
    return { flow, outcome: error === 'access_denied' ? 'providerRefused' : 'providerFailed' };
  }
  if (code === undefined) return { flow, outcome: 'providerFailed' };
  try {
    return { flow, outcome: await provider.identify(code, flow.verifier) };
  } catch (fault) {
    if (!(fault instanceof ProviderFault)) throw fault;
    services.warn(fault, 'GitHub sign-in to an app failed');
    return { flow, outcome: 'providerFailed' };
  }
}

/** Continues with the identity from GitHub, or returns to the choice of a provider with a notice. */
export async function takeIdentity(ctx: Run, { flow, outcome }: FromGithub): Promise<string> {
  if (typeof outcome !== 'string') {
    if (outcome.address !== null || (await lockAccount(ctx, outcome))) {
      return continueWithProof(ctx, flow, { provider: 'github', identity: outcome }, ['fed']);
    }
  }
  ctx.unchanged();
  const notice = typeof outcome === 'string' ? outcome : 'emailNotVerified';
  await advanceFlow(ctx, 'project', flow.handle, { ...commonPart(flow), step: { name: 'signIn', notice } });
  return pageOf(ctx.services.config, 'signIn');
}
