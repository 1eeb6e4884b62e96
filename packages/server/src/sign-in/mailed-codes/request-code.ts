import { newFlowToken } from '../../crypto/tokens/flow-secret.ts';
import { fail } from '../../errors.ts';
import type { Services, Run } from '../../services.ts';
import { refuse, type Refusal } from '../../kernel/output/reply.ts';
import type { LiveApp } from '../../apps/access/app.ts';
import { lockFlow, startAgainError, updateFlow } from '../flow/flow.ts';
import type { CodePurpose, MailedCode, NewUser, SignInStep } from '../flow/flow-data.ts';
import { newCode, newMailedCode } from '../flow/mailed-code.ts';
import { findAddressOwner } from '../../people/address.ts';
import { flushMails } from '../../people/flush-mails.ts';
import { providerKeyOf, type Identity } from '../../providers/provider.ts';
import { canonicalAddress } from '../../sessions/password-sign-in.ts';
import { isReachable } from '../addresses/registration.ts';
import { delayToStep } from '../protection/constant-time-answer.ts';
import { consumeMailQuota, consumeStrangerMailQuota, type MailPurpose } from '../protection/mail-limit.ts';
import { appOf, assertOwnPage, commonPart, flowAt, type ProjectFlow } from '../steps/steps.ts';
import { codeMail } from './code-mail.ts';
import { notOffered } from './not-offered.ts';

/*
 * The mail with a code and a link (identity §12). It goes to any address, and neither the response nor its timing
 * reveals whether the address belongs to a user; only the reader of the mail learns that.
 */

interface CodeRequest {
  readonly email: string;
  readonly form_token?: string | undefined;
}

type Accepted = { readonly accepted: true } | Refusal;

/** Mails a code to sign in. @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED, PROVIDER_NOT_CONFIGURED */
export const requestSignInCode = (ctx: Run, sent: CodeRequest): Promise<Accepted> =>
  requestCode(ctx, sent, { form: 'signIn', purpose: { name: 'signIn' }, isOffered: offers('email') });

/** Mails a code to set a new password. @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED, PROVIDER_NOT_CONFIGURED */
export const requestResetCode = (ctx: Run, sent: CodeRequest): Promise<Accepted> =>
  requestCode(ctx, sent, { form: 'reset', purpose: { name: 'reset' }, isOffered: offers('password') });

/** Mails a code to sign up. @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED, PROVIDER_NOT_CONFIGURED */
export const requestSignUpCode = (ctx: Run, sent: CodeRequest, newUser: NewUser): Promise<Accepted> =>
  requestCode(ctx, sent, { form: 'signUp', purpose: { name: 'signIn', newUser }, isOffered: allowsSignUp });

const offers =
  (provider: LiveApp['enabledProviders'][number]) =>
  ({ enabledProviders }: LiveApp): boolean =>
    enabledProviders.includes(provider);

/** Whether people may sign up with an address, by mail or password. */
export const allowsSignUp = (app: LiveApp): boolean =>
  app.allowSignUp && app.signUpRoleId !== null && (offers('email')(app) || offers('password')(app));

interface Request {
  readonly form: NonNullable<SignInStep['form']>;
  readonly purpose: CodePurpose;
  readonly isOffered: (app: LiveApp) => boolean;
}

async function requestCode(
  ctx: Run,
  { email, form_token }: CodeRequest,
  { form, purpose, isOffered }: Request,
): Promise<Accepted> {
  const { tx, services, call } = ctx;
  delayToStep(ctx, performance.now());
  assertOwnPage(call);
  const flow = await flowAt(tx, services, call, 'signIn', form_token);
  const app = await appOf(tx, flow.asked);
  if (!isOffered(app)) throw notOffered();
  ctx.unchanged();
  const address = reachableAddress(services, email);
  const name = purpose.name === 'signIn' ? purpose.newUser?.name : undefined;
  const entered = { email, ...(name !== undefined && { name }) };
  if (address === null) return refuseAddress(ctx, flow, { form, entered });
  await mailCode(ctx, flow, { app, address, purpose, form, entered });
  return { accepted: true };
}

/** Shows the form again, with the error. */
export async function refuseAddress(
  ctx: Run,
  flow: ProjectFlow & { readonly step: SignInStep },
  shown: Pick<SignInStep, 'form' | 'entered'>,
): Promise<Refusal> {
  await storeForm(ctx, flow, { ...shown, notice: 'addressInvalid' });
  return refuse(fail('VALIDATION_ERROR', { details: [{ path: 'email', code: 'format' }] }));
}

/** Stores the state of the first page. A mail that was sent stays valid. */
export async function storeForm(
  ctx: Run,
  { handle, ...flow }: ProjectFlow & { readonly step: SignInStep },
  shown: Omit<SignInStep, 'name' | 'mail'>,
): Promise<void> {
  const mail = await lockMail(ctx, handle);
  const step = { name: 'signIn', ...shown, ...(mail && { mail }) } as const;
  await updateFlow(ctx, 'project', { handle, data: { ...commonPart(flow), step } });
}

/**
 * Returns the flow's mail, locked until commit, so that a simultaneous wrong entry is not lost. @throws INVALID_TOKEN
 */
async function lockMail({ tx, services }: Run, handle: string): Promise<MailedCode | undefined> {
  const current = await lockFlow(tx, services, 'project', handle);
  if (current?.step.name !== 'signIn') throw startAgainError();
  return current.step.mail;
}

/**
 * Mails a code and shows the page that asks for it; the code of an earlier mail ends. After too many mails the page
 * looks the same, but no mail is sent: an earlier code for this address and purpose stays valid, unless it is for a
 * connection; without such a code, no code is accepted. A code for another address always ends, because otherwise it
 * would reveal whether this address got a mail.
 */
export async function mailCode(
  ctx: Run,
  flow: ProjectFlow & { readonly step: SignInStep },
  {
    app,
    address,
    purpose,
    ...shown
  }: {
    readonly app: LiveApp;
    readonly address: string;
    readonly purpose: CodePurpose;
  } & Pick<SignInStep, 'form' | 'entered' | 'providerKey' | 'connection' | 'address'>,
): Promise<void> {
  const { tx, services, call } = ctx;
  const owner = await findAddressOwner(tx, address);
  const isStranger = (!owner || owner.deletedAt !== null) && purpose.name !== 'verification';
  const isWithinLimits =
    (!isStranger || (await consumeStrangerMailQuota(services, { appId: app.id, network: call.network }))) &&
    (await consumeMailQuota(services, quotas[purpose.name], address));
  const secrets = isWithinLimits ? { token: newFlowToken(flow.handle), code: newCode() } : undefined;
  const newMail = newMailedCode(services.clock, {
    address,
    purpose,
    code: secrets?.code ?? null,
    token: secrets?.token,
  });
  const former = await lockMail(ctx, flow.handle);
  // A code that connects an account is valid only for that account.
  const isSame =
    former?.address === address && former.purpose.name === purpose.name && purpose.name !== 'connection';
  const mail = secrets === undefined && isSame ? former : newMail;
  const step = { name: 'signIn', ...shown, mailedTo: address, mail } as const;
  const data = { ...commonPart(flow), step };
  const mailed = mail === newMail ? (secrets?.token ?? null) : undefined;
  await updateFlow(ctx, 'project', { handle: flow.handle, data, extend: true, mailed });
  if (secrets === undefined) return;
  const language = owner?.locale ?? flow.asked.language ?? call.language;
  await services.mail.queue(
    tx,
    codeMail(services.config, app, {
      to: address,
      language,
      ...secrets,
      purpose: purpose.name,
      provider: purpose.name === 'connection' ? nameOfProvider(services, purpose.identity) : '',
    }),
  );
  flushMails(ctx);
}

const nameOfProvider = ({ identityProviders }: Services, identity: Identity): string =>
  identity.connection?.name ?? identityProviders.at(providerKeyOf(identity), 'app').name;

const quotas: Record<CodePurpose['name'], MailPurpose> = {
  signIn: 'signIn',
  connection: 'verification',
  verification: 'verification',
  reset: 'reset',
};

/** The canonical address, or null if mail cannot reach it. */
export function reachableAddress(services: Services, typed: string): string | null {
  const address = canonicalAddress(typed);
  return address === null || !isReachable(services, address) ? null : address;
}
