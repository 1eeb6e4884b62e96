/*
 * Sign-in through the identity provider of an organization: to the provider's page, and back as a member of the
 * organization.
 */

import type { Call } from '../../kernel/context.ts';
import type { Services, Run } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { uuid } from '../../kernel/input/values.ts';
import {
  connectionById,
  connectionOfAddress,
  vouchesFor,
  type LiveConnection,
} from '../connections/live-connection.ts';
import { pageOf } from '../admission/answer-app.ts';
import { proofOf } from '../admission/app-sign-in.ts';
import { lockLinkedMethod } from '../federation/match-identity.ts';
import { newVerifier } from '../../providers/github.ts';
import { ProviderFault, type Identity, type ProviderAnswer } from '../../providers/provider.ts';
import { findAddressOwner } from '../../people/address.ts';
import { advanceFlow } from '../flow/flow.ts';
import type { SignInStep } from '../flow/flow-data.ts';
import { notOffered } from '../mailed-codes/not-offered.ts';
import { mailCode } from '../mailed-codes/request-code.ts';
import { askProvider, lockFirstStep, type FromProvider } from './provider-steps.ts';
import { appOf, commonPart, continueWithProof, flowAt } from '../steps/steps.ts';

/** The part of the first page's state that shows the connection for the domain of the address. */
export async function shownConnection(
  db: Executor,
  app: Parameters<typeof connectionOfAddress>[1],
  address: string,
): Promise<Pick<SignInStep, 'connection'>> {
  const connection = await connectionOfAddress(db, app, address);
  return connection ? { connection: shown(connection) } : {};
}

const shown = ({ id, name, enforced }: LiveConnection) => ({ id, name, enforced });

/** Returns the connection. @throws PROVIDER_NOT_CONFIGURED unless the app of this sign-in has it */
async function offeredConnection(
  db: Executor,
  flow: Parameters<typeof appOf>[1],
  id: string,
): Promise<LiveConnection> {
  const isId = uuid.safeParse(id).success;
  const connection = isId ? await connectionById(db, await appOf(db, flow), id) : undefined;
  if (!connection) throw notOffered();
  return connection;
}

/**
 * The connection that the page shows. Any other is refused, so that no other site can send this browser to a provider
 * of its choice.
 */
function shownConnectionWith(
  db: Executor,
  {
    asked,
    step,
  }: { readonly asked: Parameters<typeof appOf>[1]; readonly step: Pick<SignInStep, 'connection'> },
  id: string,
): Promise<LiveConnection> {
  if (step.connection?.id !== id) throw notOffered();
  return offeredConnection(db, asked, id);
}

/**
 * Whether the provider responds. Waits for the network, so call it in `prepare`.
 *
 * @throws INVALID_TOKEN, PROVIDER_NOT_CONFIGURED
 */
export async function reachConnection(
  db: Executor,
  services: Services,
  call: Call,
  id: string,
): Promise<boolean> {
  const flow = await flowAt(db, services, call, 'signIn');
  const provider = services.identityProviders.connections.at(await shownConnectionWith(db, flow, id));
  try {
    await provider.reach();
    return true;
  } catch (fault) {
    if (!(fault instanceof ProviderFault)) throw fault;
    services.warn(fault, `The provider of connection ${id} could not be reached`);
    return false;
  }
}

/**
 * Returns the URL at which the person signs in, or the URL of the page that says why they cannot.
 *
 * @throws INVALID_TOKEN, PROVIDER_NOT_CONFIGURED
 */
export async function toConnection(ctx: Run, id: string, isReached: boolean): Promise<string> {
  const { tx, services } = ctx;
  ctx.unchanged();
  const flow = await lockFirstStep(ctx);
  const connection = await shownConnectionWith(tx, flow, id);
  const verifier = newVerifier();
  const notice = isReached ? {} : { notice: 'providerFailed' as const };
  const data = { asked: flow.asked, verifier, step: { ...stepOf(flow.step, connection), ...notice } };
  const state = await advanceFlow(ctx, 'project', flow.handle, data);
  if (!isReached) return pageOf(services.config, 'signIn');
  return services.identityProviders.connections.at(connection).signInPage(state, verifier);
}

/** The first step, with the connection that the person went to. */
const stepOf = ({ address }: Pick<SignInStep, 'address'>, connection: LiveConnection): SignInStep => ({
  name: 'signIn',
  form: 'signIn',
  connection: shown(connection),
  providerKey: connection.id,
  ...(address !== undefined && { address }),
});

/**
 * Asks the provider who the person is. Waits for the network, so call it in `prepare`.
 *
 * @throws INVALID_TOKEN without a flow of this browser, PROVIDER_NOT_CONFIGURED
 */
export async function fromConnection(
  db: Executor,
  services: Services,
  call: Call,
  { id, answer }: { readonly id: string; readonly answer: ProviderAnswer },
): Promise<FromProvider> {
  const flow = await flowAt(db, services, call, 'signIn', answer.state);
  const connection = await offeredConnection(db, flow.asked, id);
  const provider = services.identityProviders.connections.at(connection);
  const asked = await askProvider(services, flow, provider, answer);
  if (typeof asked.outcome === 'string') return asked;
  const { name, organizationId } = connection;
  return { ...asked, outcome: { ...asked.outcome, connection: { id, name, organizationId } } };
}

/**
 * Continues with the identity, or returns to the sign-in methods with a notice. A user who had the address before,
 * through a method of their own, proves it once by a mailed code, so that an organization cannot take over a user just
 * by naming the address.
 *
 * @throws INVALID_TOKEN, PROVIDER_NOT_CONFIGURED
 */
export async function takeMember(ctx: Run, { flow, key, outcome }: FromProvider): Promise<string> {
  const { tx, services } = ctx;
  const connection = await offeredConnection(tx, flow.asked, key);
  const back = async (notice: SignInStep['notice'] & string): Promise<string> => {
    ctx.unchanged();
    const step = { ...stepOf(flow.step, connection), notice };
    await advanceFlow(ctx, 'project', flow.handle, { ...commonPart(flow), step });
    return pageOf(services.config, 'signIn');
  };
  if (typeof outcome === 'string') return back(outcome);
  const { address } = outcome;
  if (address === null || !(await vouchesFor(tx, connection, address))) return back('emailNotVerified');
  if ((await lockLinkedMethod(ctx, outcome)) || !(await findAddressOwner(tx, address))) {
    return continueWithProof(ctx, flow, proofOf(outcome), amrOf(connection, outcome));
  }
  ctx.unchanged();
  const step = stepOf(flow.step, connection);
  const handle = await advanceFlow(ctx, 'project', flow.handle, { ...commonPart(flow), step });
  const purpose = { name: 'connection', identity: outcome } as const;
  const app = await appOf(tx, flow.asked);
  const { name: _, ...kept } = step;
  await mailCode(ctx, { ...flow, handle, step }, { ...kept, app, address, purpose });
  return pageOf(services.config, 'signIn');
}

const secondFactors = new Set(['mfa', 'otp', 'hwk', 'pop']);

/**
 * The authentication methods of the sign-in. A second factor at the provider counts only if the organization trusts it.
 */
const amrOf = ({ trustMfa }: LiveConnection, { methods = [] }: Identity): readonly string[] =>
  trustMfa && methods.some((method) => secondFactors.has(method)) ? ['fed', 'mfa'] : ['fed'];
