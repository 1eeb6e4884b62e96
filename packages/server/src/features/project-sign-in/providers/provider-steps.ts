import type { Call, Services } from '../../../kernel/context.ts';
import type { Executor } from '../../../kernel/scoped-db.ts';
import { offeredIdentityProviders, type LiveApp } from '../../../domain/app-access/app.ts';
import { pageOf } from '../../../domain/federation/answer-app.ts';
import { lockAccount } from '../../../domain/federation/match-identity.ts';
import {
  providerKeyOf,
  ProviderFault,
  type Identity,
  type ProviderAnswer,
} from '../../../domain/federation/providers/provider.ts';
import { advanceFlow, updateFlow } from '../../../domain/sign-in-flow/flow.ts';
import type { Run } from '../../../domain/identity/sign-in.ts';
import { mailCode, reachableAddress } from '../methods/request-code.ts';
import { notOffered } from '../methods/not-offered.ts';
import { appOf, commonPart, continueWithProof, flowAt } from '../steps.ts';

/** The way of a sign-in to an app through a provider: to its page, and back with who the person is (identity §12). */

const isOffered = (services: Services, app: LiveApp, key: string): boolean =>
  offeredIdentityProviders(services, app).some((provider) => provider.key === key);

/**
 * The URL at which the person signs in, or of the page that says why they cannot. `isReached`: whether the provider answers.
 * @throws INVALID_TOKEN, PROVIDER_NOT_CONFIGURED
 */
export async function toProvider(ctx: Run, key: string, isReached = true): Promise<string> {
  const { tx, services, call } = ctx;
  ctx.unchanged();
  const { handle, ...flow } = await flowAt(tx, services, call, 'signIn');
  if (!isOffered(services, await appOf(tx, flow.asked), key)) throw notOffered();
  const { notice: _, ...step } = flow.step;
  const noted = { ...step, providerKey: key, ...(!isReached && { notice: 'providerFailed' as const }) };
  await updateFlow(ctx, 'project', { handle, data: { ...commonPart(flow), step: noted } });
  if (!isReached) return pageOf(services.config, 'signIn');
  return services.identityProviders.at(key, 'app').signInPage(handle, flow.verifier);
}

interface FromProvider {
  readonly flow: Awaited<ReturnType<typeof signInFlow>>;
  readonly key: string;
  readonly outcome: Identity | 'providerRefused' | 'providerFailed';
}

const signInFlow = (db: Executor, services: Services, call: Call, state: string) =>
  flowAt(db, services, call, 'signIn', state);

/**
 * Asks the provider for the identity. It waits for the network, so call it in `prepare`. The answer of one provider does not
 * finish a sign-in that went to another.
 * @throws INVALID_TOKEN without a flow of this browser, PROVIDER_NOT_CONFIGURED
 */
export async function fromProvider(
  db: Executor,
  services: Services,
  call: Call,
  { key, answer }: { readonly key: string; readonly answer: ProviderAnswer },
): Promise<FromProvider> {
  const provider = services.identityProviders.at(key, 'app');
  const { state, code, error } = answer;
  const flow = await signInFlow(db, services, call, state);
  if (error !== undefined) {
    return { flow, key, outcome: error === 'access_denied' ? 'providerRefused' : 'providerFailed' };
  }
  // A version before several providers did not note where the person went.
  const isExpected = flow.step.providerKey === undefined ? key === 'github' : flow.step.providerKey === key;
  if (code === undefined || !isExpected) return { flow, key, outcome: 'providerFailed' };
  try {
    return { flow, key, outcome: await provider.identify(answer, { state, verifier: flow.verifier }) };
  } catch (fault) {
    if (!(fault instanceof ProviderFault)) throw fault;
    services.warn(fault, `Sign-in to an app through ${provider.name} failed`);
    return { flow, key, outcome: 'providerFailed' };
  }
}

/**
 * Continues with the identity, or returns to the ways to sign in with a notice. An address for which the provider does not
 * vouch is proved by a mailed code first.
 * @throws INVALID_TOKEN, PROVIDER_NOT_CONFIGURED
 */
export async function takeIdentity(ctx: Run, { flow, key, outcome }: FromProvider): Promise<string> {
  const { tx, services } = ctx;
  const app = await appOf(tx, flow.asked);
  if (!isOffered(services, app, key)) throw notOffered();
  if (typeof outcome !== 'string') {
    if (outcome.address !== null || (await lockAccount(ctx, outcome))) {
      const provider = outcome.oidc ? 'oidc' : 'github';
      return continueWithProof(ctx, flow, { provider, identity: outcome }, ['fed']);
    }
    const address = reachableAddress(services, outcome.unprovedAddress ?? '');
    if (address !== null) {
      ctx.unchanged();
      const purpose = { name: 'signIn', identity: outcome } as const;
      await mailCode(ctx, flow, {
        app,
        address,
        purpose,
        form: 'signIn',
        providerKey: providerKeyOf(outcome),
      });
      return pageOf(services.config, 'signIn');
    }
  }
  ctx.unchanged();
  const notice = typeof outcome === 'string' ? outcome : 'emailNotVerified';
  const step = { name: 'signIn', notice, providerKey: key } as const;
  await advanceFlow(ctx, 'project', flow.handle, { ...commonPart(flow), step });
  return pageOf(services.config, 'signIn');
}
