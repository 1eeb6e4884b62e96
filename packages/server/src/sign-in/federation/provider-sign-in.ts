import type { Call } from '../../kernel/context.ts';
import type { Services, Run } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { planSession, startSession } from '../../sessions/sign-in.ts';
import { requestCliConsent, parseCliRequest, type CliParameters } from './cli.ts';
import { requestConnectConsent, findConnectingUser } from './link-account.ts';
import { assertOwnOrigin, defaultPage, withQuery, type FlowError } from './destination.ts';
import { beginFlow, clearFlowCookie, consumeFlow, startAgainError, type Flow } from '../flow/flow.ts';
import { newVerifier } from '../../providers/github.ts';
import {
  keyInFlow,
  keyOfFlow,
  ProviderFault,
  type Identity,
  type ProviderAnswer,
} from '../../providers/provider.ts';
import { refuseSilently, findOrCreateUser } from './match-identity.ts';

interface BeginParameters extends CliParameters {
  readonly accountType: 'personal' | 'organization';
  /** False if the provider does not respond; absent if that was not checked. */
  readonly isReached?: boolean;
}

/**
 * Starts a flow, and returns the address that the browser goes to next.
 *
 * @throws INVALID_REDIRECT_URI, VALIDATION_ERROR, PROVIDER_NOT_CONFIGURED
 */
export async function beginProviderSignIn(
  ctx: Run,
  key: string,
  parameters: BeginParameters,
): Promise<string> {
  const { tx, services, call } = ctx;
  const { redirect, action, accountType } = parameters;
  const provider = services.identityProviders.at(key, 'session');
  const cli = parseCliRequest(services.config, parameters);
  if (redirect !== undefined && !cli) assertOwnOrigin(services.config, redirect);
  ctx.unchanged();
  if (parameters.isReached === false) {
    const failed = { error: 'providerUnavailable', ...(cli && { state: cli.state }) };
    return withQuery(redirect ?? defaultPage(services.config), failed);
  }
  let connecting = null;
  if (action === 'connect') {
    const holder = await findConnectingUser(tx, services, call);
    if (!holder) return withQuery(redirect ?? defaultPage(services.config), { error: 'stepUpRequired' });
    connecting = holder.sessionId;
  }
  const ofAccountPages = call.accountSessionId ? ({ ofAccountPages: true } as const) : {};
  const verifier = newVerifier();
  const flowData = { verifier, accountType, connecting, cli, redirect: redirect ?? null, ...ofAccountPages };
  const state = await beginFlow(ctx, 'provider', { ...flowData, ...keyInFlow(key) });
  return provider.signInPage(state, verifier);
}

interface ProviderResult {
  readonly flow: Flow<'provider'>;
  readonly outcome: Identity | FlowError;
}

/**
 * Consumes the flow, whatever the outcome, and asks the provider for the identity. Waits for the provider, so call it
 * in `prepare`, outside the transaction.
 *
 * @throws INVALID_TOKEN if this browser has no such flow with this provider
 */
export async function fetchIdentity(
  db: Executor,
  services: Services,
  call: Call,
  { key, answer }: { readonly key: string; readonly answer: ProviderAnswer },
): Promise<ProviderResult> {
  const { state, code, error } = answer;
  const provider = services.identityProviders.at(key, 'session');
  const flow = await consumeFlow(db, services, call, 'provider', state);
  // The response of one provider must not finish a sign-in that began at another.
  if (keyOfFlow(flow) !== key) throw startAgainError();
  if (error !== undefined) {
    return { flow, outcome: error === 'access_denied' ? 'accessDenied' : 'providerUnavailable' };
  }
  if (code === undefined) return { flow, outcome: 'invalidState' };
  try {
    return { flow, outcome: await provider.identify(answer, { state, verifier: flow.verifier }) };
  } catch (fault) {
    if (!(fault instanceof ProviderFault)) throw fault;
    services.warn(fault, `Sign-in through ${provider.name} failed`);
    return { flow, outcome: 'providerUnavailable' };
  }
}

/**
 * Signs the user in, or sends the browser to a page that asks whether to connect the account or to approve the command
 * line. Returns the browser's next address, which contains the error on failure.
 */
export async function completeProviderSignIn(ctx: Run, { flow, outcome }: ProviderResult): Promise<string> {
  const { services } = ctx;
  clearFlowCookie(ctx);
  const { cli, redirect } = flow;
  const page = redirect ?? defaultPage(services.config);
  const failed = ({ error }: { readonly error: FlowError }) =>
    withQuery(page, { error, ...(cli ? { state: cli.state } : {}) });
  if (typeof outcome === 'string') return failed(refuseSilently(ctx, outcome));
  if (flow.connecting !== null) {
    const next = await requestConnectConsent(ctx, outcome, {
      sessionId: flow.connecting,
      redirect: page,
      ...(flow.ofAccountPages && { ofAccountPages: true }),
    });
    return typeof next === 'string' ? next : failed(next);
  }
  const matched = await findOrCreateUser(ctx, outcome, flow.accountType);
  if ('error' in matched) return failed(matched);
  const amr = ['fed'];
  if (cli) {
    const authenticatedAt = services.clock.now().toISOString();
    const signedIn = { userId: matched.user.id, amr, authenticatedAt, redirect: page };
    return requestCliConsent(ctx, { ...signedIn, ...cli }, matched.user);
  }
  await startSession(ctx, planSession(services, { amr }), matched.user);
  return withQuery(page, {});
}
