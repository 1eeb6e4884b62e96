import type { Call, Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { plannedSession, startSession, type Run } from '../identity/sign-in.ts';
import { defaultPage, withQuery, type FlowError } from './destination.ts';
import { forgetFlow, takeFlow, type Flow } from './flow.ts';
import { githubAt, ProviderFault, type Github, type Identity } from './github.ts';
import { refused, userOf } from './matching.ts';

/** The way back from GitHub: from what it answered to a session and the next address of the browser. */

/** @throws PROVIDER_NOT_CONFIGURED */
export const github = ({ config }: Services): Github =>
  githubAt(config.github, `${config.appUrl}/api/auth/github/callback`);

interface Answered {
  readonly state: string;
  readonly code?: string | undefined;
  readonly error?: string | undefined;
}

export interface Returned {
  readonly flow: Flow;
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
  const flow = await takeFlow(db, services, call, state);
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

/** Signs the user in and answers where the browser goes on: it has the session, or the address tells what failed. */
export async function finish(ctx: Run, { flow, outcome }: Returned): Promise<string> {
  const { services } = ctx;
  forgetFlow(ctx);
  const page = flow.redirect ?? defaultPage(services.config);
  const matched =
    typeof outcome === 'string' ? refused(ctx, outcome) : await userOf(ctx, outcome, flow.accountType);
  if ('error' in matched) return withQuery(page, { error: matched.error });
  await startSession(ctx, plannedSession(services, { amr: ['fed'] }), matched.user);
  return withQuery(page, {});
}
