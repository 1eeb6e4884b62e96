import { z } from 'zod';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { fail } from '../../errors.ts';
import type { Call } from '../../kernel/context.ts';
import type { Services, Run } from '../../services.ts';
import { refuse, type Refusal } from '../../kernel/output/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { offeredProviders } from '../../apps/access/app.ts';
import { pageOf } from '../admission/answer-app.ts';
import { beginAssertion, checkAssertion, type AssertionCheck } from '../webauthn/assertion.ts';
import type { ChallengeUse } from '../webauthn/challenge.ts';
import {
  AssertionCredential,
  MAX_CREDENTIAL_LENGTH,
  passkeyChallengeId,
  type SentAssertion,
} from '../webauthn/credential.ts';
import { acceptPasskey, type EndedAssertion } from '../protection/accept-passkey.ts';
import { appOf, assertOwnPage, continueWithProof, flowAt, type ProjectFlow } from '../steps/steps.ts';
import { notOffered } from '../mailed-codes/not-offered.ts';
import { mailCode, storeForm } from '../mailed-codes/request-code.ts';

/* Passkeys on the pages of a sign-in to an app: instead of an address and its proof, or as the second factor. */

/** Forms contain only text, so the script of a page sends objects as JSON. */
const orAsJson = <T extends z.ZodType>(schema: T) =>
  z.preprocess((sent) => {
    if (typeof sent !== 'string' || sent.length > 2 * MAX_CREDENTIAL_LENGTH) return sent;
    try {
      return JSON.parse(sent) as unknown;
    } catch {
      return sent;
    }
  }, schema);

const inForm = 'In a form, as JSON text.';

export const flowCredential = orAsJson(AssertionCredential).meta({
  description: `The answer of \`navigator.credentials.get\`, as \`toJSON()\` makes it. ${inForm}`,
});

export const flowPasskey = orAsJson(
  z.strictObject({ challengeId: passkeyChallengeId, credential: AssertionCredential }),
)
  .optional()
  .meta({ description: `A passkey instead of \`code\`, for the options of this sign-in. ${inForm}` });

/**
 * A challenge is valid only in the browser that got it, in this sign-in: the flow cookie stays the same between its
 * steps.
 */
const useIn = ({ flowCookie }: Call): ChallengeUse => ({
  purpose: 'flow',
  boundTo: hashOneTimeToken(flowCookie ?? ''),
});

/**
 * Returns the passkey options, which are the same for all users. @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED,
 * PROVIDER_NOT_CONFIGURED
 */
export async function beginPasskey(
  ctx: Run,
  { form_token }: { readonly form_token?: string | undefined },
): ReturnType<typeof beginAssertion> {
  const { tx, services, call } = ctx;
  assertOwnPage(call);
  const flow = await flowAt(tx, services, call, ['signIn', 'secondFactor'], form_token);
  if (flow.step.name === 'signIn') await assertOffered(tx, services, flow);
  // The call concerns no user, so there is nothing to audit.
  ctx.unchanged();
  return beginAssertion(tx, services, useIn(call));
}

async function assertOffered(db: Executor, services: Services, { asked }: ProjectFlow): Promise<void> {
  const app = await appOf(db, asked);
  if (!offeredProviders(services.config, app).includes('passkey')) throw notOffered();
}

interface SentPasskey {
  readonly challengeId: string;
  readonly credential: SentAssertion;
  readonly form_token?: string | undefined;
}

/**
 * Verifies the signature, outside the transaction. @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED, PROVIDER_NOT_CONFIGURED
 */
export async function preparePasskey(
  db: Executor,
  services: Services,
  call: Call,
  sent: SentPasskey,
): Promise<EndedAssertion> {
  assertOwnPage(call);
  await assertOffered(db, services, await flowAt(db, services, call, 'signIn', sent.form_token));
  const check = await checkAssertion(db, services, sent, useIn(call));
  return { check, checkedAt: performance.now() };
}

/**
 * Continues with the user of the passkey. If their address is not verified, they first prove it by a mailed code,
 * because apps rely on the address.
 *
 * @throws INVALID_TOKEN
 */
export async function takePasskey(
  ctx: Run,
  ended: EndedAssertion,
  { form_token }: Pick<SentPasskey, 'form_token'>,
): Promise<string | Refusal> {
  const { tx, services, call } = ctx;
  const accepted = await acceptPasskey(ctx, ended);
  const flow = await flowAt(tx, services, call, 'signIn', form_token);
  if (!accepted) {
    const { address } = flow.step;
    const shown = { form: 'signIn', ...(address !== undefined && { address }) } as const;
    await storeForm(ctx, flow, { ...shown, notice: 'passkeyRefused' });
    return refuse(
      fail('UNAUTHENTICATED', {
        fix: 'Ask for new options, and answer them once, within 5 minutes, in the same sign-in; or sign in in another way.',
      }),
    );
  }
  const { user, proof } = accepted;
  if (user.emailVerified || user.email === null) {
    return continueWithProof(ctx, flow, { provider: 'passkey', userId: user.id }, proof.amr);
  }
  ctx.unchanged();
  const app = await appOf(tx, flow.asked);
  const purpose = { name: 'verification', userId: user.id, passkeyAmr: proof.amr } as const;
  await mailCode(ctx, flow, { app, address: user.email, purpose, form: 'signIn' });
  return pageOf(services.config, 'signIn');
}

/** Checks a passkey as the second factor, outside the transaction. @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED */
export async function prepareSecondFactor(
  db: Executor,
  services: Services,
  call: Call,
  sent: SentPasskey,
): Promise<AssertionCheck> {
  assertOwnPage(call);
  await flowAt(db, services, call, 'secondFactor', sent.form_token);
  return checkAssertion(db, services, sent, useIn(call));
}
