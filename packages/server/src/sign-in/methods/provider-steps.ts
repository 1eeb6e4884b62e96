/* Sign-in to an app through a provider: to the provider's page, and back with the person's identity (identity §12). */

import type { Call } from '../../kernel/context.ts';
import type { Services, Run } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { isOffered } from '../../apps/access/app.ts';
import { pageOf } from '../admission/answer-app.ts';
import { proofOf } from '../admission/app-sign-in.ts';
import { lockLinkedMethod } from '../federation/match-identity.ts';
import {
  keyInFlow,
  keyOfFlow,
  ProviderFault,
  type Identity,
  type IdentityProvider,
  type ProviderAnswer,
} from '../../providers/provider.ts';
import { newVerifier } from '../../providers/github.ts';
import { advanceFlow, lockFlow, startAgainError } from '../flow/flow.ts';
import type { SignInStep } from '../flow/flow-data.ts';
import { mailCode, reachableAddress } from '../mailed-codes/request-code.ts';
import { notOffered } from '../mailed-codes/not-offered.ts';
import { appOf, commonPart, continueWithProof, flowAt, type ProjectFlow } from '../steps/steps.ts';

/**
 * Returns the URL at which the person signs in, or the URL of the page that says why they cannot. `isReached`: whether
 * the provider responds.
 *
 * @throws INVALID_TOKEN, PROVIDER_NOT_CONFIGURED
 */
export async function toProvider(ctx: Run, key: string, isReached = true): Promise<string> {
  const { tx, services } = ctx;
  ctx.unchanged();
  const flow = await lockFirstStep(ctx);
  if (!isOffered(services, await appOf(tx, flow.asked), key)) throw notOffered();
  // Each attempt has its own verifier, so what one provider has seen of it cannot be used in the response of another.
  const verifier = newVerifier();
  const step = { name: 'signIn', ...keyInFlow(key) } as const;
  const shown = isReached ? step : { ...step, notice: 'providerFailed' as const };
  const data = { asked: flow.asked, verifier, step: shown };
  const state = await advanceFlow(ctx, 'project', flow.handle, data);
  if (!isReached) return pageOf(services.config, 'signIn');
  return services.identityProviders.at(key, 'app').signInPage(state, verifier);
}

/**
 * Returns the flow of this browser, locked until commit. A simultaneous request may have advanced it; then it is read
 * again.
 */
export async function lockFirstStep({ tx, services, call }: Run): Promise<FirstStep> {
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const { handle } = await flowAt(tx, services, call, 'signIn');
    const flow = await lockFlow(tx, services, 'project', handle);
    if (flow?.step.name === 'signIn') return { ...flow, step: flow.step };
  }
  throw startAgainError();
}

type FirstStep = ProjectFlow & { readonly step: SignInStep };

export interface FromProvider {
  readonly flow: FirstStep;
  readonly key: string;
  readonly outcome: Identity | 'providerRefused' | 'providerFailed';
}

/**
 * Asks the provider for the identity. Waits for the network, so call it in `prepare`.
 *
 * @throws INVALID_TOKEN without a flow of this browser, PROVIDER_NOT_CONFIGURED
 */
export async function fromProvider(
  db: Executor,
  services: Services,
  call: Call,
  { key, answer }: { readonly key: string; readonly answer: ProviderAnswer },
): Promise<FromProvider> {
  const provider = services.identityProviders.at(key, 'app');
  return askProvider(services, await flowAt(db, services, call, 'signIn', answer.state), provider, answer);
}

/**
 * Asks the provider who the person is. The response of one provider cannot finish a sign-in that went to another.
 * Faults of the provider are returned, not thrown.
 */
export async function askProvider(
  services: Services,
  flow: FirstStep,
  provider: IdentityProvider,
  answer: ProviderAnswer,
): Promise<FromProvider> {
  const { key } = provider;
  const { state, code, error } = answer;
  if (error !== undefined) {
    return { flow, key, outcome: error === 'access_denied' ? 'providerRefused' : 'providerFailed' };
  }
  if (code === undefined || keyOfFlow(flow.step) !== key) return { flow, key, outcome: 'providerFailed' };
  try {
    return { flow, key, outcome: await provider.identify(answer, { state, verifier: flow.verifier }) };
  } catch (fault) {
    if (!(fault instanceof ProviderFault)) throw fault;
    services.warn(fault, `Sign-in to an app through ${provider.name} failed`);
    return { flow, key, outcome: 'providerFailed' };
  }
}

/**
 * Continues with the identity, or returns to the sign-in methods with a notice. An address that the provider does not
 * vouch for is first proved by a mailed code.
 *
 * @throws INVALID_TOKEN, PROVIDER_NOT_CONFIGURED
 */
export async function takeIdentity(ctx: Run, { flow, key, outcome }: FromProvider): Promise<string> {
  const { tx, services } = ctx;
  const app = await appOf(tx, flow.asked);
  if (!isOffered(services, app, key)) throw notOffered();
  if (typeof outcome !== 'string') {
    if (outcome.address !== null || (await lockLinkedMethod(ctx, outcome))) {
      return continueWithProof(ctx, flow, proofOf(outcome), ['fed']);
    }
    const address = reachableAddress(services, outcome.unprovedAddress ?? '');
    if (address !== null) {
      ctx.unchanged();
      const step = { name: 'signIn', ...keyInFlow(key) } as const;
      const handle = await advanceFlow(ctx, 'project', flow.handle, { ...commonPart(flow), step });
      const purpose = { name: 'connection', identity: outcome } as const;
      const shown = { form: 'signIn', ...keyInFlow(key) } as const;
      await mailCode(ctx, { ...flow, handle, step }, { app, address, purpose, ...shown });
      return pageOf(services.config, 'signIn');
    }
  }
  ctx.unchanged();
  const notice = typeof outcome === 'string' ? outcome : 'emailNotVerified';
  const step = { name: 'signIn', notice, ...keyInFlow(key) } as const;
  await advanceFlow(ctx, 'project', flow.handle, { ...commonPart(flow), step });
  return pageOf(services.config, 'signIn');
}
