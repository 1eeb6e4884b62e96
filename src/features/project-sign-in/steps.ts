import type { Config } from '../../config.ts';
import { newOneTimeToken } from '../../crypto/one-time-token.ts';
import { fail, type DoorwardError } from '../../errors.ts';
import type { Call, Services } from '../../kernel/context.ts';
import { refuse, type Refusal } from '../../kernel/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { errorAddress } from '../app-access/answer.ts';
import { appById, offeredProviders, type LiveApp } from '../app-access/app.ts';
import { matchesRedirect } from '../app-access/redirect-uri.ts';
import { grantable } from '../app-access/scopes.ts';
import { entrantOf } from '../federation/app-entrance.ts';
import {
  advanceFlow,
  amendFlow,
  FLOW_SECONDS,
  flowOfMail,
  forgetFlow,
  seeFlow,
  startAgain,
  takeFlow,
  type AskedByApp,
  type Flow,
  type ProjectSignIn,
  type Proof,
  type SignedInToApp,
} from '../federation/flow.ts';
import { githubAt, ProviderFault, type Github, type Identity } from '../federation/github.ts';
import { lockedMethod } from '../federation/matching.ts';
import { ownerOf } from '../identity/address.ts';
import { answerEvenly } from '../sign-in-protection/even-answer.ts';
import { mayMail, mayMailStranger } from '../sign-in-protection/mail-limit.ts';
import { canonicalAddress } from '../identity/password-sign-in.ts';
import { isReachable } from '../identity/registration.ts';
import type { Run } from '../identity/sign-in.ts';
import { flushMails } from '../identity/verification.ts';
import { isEnrolled } from '../mfa/mfa-factor.ts';
import { signInMail } from './sign-in-mail.ts';

/**
 * From the choice of a provider to the question for consent (identity §12). Each step belongs to the browser that holds
 * the flow cookie; its page is found from the flow, so a person cannot skip one.
 */
export type ProjectFlow = Flow<'project'>;
export type StepName = ProjectSignIn['step']['name'];

const pages: Record<StepName, string> = {
  signIn: '/api/auth/project/sign-in',
  secondFactor: '/api/auth/project/second-factor',
  consent: '/api/auth/project/consent',
};
export const pagePath = (step: StepName): string => pages[step];
export const pageOf = ({ appUrl }: Config, step: StepName): string => appUrl + pages[step];

/** The cookie alone says whose flow it is, so a page of another origin must not use it. @throws ORIGIN_NOT_ALLOWED */
export function assertOwnPage({ flowCookie, originAllowed }: Call): void {
  if (flowCookie !== null && !originAllowed) throw fail('ORIGIN_NOT_ALLOWED');
}

/** The app of a flow, if it may still be led back to. @throws INVALID_TOKEN */
export async function appOf(db: Executor, { appId, redirectUri }: AskedByApp): Promise<LiveApp> {
  const app = await appById(db, appId);
  if (!app || !matchesRedirect(app, redirectUri)) throw startAgain();
  return app;
}

/** The flow of this browser at this step. `formToken`: what its page has sent along. @throws INVALID_TOKEN */
export async function flowAt<S extends StepName>(
  db: Executor,
  services: Services,
  { flowCookie }: Call,
  name: S,
  formToken?: string,
) {
  const flow = flowCookie === null ? undefined : await seeFlow(db, services, 'project', flowCookie);
  if (!flow || !isAt(flow, name) || (formToken !== undefined && formToken !== flow.handle))
    throw startAgain();
  return flow;
}

type At<S extends StepName> = ProjectFlow & { readonly step: { readonly name: S } };
const isAt = <S extends StepName>(flow: ProjectFlow, name: S): flow is At<S> => flow.step.name === name;

/** The flow without the state it is under. */
const kept = ({ asked, verifier }: ProjectFlow) => ({ asked, verifier });

/** Somebody has shown who he is: on to the next page, or back to the app if he may not come in. */
export async function identified(
  ctx: Run,
  flow: ProjectFlow,
  proof: Proof,
  amr: readonly string[],
): Promise<string> {
  const { tx, services } = ctx;
  const app = await appOf(tx, flow.asked);
  const entrant = await entrantOf(ctx, app, proof);
  if (!entrant) return turnBack(ctx, flow, app);
  ctx.unchanged();
  const authenticatedAt = services.clock.now().toISOString();
  const user = { proof, userId: entrant.user?.id ?? null, authenticatedAt, amr };
  if (user.userId !== null && (await isEnrolled(tx, user.userId))) {
    await advanceFlow(ctx, 'project', flow.handle, { ...kept(flow), step: { name: 'secondFactor', user } });
    return pageOf(services.config, 'secondFactor');
  }
  return askConsent(ctx, flow, app, { user, joins: entrant.joins });
}

/** The user is who he says: what the app is to be allowed is settled now, and shown. */
export async function askConsent(
  ctx: Run,
  flow: ProjectFlow,
  app: LiveApp,
  { user, joins }: { readonly user: SignedInToApp; readonly joins: boolean },
): Promise<string> {
  const who = { userId: user.userId, joins };
  const shown = await grantable(ctx.tx, ctx.services, app, who, flow.asked.scopes);
  await advanceFlow(ctx, 'project', flow.handle, { ...kept(flow), step: { name: 'consent', user, shown } });
  return pageOf(ctx.services.config, 'consent');
}

/** Ends the flow; the app learns that nobody comes, and not why. */
export async function turnBack(ctx: Run, { handle, asked }: ProjectFlow, app: LiveApp): Promise<string> {
  await takeFlow(ctx.tx, ctx.services, ctx.call, 'project', handle);
  forgetFlow(ctx);
  return errorAddress(ctx.services.config, app, asked, 'access_denied');
}

const noAddress = () => fail('VALIDATION_ERROR', { details: [{ path: 'email', code: 'format' }] });

/**
 * Mails a link, whoever owns the address. Neither the answer nor its time tells whether the address is known; only the
 * reader of the mail learns what happens next. When the address may get no more mails, the answer is the same, and the
 * link that was mailed before still proves its address.
 */
export async function mailLink(
  ctx: Run,
  { email, form_token }: { readonly email: string; readonly form_token?: string | undefined },
): Promise<{ accepted: true } | Refusal> {
  const { tx, services, call } = ctx;
  answerEvenly(ctx, performance.now());
  assertOwnPage(call);
  const flow = await flowAt(tx, services, call, 'signIn', form_token);
  const app = await appOf(tx, flow.asked);
  if (!app.enabledProviders.includes('email')) throw notOffered();
  ctx.unchanged();
  const to = reachable(services, email);
  const { link: former } = flow.step;
  if (to === null) {
    const step = { name: 'signIn', notice: 'addressInvalid', ...(former && { link: former }) } as const;
    await amendFlow(ctx, 'project', { handle: flow.handle, kept: { ...kept(flow), step } });
    return refuse(noAddress());
  }
  const owner = await ownerOf(tx, to);
  const isStranger = !owner || owner.deletedAt !== null;
  const may =
    (!isStranger || (await mayMailStranger(services, { appId: app.id, network: call.network }))) &&
    (await mayMail(services, 'signIn', to));
  const token = may ? newOneTimeToken() : undefined;
  const link = token === undefined ? former : { address: to, expiresAt: endOfLink(services) };
  const step = { name: 'signIn', notice: 'mailed', mailedTo: to, ...(link && { link }) } as const;
  const amended = { handle: flow.handle, kept: { ...kept(flow), step }, lasts: true, mailed: token };
  await amendFlow(ctx, 'project', amended);
  if (token === undefined) return { accepted: true };
  const language = owner?.locale ?? call.language;
  await services.mail.queue(tx, signInMail(services.config.appUrl, app, { to, language, token }));
  flushMails(ctx);
  return { accepted: true };
}

const endOfLink = ({ clock }: Services): string =>
  new Date(clock.now().getTime() + FLOW_SECONDS * 1000).toISOString();

const notOffered = (): DoorwardError =>
  fail('PROVIDER_NOT_CONFIGURED', { fix: 'Sign in with a provider that the app offers.' });

/** The canonical address, or null for one that no mail reaches. */
function reachable(services: Services, typed: string): string | null {
  const address = canonicalAddress(typed);
  return address === null || !isReachable(services, address) ? null : address;
}

/** The sign-in whose newest mail has this token, and the address that it proves, as long as it does. */
export async function linkUnder(
  db: Executor,
  services: Services,
  mailed: { readonly token: string; readonly cookie: string | null },
): Promise<{ readonly flow: ProjectFlow; readonly isHere: boolean; readonly address: string } | undefined> {
  const found = await flowOfMail(db, services, 'project', mailed);
  const link = found && isAt(found.flow, 'signIn') ? found.flow.step.link : undefined;
  if (!found || !link || new Date(link.expiresAt) <= services.clock.now()) return undefined;
  return { ...found, address: link.address };
}

/** The mail was opened here: its address is who he is. Elsewhere the link stays as good as it was. @throws INVALID_TOKEN */
export async function openMail(ctx: Run, token: string): Promise<string> {
  const { tx, services, call } = ctx;
  assertOwnPage(call);
  const found = await linkUnder(tx, services, { token, cookie: call.flowCookie });
  if (!found?.isHere) throw startAgain();
  return identified(ctx, found.flow, { provider: 'email', address: found.address }, ['mail']);
}

/** @throws PROVIDER_NOT_CONFIGURED */
const github = ({ config }: Services): Github =>
  githubAt(config.github, `${config.appUrl}/api/auth/github/callback/project`);

/** Where GitHub asks who it is. @throws INVALID_TOKEN, PROVIDER_NOT_CONFIGURED */
export async function toGithub({ tx, services, call }: Run): Promise<string> {
  const flow = await flowAt(tx, services, call, 'signIn');
  const app = await appOf(tx, flow.asked);
  if (!offeredProviders(services.config, app).includes('github')) throw notOffered();
  return github(services).signInPage(flow.handle, flow.verifier);
}

interface Answered {
  readonly state: string;
  readonly code?: string | undefined;
  readonly error?: string | undefined;
}

export interface FromGithub {
  readonly flow: ProjectFlow;
  readonly outcome: Identity | 'providerRefused' | 'providerFailed';
}

/** Asks GitHub who it is. Waits for it, so call it in `prepare`. @throws INVALID_TOKEN when it is no flow of this browser */
export async function fromGithub(
  db: Executor,
  services: Services,
  call: Call,
  { state, code, error }: Answered,
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

/** Who GitHub says it is, or back to the choice with what went wrong. */
export async function takeIdentity(ctx: Run, { flow, outcome }: FromGithub): Promise<string> {
  if (typeof outcome !== 'string') {
    if (outcome.address !== null || (await lockedMethod(ctx, outcome))) {
      return identified(ctx, flow, { provider: 'github', identity: outcome }, ['fed']);
    }
  }
  ctx.unchanged();
  const notice = typeof outcome === 'string' ? outcome : 'emailNotVerified';
  await advanceFlow(ctx, 'project', flow.handle, { ...kept(flow), step: { name: 'signIn', notice } });
  return pageOf(ctx.services.config, 'signIn');
}
