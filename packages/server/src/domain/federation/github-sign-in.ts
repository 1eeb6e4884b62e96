import type { Call, Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { planSession, startSession, type Run } from '../identity/sign-in.ts';
import { requestCliConsent, parseCliRequest, type CliParameters } from './cli.ts';
import { requestConnectConsent, findConnectingUser } from './link-account.ts';
import { assertOwnOrigin, defaultPage, withQuery, type FlowError } from './destination.ts';
import { beginFlow, clearFlowCookie, consumeFlow, type Flow } from '../sign-in-flow/flow.ts';
import { githubAt, newVerifier, ProviderFault, type Github, type Identity } from './github.ts';
import { refuseSilently, findOrCreateUser } from './match-identity.ts';

/**
 * The configured GitHub client.
 * @throws PROVIDER_NOT_CONFIGURED
 */
export const github = ({ config }: Services): Github =>
  githubAt(config.github, `${config.appUrl}/api/auth/github/callback`);

interface BeginParameters extends CliParameters {
  readonly accountType: 'personal' | 'organization';
}

/**
 * Starts a flow, and returns the address to which the browser goes next.
 * @throws INVALID_REDIRECT_URI, VALIDATION_ERROR
 */
export async function beginGithubSignIn(ctx: Run, parameters: BeginParameters): Promise<string> {
  const { tx, services, call } = ctx;
  const { redirect, action, accountType } = parameters;
  const provider = github(services);
  const cli = parseCliRequest(services.config, parameters);
  if (redirect !== undefined && !cli) assertOwnOrigin(services.config, redirect);
  ctx.unchanged();
  let connecting = null;
  if (action === 'connect') {
    const holder = await findConnectingUser(tx, services, call);
    if (!holder) return withQuery(redirect ?? defaultPage(services.config), { error: 'stepUpRequired' });
    connecting = holder.sessionId;
  }
  const verifier = newVerifier();
  const flowData = { verifier, accountType, connecting, cli, redirect: redirect ?? null };
  return provider.signInPage(await beginFlow(ctx, 'github', flowData), verifier);
}

interface CallbackParameters {
  readonly state: string;
  readonly code?: string | undefined;
  readonly error?: string | undefined;
}

export interface ProviderResult {
  readonly flow: Flow<'github'>;
  readonly outcome: Identity | FlowError;
}

/**
 * Consumes the flow, whatever the outcome, and asks GitHub for the identity. Waits for GitHub, so call it in
 * `prepare`, outside of the transaction.
 * @throws INVALID_TOKEN when this browser has no such flow
 */
export async function fetchIdentity(
  db: Executor,
  services: Services,
  call: Call,
  { state, code, error }: CallbackParameters,
): Promise<ProviderResult> {
  const provider = github(services);
  const flow = await consumeFlow(db, services, call, 'github', state);
  if (error !== undefined) {
    return { flow, outcome: error === 'access_denied' ? 'accessDenied' : 'providerUnavailable' };
  }
  if (code === undefined) return { flow, outcome: 'invalidState' };
  try {
    return { flow, outcome: await provider.identify(code, flow.verifier) };
  } catch (fault) {
    if (!(fault instanceof ProviderFault)) throw fault;
    services.warn(fault, 'GitHub sign-in failed');
    return { flow, outcome: 'providerUnavailable' };
  }
}

/**
 * Signs the user in, or asks a signed-in user whether to connect the account. Returns the next address of the
 * browser, which has its session then; on failure the address names the error.
 */
export async function completeGithubSignIn(ctx: Run, { flow, outcome }: ProviderResult): Promise<string> {
  const { services } = ctx;
  clearFlowCookie(ctx);
  const { cli, redirect } = flow;
  const page = redirect ?? defaultPage(services.config);
  const failed = ({ error }: { readonly error: FlowError }) =>
    withQuery(page, { error, ...(cli ? { state: cli.state } : {}) });
  if (typeof outcome === 'string') return failed(refuseSilently(ctx, outcome));
  if (flow.connecting !== null) {
    const next = await requestConnectConsent(ctx, outcome, { sessionId: flow.connecting, redirect: page });
    return typeof next === 'string' ? next : failed(next);
  }
  const matched = await findOrCreateUser(ctx, outcome, flow.accountType);
  if ('error' in matched) return failed(matched);
  if (cli) return requestCliConsent(ctx, matched.user, { ...cli, redirect: page });
  await startSession(ctx, planSession(services, { amr: ['fed'] }), matched.user);
  return withQuery(page, {});
}
