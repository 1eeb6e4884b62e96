import { Refusal } from '../../kernel/output/reply.ts';
import type { Services, Run } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { pageOf } from '../admission/answer-app.ts';
import { findAddressOwner } from '../../people/address.ts';
import { lockClaimants } from '../../people/address-claims.ts';
import { ownAddress } from '../addresses/verification.ts';
import { advanceFlow, findFlowByMailedToken, startAgainError } from '../flow/flow.ts';
import type { MailedCode, SignInStep } from '../flow/flow-data.ts';
import { isLinkOf, isLive } from '../flow/mailed-code.ts';
import { appOf, assertOwnPage, commonPart, continueWithProof, type ProjectFlow } from '../steps/steps.ts';
import { providerKeyOf } from '../../providers/provider.ts';
import { proofOf } from '../admission/app-sign-in.ts';
import { isOffered } from '../../apps/access/app.ts';
import { notOffered } from './not-offered.ts';
import { takeCode } from './take-code.ts';

/*
 * A mail proves its address in two ways: by its code, or by its link in the browser that requested it. Both continue
 * the sign-in.
 */

interface OpenedMail {
  readonly flow: ProjectFlow & { readonly step: SignInStep };
  readonly mail: MailedCode;
}

/** Continues with the address that the code proves. @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED */
export async function enterCode(
  ctx: Run,
  typed: { readonly code: string; readonly form_token?: string | undefined },
): Promise<string | Refusal> {
  const taken = await takeCode(ctx, typed, ['signIn', 'connection', 'verification']);
  return taken instanceof Refusal ? taken : continueWithMail(ctx, taken);
}

/**
 * The flow whose newest mail has this token; undefined for an invalid or expired token. In another browser the page
 * shows the code, and the link has no effect. Otherwise an attacker who sends the link to a victim would be signed in,
 * or would sign in the victim as the attacker.
 */
export async function mailOfToken(
  db: Executor,
  services: Services,
  mailed: { readonly token: string; readonly cookie: string | null },
): Promise<(OpenedMail & { readonly isSameBrowser: boolean }) | undefined> {
  const opened = await findFlowByMailedToken(db, services, 'project', mailed);
  if (opened?.flow.step.name !== 'signIn') return undefined;
  const { flow, isSameBrowser } = opened;
  const { step } = opened.flow;
  if (!step.mail || !isLive(step.mail, services.clock) || !isLinkOf(step.mail, mailed.token))
    return undefined;
  return { flow: { ...flow, step }, mail: step.mail, isSameBrowser };
}

/**
 * Continues with the address that an opened link proves. In another browser the link is refused but stays valid.
 *
 * @throws INVALID_TOKEN
 */
export async function openMail(ctx: Run, token: string): Promise<string> {
  const { tx, services, call } = ctx;
  assertOwnPage(call);
  const opened = await mailOfToken(tx, services, { token, cookie: call.flowCookie });
  if (!opened?.isSameBrowser || opened.mail.purpose.name === 'reset') throw startAgainError();
  return continueWithMail(ctx, opened);
}

async function continueWithMail(ctx: Run, { flow, mail }: OpenedMail): Promise<string> {
  const { tx, services } = ctx;
  const { address, purpose } = mail;
  if (purpose.name === 'verification') {
    const { userId, passkeyAmr } = purpose;
    await lockClaimants(ctx, address);
    // Another user may have proved the address in the meantime.
    if (!(await ownAddress(ctx, userId, address))) throw startAgainError();
    if (passkeyAmr) return continueWithProof(ctx, flow, { provider: 'passkey', userId }, passkeyAmr);
    return continueWithProof(ctx, flow, { provider: 'password', userId, address }, ['pwd']);
  }
  if (purpose.name === 'connection') {
    const { identity } = purpose;
    const app = await appOf(tx, flow.asked);
    // Whether a connection is still valid is checked later, together with the person.
    if (!identity.connection && !isOffered(services, app, providerKeyOf(identity))) throw notOffered();
    const proved = { ...identity, address, unprovedAddress: null, isProvedByMail: true } as const;
    return continueWithProof(ctx, flow, proofOf(proved), ['fed', 'mail']);
  }
  const { newUser } = purpose.name === 'signIn' ? purpose : {};
  const { enabledProviders } = await appOf(tx, flow.asked);
  const isMailOffered = enabledProviders.includes('email');
  if (!isMailOffered && (await findAddressOwner(tx, address))) {
    ctx.unchanged();
    const step = { name: 'signIn', form: 'signIn', address, notice: 'accountExists' } as const;
    await advanceFlow(ctx, 'project', flow.handle, { ...commonPart(flow), step });
    return pageOf(services.config, 'signIn');
  }
  return continueWithProof(ctx, flow, { provider: 'email', address, ...(newUser && { newUser }) }, ['mail']);
}
