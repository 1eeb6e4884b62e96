import { createHash } from 'node:crypto';
import { eq } from 'drizzle-orm';
import type { z } from 'zod';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { equalHashes } from '../../crypto/tokens/secrets.ts';
import type { Call } from '../../kernel/context.ts';
import type { Services, Run } from '../../services.ts';
import { refuse } from '../../kernel/output/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { nodeOfApp, type LiveApp } from '../../apps/access/app.ts';
import { appForMember } from '../../sign-in/admission/sign-in-organization.ts';
import { namedResources, resourcesOf } from '../../apps/access/resources.ts';
import { isOffline } from '../../apps/access/openid-scopes.ts';
import { isOwnerOverdue } from '../../sign-in/protection/verification-deadline.ts';
import { canSignIn } from '../../sessions/password-sign-in.ts';
import {
  endingWithAccessToken,
  planSession,
  writeSession,
  type PlannedSession,
} from '../../sessions/sign-in.ts';
import { endSessions } from '../../sessions/live-sessions.ts';
import { systemActor, userAsActor } from '../../people/user-node.ts';
import { lockUser } from '../../people/lock-user.ts';
import { sessions } from '../../schema/sign-in/session.ts';
import { projectCodes } from '../../schema/oauth/project-code.ts';
import { users } from '../../schema/people/user.ts';
import { lockSsoSession } from '../../sign-in/sso/lock.ts';
import { storeRehash, type Client } from './client.ts';
import { noteUse } from '../registration/unused-apps.ts';
import { lockAccess, invalidGrant, hasProjectAccess, issueTokens, type AppTokens } from './issue.ts';

/* Exchange of an authorization code for a session of the app (identity §12, RFC 6749 §4.1.3, RFC 7636 §4.6). */

interface CodeRequest {
  readonly code: string;
  readonly redirect_uri: string;
  readonly code_verifier: string;
  readonly resource?: string | readonly string[] | undefined;
}

/** Everything that the exchange needs, prepared before its transaction opens. */
interface PreparedCodeExchange {
  readonly client: Client;
  readonly sent: CodeRequest;
  readonly userId: string;
  /** Null if no session will be opened, because the code was used or the user may not sign in. */
  readonly opening: {
    /** The app, in the scope of the organization that the code is for. */
    readonly app: LiveApp;
    readonly session: PlannedSession;
    readonly tokens: z.output<typeof AppTokens>;
  } | null;
}

/**
 * Prepares session and tokens for the code. If the wrong app presents a code, the code stays valid, so that a thief
 * cannot invalidate it.
 *
 * @throws INVALID_TOKEN, RATE_LIMITED; VALIDATION_ERROR for resources that the app may not request
 */
export async function prepareCodeExchange(
  db: Executor,
  services: Services,
  { network }: Call,
  client: Client,
  sent: CodeRequest,
): Promise<PreparedCodeExchange> {
  const hash = hashOneTimeToken(sent.code);
  await services.limiter.consume('auth', `projectToken ${hash} ${network}`);
  const [row] = await db
    .select({ user: users, code: projectCodes, boundTo: sessions.organizationId })
    .from(projectCodes)
    .innerJoin(users, eq(users.id, projectCodes.userId))
    .leftJoin(sessions, eq(sessions.id, projectCodes.ssoSessionId))
    .where(eq(projectCodes.hash, hash));
  if (row?.code.appId !== client.app.id) throw invalidGrant();
  if (await isOwnerOverdue(db, services, client.app.owner.id)) throw invalidGrant();
  const { user, code, boundTo } = row;
  const { acr, amr, scopes: consented, openidScopes: openid, nonce, authenticatedAt, ssoSessionId } = code;
  const app = await appForMember(db, client.app, code);
  if (code.sessionId !== null || !canSignIn(user) || !app) {
    return { client, sent, userId: user.id, opening: null };
  }
  const named = code.resources.length > 0 ? code.resources : null;
  const resources = resourcesOf(app, named, namedResources(sent.resource));
  // A client may request fewer resources now, and the others with a refresh (RFC 8707 §2.2).
  const granted = named ?? resources;
  const planned = planSession(services, {
    kind: 'projectApp',
    acr,
    amr,
    authenticatedAt,
    boundTo,
    app: {
      id: app.id,
      consented,
      openid,
      ssoSessionId,
      resources: granted,
      organizationId: code.organizationId,
    },
  });
  const session = isOffline(openid) ? planned : endingWithAccessToken(services, planned);
  const facts = { ...session, userId: user.id, consented, openid, resources, nonce };
  const tokens = await issueTokens(db, services, app, facts);
  return { client, sent, userId: user.id, opening: { app, session, tokens } };
}

/**
 * Consumes the code and opens the session. A second use ends the session that the first use opened: if two clients have
 * a code and its verifier, the service cannot tell which of them is the thief. A used code without the verifier ends
 * nothing, because codes appear in browser histories and logs. A request that does not match the code consumes it too.
 * The lock on the user's row serializes concurrent uses. Refusals are recorded.
 */
export async function exchangeCode(ctx: Run, { client, sent, userId, opening }: PreparedCodeExchange) {
  const { tx, services } = ctx;
  const { app } = opening ?? client;
  await storeRehash(ctx, client);
  const user = await lockUser(ctx, userId);
  const isCode = eq(projectCodes.hash, hashOneTimeToken(sent.code));
  const appExists = await lockAccess(tx, app, userId);
  const [code] = await tx.select().from(projectCodes).where(isCode).for('update');
  if (!code) throw invalidGrant();
  const common = { node: nodeOfApp(app), target: { type: 'ProjectApp', id: app.id } };
  const metadata = { clientId: app.clientId, userId };
  const refused = (fault: string) => {
    ctx.record({ ...common, outcome: 'failed', code: 'INVALID_TOKEN', metadata: { ...metadata, fault } });
    return refuse(invalidGrant());
  };
  const mismatch = findMismatch(code, sent);
  if (code.sessionId !== null) {
    if (mismatch !== null) return refused(mismatch);
    const refusal = refused('reused');
    await endSessions(ctx, userId, eq(sessions.id, code.sessionId), systemActor);
    return refusal;
  }
  const fault = code.expiresAt <= services.clock.now() ? 'expired' : mismatch;
  const admitted =
    appExists &&
    user &&
    canSignIn(user) &&
    (code.ssoSessionId === null || (await lockSsoSession(ctx, code.ssoSessionId))) &&
    (await hasProjectAccess(tx, services, app, userId));
  if (fault !== null || !opening || !admitted) {
    await tx.delete(projectCodes).where(isCode);
    return refused(fault ?? 'user');
  }
  ctx.record({ ...common, actor: userAsActor(user), metadata });
  await noteUse(ctx, app);
  await writeSession(ctx, opening.session, user);
  // The code is stored as long as the session, so that a second use is detected at any time.
  const { id: sessionId, expiresAt } = opening.session;
  await tx.update(projectCodes).set({ sessionId, expiresAt }).where(isCode);
  return opening.tokens;
}

/**
 * Returns the parameter that does not match the code, or null. The redirect URI must equal that of the authorization
 * request (RFC 6749 §4.1.3), character by character.
 */
function findMismatch(
  code: typeof projectCodes.$inferSelect,
  { redirect_uri, code_verifier }: CodeRequest,
): 'redirectUri' | 'verifier' | null {
  if (code.redirectUri !== redirect_uri) return 'redirectUri';
  const challenge = createHash('sha256').update(code_verifier).digest('base64url');
  return equalHashes(Buffer.from(challenge), Buffer.from(code.challenge)) ? null : 'verifier';
}
