import type { z } from 'zod';
import { commonScopes } from '@doorward/decision/app-scopes';
import { fail } from '../../errors.ts';
import type { Services, Run } from '../../services.ts';
import { refuse } from '../../kernel/output/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { nodeOfApp, type LiveApp } from '../../apps/access/app.ts';
import { appForMember } from '../../sign-in/admission/sign-in-organization.ts';
import { namedResources, resourcesOf } from '../../apps/access/resources.ts';
import {
  reuseDetected,
  rotate,
  findPresentedToken,
  type PresentedToken,
} from '../../sessions/refresh-rotation.ts';
import { isOwnerOverdue } from '../../sign-in/protection/verification-deadline.ts';
import { userAsActor } from '../../people/user-node.ts';
import { storeRehash, type Client } from './client.ts';
import { noteUse } from '../registration/unused-apps.ts';
import { invalidGrant, hasProjectAccess, issueTokens, type AppTokens } from './issue.ts';

/*
 * Refresh with a refresh token of an app. Rotation itself is in `sessions/refresh-rotation.ts`. A refresh never adds
 * scopes to those that the user consented to, and drops scopes that the app has lost.
 */

interface SentRefreshToken {
  readonly refresh_token: string;
  readonly scope?: string | undefined;
  readonly resource?: string | readonly string[] | undefined;
}

interface PreparedRenewal {
  readonly client: Client;
  /** The app, in the scope of the session's organization. */
  readonly app: LiveApp;
  readonly presented: PresentedToken;
  /** Null if the token is neither the newest nor the one just replaced; it then gets no tokens. */
  readonly tokens: z.output<typeof AppTokens> | null;
}

/**
 * Checks the refresh token, and signs the next tokens if it is accepted.
 *
 * @throws INVALID_TOKEN, VALIDATION_ERROR, RATE_LIMITED
 */
export async function prepareRenewal(
  db: Executor,
  services: Services,
  client: Client,
  sent: SentRefreshToken,
): Promise<PreparedRenewal> {
  const presented = await findPresentedToken(db, services, sent.refresh_token);
  // Only refresh tokens of this app are accepted, not those of browsers, command lines or other apps.
  if (presented?.session.projectAppId !== client.app.id) throw invalidGrant();
  const { session, successor: refreshToken, isAccepted } = presented;
  await services.limiter.consume('refresh', session.id);
  if (await isOwnerOverdue(db, services, client.app.owner.id)) throw invalidGrant();
  const app = await appForMember(db, client.app, session);
  if (!app || !(await hasProjectAccess(db, services, app, session.userId))) throw invalidGrant();
  if (!isAccepted) return { client, app, presented, tokens: null };
  const consented = session.consentedScopes;
  const openid = session.openidScopes;
  assertNoNewScopes(sent.scope, [...openid, ...(commonScopes(app.scopes, consented) ?? [])]);
  const tokens = await issueTokens(db, services, app, {
    ...session,
    consented,
    openid,
    resources: resourcesOf(app, session.resources, namedResources(sent.resource)),
    nonce: null,
    refreshToken,
  });
  return { client, app, presented, tokens };
}

/**
 * A client may name scopes, but only scopes that it got at the sign-in (RFC 6749 §6). All tokens of a session have the
 * same scopes, so a client that names fewer gets all of them, and the response lists them.
 */
function assertNoNewScopes(scope: string | undefined, granted: readonly string[]): void {
  const hasNewScope = (scope ?? '').split(' ').some((item) => item !== '' && !granted.includes(item));
  if (!hasNewScope) return;
  throw fail('VALIDATION_ERROR', {
    details: [{ path: 'scope', code: 'not_allowed' }],
    fix: 'Leave scope out: the token gets what the user consented to.',
  });
}

/**
 * Rotates the refresh token. A retry gets the same successor. Reusing a token that was replaced earlier ends the
 * session, because the token must have been copied.
 */
export async function renew(ctx: Run, { client, app, presented, tokens }: PreparedRenewal) {
  await storeRehash(ctx, client);
  const rotated = await rotate(ctx, presented);
  const { session } = presented;
  const common = { node: nodeOfApp(app), target: { type: 'Session', id: session.id } };
  const metadata = { clientId: app.clientId, userId: session.userId };
  if (rotated === 'copied') {
    const fault = 'reused';
    ctx.record({ ...common, outcome: 'failed', code: 'INVALID_TOKEN', metadata: { ...metadata, fault } });
    ctx.record(reuseDetected(presented, 'INVALID_TOKEN'));
    return refuse(invalidGrant());
  }
  if (rotated === null || tokens === null) throw invalidGrant();
  if (rotated.isNew) await noteUse(ctx, app);
  if (rotated.isNew) ctx.record({ ...common, actor: userAsActor(presented.user), metadata });
  else ctx.unchanged();
  return tokens;
}
