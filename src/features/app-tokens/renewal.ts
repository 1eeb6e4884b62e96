import type { z } from 'zod';
import { namedByBoth } from '../../access/credentials.ts';
import { fail } from '../../errors.ts';
import type { Services } from '../../kernel/context.ts';
import { refuse } from '../../kernel/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { nodeOfApp, type LiveApp } from '../app-access/app.ts';
import { reuseDetected, rotate, shownToken, type Shown } from '../sessions/rotation.ts';
import type { Run } from '../identity/sign-in.ts';
import { isOwnerOverdue } from '../sign-in-protection/overdue.ts';
import { userAsActor } from '../identity/user-node.ts';
import { keepRehash, type Client } from './client.ts';
import { invalidGrant, isInProject, issueTokens, type AppTokens } from './issue.ts';

/**
 * The door at which apps show their refresh tokens; how these rotate stands in `sessions`. Nothing is ever added here to
 * what the user consented to, and what the app has lost meanwhile is gone.
 */
export interface SentRefreshToken {
  readonly refresh_token: string;
  readonly scope?: string | undefined;
}

export interface PreparedRenewal {
  readonly client: Client;
  readonly shown: Shown;
  /** Null for a token that is neither the newest nor the one just replaced: it gets nothing. */
  readonly tokens: z.output<typeof AppTokens> | null;
}

/** @throws INVALID_TOKEN, VALIDATION_ERROR, RATE_LIMITED */
export async function prepareRenewal(
  db: Executor,
  services: Services,
  client: Client,
  sent: SentRefreshToken,
): Promise<PreparedRenewal> {
  const { app } = client;
  const shown = await shownToken(db, services, sent.refresh_token);
  // Tokens of browsers, of command lines and of other apps are none here.
  if (shown?.session.projectAppId !== app.id) throw invalidGrant();
  const { session, successor: refreshToken, isKnown } = shown;
  await services.limiter.consume('refresh', session.id);
  if (await isOwnerOverdue(db, services, app.owner.id)) throw invalidGrant();
  if (!(await isInProject(db, services, app, session.userId))) throw invalidGrant();
  if (!isKnown) return { client, shown, tokens: null };
  const consented = session.consentedScopes;
  assertNotWider(sent.scope, app, consented);
  const tokens = await issueTokens(services, app, { ...session, consented, refreshToken });
  return { client, shown, tokens };
}

/**
 * A client may name scopes, but none that it did not get at the sign-in (RFC 6749 §6). Tokens of one session all say the
 * same, so fewer are answered with all, and the answer names them.
 */
function assertNotWider(
  scope: string | undefined,
  { scopes }: LiveApp,
  consented: readonly string[] | null,
): void {
  const granted = namedByBoth(scopes, consented) ?? [];
  const wider = (scope ?? '').split(' ').some((one) => one !== '' && !granted.includes(one));
  if (!wider) return;
  throw fail('VALIDATION_ERROR', {
    details: [{ path: 'scope', code: 'not_allowed' }],
    fix: 'Leave scope out: the token gets what the user consented to.',
  });
}

/** Replaces the token, answers a retry with the same successor, or ends a session whose token was copied. */
export async function renew(ctx: Run, { client, shown, tokens }: PreparedRenewal) {
  const { app } = client;
  await keepRehash(ctx, client);
  const rotated = await rotate(ctx, shown);
  const { session } = shown;
  const common = { node: nodeOfApp(app), target: { type: 'Session', id: session.id } };
  const metadata = { clientId: app.clientId, userId: session.userId };
  if (rotated === 'copied') {
    const fault = 'reused';
    ctx.record({ ...common, outcome: 'failed', code: 'INVALID_TOKEN', metadata: { ...metadata, fault } });
    ctx.record(reuseDetected(shown, 'INVALID_TOKEN'));
    return refuse(invalidGrant());
  }
  if (rotated === null || tokens === null) throw invalidGrant();
  if (rotated.isNew) ctx.record({ ...common, actor: userAsActor(shown.user), metadata });
  else ctx.unchanged();
  return tokens;
}
