import type { Call, Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { plannedSession, startSession, type Run } from '../identity/sign-in.ts';
import { askUser, waitingCli, type AskedByCli } from './cli.ts';
import { askToConnect, connectingUser } from './connecting.ts';
import { assertOwnPage, defaultPage, withQuery, type FlowError } from './destination.ts';
import { beginFlow, forgetFlow, takeFlow, type Flow } from './flow.ts';
import { githubAt, newVerifier, ProviderFault, type Github, type Identity } from './github.ts';
import { refused, userOf } from './matching.ts';

/** The way back from GitHub: from what it answered to a session and the next address of the browser. */

/** @throws PROVIDER_NOT_CONFIGURED */
export const github = ({ config }: Services): Github =>
  githubAt(config.github, `${config.appUrl}/api/auth/github/callback`);

interface Asked extends AskedByCli {
  readonly accountType: 'personal' | 'organization';
}

/**
 * Stores what is to happen at the end, and answers where the browser goes now.
 * @throws INVALID_REDIRECT_URI, VALIDATION_ERROR
 */
export async function begin(ctx: Run, asked: Asked): Promise<string> {
  const { tx, services, call } = ctx;
  const { redirect, action, accountType } = asked;
  const provider = github(services);
  const cli = waitingCli(services.config, asked);
  if (redirect !== undefined && !cli) assertOwnPage(services.config, redirect);
  ctx.unchanged();
  let connecting = null;
  if (action === 'connect') {
    const holder = await connectingUser(tx, services, call);
    if (!holder) return withQuery(redirect ?? defaultPage(services.config), { error: 'stepUpRequired' });
    connecting = holder.sessionId;
  }
  const verifier = newVerifier();
  const kept = { verifier, accountType, connecting, cli, redirect: redirect ?? null };
  return provider.signInPage(await beginFlow(ctx, 'github', kept), verifier);
}

interface Answered {
  readonly state: string;
  readonly code?: string | undefined;
  readonly error?: string | undefined;
}

export interface Returned {
  readonly flow: Flow<'github'>;
  readonly outcome: Identity | FlowError;
}

/**
 * Uses the flow up, whatever comes of it, and asks GitHub who it is. Waits for GitHub, so call it in `prepare`.
 * @throws INVALID_TOKEN when there is no such flow of this browser
 */
export async function comeBack(
  db: Executor,
  services: Services,
  call: Call,
  { state, code, error }: Answered,
): Promise<Returned> {
  const provider = github(services);
  const flow = await takeFlow(db, services, call, 'github', state);
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
 * Signs the user in, or asks the signed-in user whether the account is to be connected. Answers the next address of the
 * browser; it has its session then, or the address names the error.
 */
export async function finish(ctx: Run, { flow, outcome }: Returned): Promise<string> {
  const { services } = ctx;
  forgetFlow(ctx);
  const { cli, redirect } = flow;
  const page = redirect ?? defaultPage(services.config);
  const failed = ({ error }: { readonly error: FlowError }) =>
    withQuery(page, { error, ...(cli ? { state: cli.state } : {}) });
  if (typeof outcome === 'string') return failed(refused(ctx, outcome));
  if (flow.connecting !== null) {
    const next = await askToConnect(ctx, outcome, { sessionId: flow.connecting, redirect: page });
    return typeof next === 'string' ? next : failed(next);
  }
  const matched = await userOf(ctx, outcome, flow.accountType);
  if ('error' in matched) return failed(matched);
  if (cli) return askUser(ctx, matched.user, { ...cli, redirect: page });
  await startSession(ctx, plannedSession(services, { amr: ['fed'] }), matched.user);
  return withQuery(page, {});
}
