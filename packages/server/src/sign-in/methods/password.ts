/* Sign-in to an app with address and password: first the address, then the methods that the app offers. */

import { fail } from '../../errors.ts';
import type { Call } from '../../kernel/context.ts';
import type { Services, Run } from '../../services.ts';
import { refuse, type Refusal } from '../../kernel/output/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { pageOf } from '../admission/answer-app.ts';
import { canonicalAddress, checkPassword } from '../../sessions/password-sign-in.ts';
import { findAddressOwner } from '../../people/address.ts';
import { acceptPassword, type EndedCheck } from '../protection/accept-password.ts';
import { appOf, assertOwnPage, continueWithProof, flowAt } from '../steps/steps.ts';
import { shownConnection } from './connection-steps.ts';
import { notOffered } from '../mailed-codes/not-offered.ts';
import { mailCode, reachableAddress, refuseAddress, storeForm } from '../mailed-codes/request-code.ts';

/**
 * Stores the address and shows the sign-in methods, without revealing whether the address has a user.
 * @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED
 */
export async function identify(
  ctx: Run,
  { email, form_token }: { readonly email: string; readonly form_token?: string | undefined },
): Promise<string | Refusal> {
  const { tx, services, call } = ctx;
  assertOwnPage(call);
  const flow = await flowAt(tx, services, call, 'signIn', form_token);
  ctx.unchanged();
  const address = reachableAddress(services, email);
  if (address === null) return refuseAddress(ctx, flow, { form: 'signIn', entered: { email } });
  const connection = await shownConnection(tx, await appOf(tx, flow.asked), address);
  await storeForm(ctx, flow, { form: 'signIn', address, ...connection });
  return pageOf(services.config, 'signIn');
}

interface TypedPassword {
  readonly email: string;
  readonly password: string;
  readonly form_token?: string | undefined;
}

/**
 * Checks the password, outside the transaction. Only a browser in a sign-in to an app that accepts passwords gets this
 * far, so that no other caller costs a hash.
 *
 * @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED, PROVIDER_NOT_CONFIGURED
 */
export async function preparePassword(
  db: Executor,
  services: Services,
  call: Call,
  { email, password, form_token }: TypedPassword,
): Promise<EndedCheck> {
  assertOwnPage(call);
  const flow = await flowAt(db, services, call, 'signIn', form_token);
  const { enabledProviders } = await appOf(db, flow.asked);
  if (!enabledProviders.includes('password')) throw notOffered();
  const checked = await checkPassword(db, services, call.network, email, password);
  return { ...checked, hashedAt: performance.now() };
}

/**
 * Continues with the user of this password. If their address is not verified, they first prove it by a mailed code,
 * because apps rely on the address.
 *
 * @throws INVALID_TOKEN
 */
export async function takePassword(
  ctx: Run,
  checked: EndedCheck,
  { email, form_token }: TypedPassword,
): Promise<string | Refusal> {
  const { tx, services, call } = ctx;
  const user = await acceptPassword(ctx, checked);
  const flow = await flowAt(tx, services, call, 'signIn', form_token);
  const address = canonicalAddress(email);
  if (!user || address === null) {
    const { connection } = flow.step;
    const kept = { form: 'signIn', address: email, ...(connection && { connection }) } as const;
    await storeForm(ctx, flow, { ...kept, notice: 'wrongPassword' });
    return refuse(
      fail('UNAUTHENTICATED', {
        fix: 'Check address and password, reset the password, or wait a while after many wrong ones.',
      }),
    );
  }
  if ((await findAddressOwner(tx, address))?.id === user.id) {
    return continueWithProof(ctx, flow, { provider: 'password', userId: user.id, address }, ['pwd']);
  }
  ctx.unchanged();
  const app = await appOf(tx, flow.asked);
  const purpose = { name: 'verification', userId: user.id } as const;
  await mailCode(ctx, flow, { app, address, purpose, form: 'signIn' });
  return pageOf(services.config, 'signIn');
}
