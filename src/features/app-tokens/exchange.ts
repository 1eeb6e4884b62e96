import { createHash } from 'node:crypto';
import { eq } from 'drizzle-orm';
import type { z } from 'zod';
import { hashOneTimeToken } from '../../crypto/one-time-token.ts';
import { equalHashes } from '../../crypto/secrets.ts';
import type { Call, Services } from '../../kernel/context.ts';
import { refuse } from '../../kernel/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { nodeOfApp } from '../app-access/app.ts';
import { isOwnerOverdue } from '../sign-in-protection/overdue.ts';
import { mayExist } from '../identity/password-sign-in.ts';
import {
  endSessions,
  plannedSession,
  writeSession,
  type PlannedSession,
  type Run,
} from '../identity/sign-in.ts';
import { systemActor, userAsActor } from '../identity/user-node.ts';
import { lockUser } from '../identity/verification.ts';
import { sessions } from '../me/session.ts';
import { projectCodes } from '../project-sign-in/project-code.ts';
import { users } from '../users/user.ts';
import { keepRehash, type Client } from './client.ts';
import { holdAccess, invalidGrant, isInProject, issueTokens, type AppTokens } from './issue.ts';

/** An authorization code becomes a session of the app (identity §12, RFC 6749 §4.1.3, RFC 7636 §4.6). */

export interface SentCode {
  readonly code: string;
  readonly redirect_uri: string;
  readonly code_verifier: string;
}

/** What the exchange needs, made before its transaction opens. */
export interface PreparedCode {
  readonly client: Client;
  readonly sent: SentCode;
  readonly userId: string;
  /** Null where there will be none: the code was used, or the user may not sign in. */
  readonly opening: {
    readonly session: PlannedSession;
    readonly tokens: z.output<typeof AppTokens>;
  } | null;
}

/**
 * A code of another app stays good: whoever got hold of it must not be able to burn it by showing it as his own.
 * @throws INVALID_TOKEN, RATE_LIMITED
 */
export async function prepareCode(
  db: Executor,
  services: Services,
  { network }: Call,
  client: Client,
  sent: SentCode,
): Promise<PreparedCode> {
  const { app } = client;
  const hash = hashOneTimeToken(sent.code);
  await services.limiter.consume('auth', `projectToken ${hash} ${network}`);
  const [found] = await db
    .select({ user: users, code: projectCodes })
    .from(projectCodes)
    .innerJoin(users, eq(users.id, projectCodes.userId))
    .where(eq(projectCodes.hash, hash));
  if (found?.code.appId !== app.id) throw invalidGrant();
  if (await isOwnerOverdue(db, services, app.owner.id)) throw invalidGrant();
  const { user, code } = found;
  const { acr, amr, scopes: consented, authenticatedAt } = code;
  if (code.sessionId !== null || !mayExist(user)) return { client, sent, userId: user.id, opening: null };
  const session = plannedSession(services, {
    kind: 'projectApp',
    acr,
    amr,
    authenticatedAt,
    app: { id: app.id, consented },
  });
  const tokens = await issueTokens(services, app, { ...session, userId: user.id, consented });
  return { client, sent, userId: user.id, opening: { session, tokens } };
}

/**
 * Uses the code up and opens the session. A second use ends the session that the first opened: when two clients hold
 * one code and its verifier, nobody knows which of them is the thief. A used code without the verifier ends nothing,
 * because codes stand in browser histories and logs. A request that does not fit the code uses it up too. The lock on
 * the user's row orders concurrent uses; refusals are recorded.
 */
export async function exchangeCode(ctx: Run, { client, sent, userId, opening }: PreparedCode) {
  const { tx, services } = ctx;
  const { app } = client;
  await keepRehash(ctx, client);
  const user = await lockUser(ctx, userId);
  const isIt = eq(projectCodes.hash, hashOneTimeToken(sent.code));
  const appLives = await holdAccess(tx, app, userId);
  const [code] = await tx.select().from(projectCodes).where(isIt).for('update');
  if (!code) throw invalidGrant();
  const common = { node: nodeOfApp(app), target: { type: 'ProjectApp', id: app.id } };
  const metadata = { clientId: app.clientId, userId };
  const refused = (fault: string) => {
    ctx.record({ ...common, outcome: 'failed', code: 'INVALID_TOKEN', metadata: { ...metadata, fault } });
    return refuse(invalidGrant());
  };
  const unbound = unboundPart(code, sent);
  if (code.sessionId !== null) {
    if (unbound !== null) return refused(unbound);
    const refusal = refused('reused');
    await endSessions(ctx, userId, eq(sessions.id, code.sessionId), systemActor);
    return refusal;
  }
  const fault = code.expiresAt <= services.clock.now() ? 'expired' : unbound;
  const admitted = appLives && user && mayExist(user) && (await isInProject(tx, services, app, userId));
  if (fault !== null || !opening || !admitted) {
    await tx.delete(projectCodes).where(isIt);
    return refused(fault ?? 'user');
  }
  ctx.record({ ...common, actor: userAsActor(user), metadata });
  await writeSession(ctx, opening.session, user);
  // Known as long as the session, so that a second use is seen whenever it comes.
  const { id: sessionId, expiresAt } = opening.session;
  await tx.update(projectCodes).set({ sessionId, expiresAt }).where(isIt);
  return opening.tokens;
}

/**
 * The part of the request that does not match the code. The redirect URI is compared with that of the authorization
 * request, character by character (RFC 9700 §2.1).
 */
function unboundPart(
  code: typeof projectCodes.$inferSelect,
  { redirect_uri, code_verifier }: SentCode,
): 'redirectUri' | 'verifier' | null {
  if (code.redirectUri !== redirect_uri) return 'redirectUri';
  const challenge = createHash('sha256').update(code_verifier).digest('base64url');
  return equalHashes(Buffer.from(challenge), Buffer.from(code.challenge)) ? null : 'verifier';
}
