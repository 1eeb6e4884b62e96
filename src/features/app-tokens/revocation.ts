import { and, eq } from 'drizzle-orm';
import { readHeader, verifyJwt } from '../../crypto/jwt.ts';
import type { Services } from '../../kernel/context.ts';
import { issuerOf, nodeOfApp, type LiveApp } from '../app-access/app.ts';
import { heldBy } from '../sessions/rotation.ts';
import { endSessions, liveSessions, type Run } from '../identity/sign-in.ts';
import { userAsActor } from '../identity/user-node.ts';
import { sessions } from '../me/session.ts';
import { users } from '../users/user.ts';

/**
 * An app signs its user out (RFC 7009): either token ends the session, and with it both. What is no token of the app is
 * answered like one that has ended.
 */

/** The session for which the project's key signed this token, expired or not. */
async function sessionOfAccessToken(
  { keyring, config, clock }: Services,
  app: LiveApp,
  token: string,
): Promise<string | undefined> {
  const header = readHeader(token);
  const key = header && (await keyring.verification(header.kid));
  if (key?.tenantId !== app.tenantId) return undefined;
  const verified = await verifyJwt(key.publicKey, token, {
    issuer: issuerOf(config, app),
    audience: config.appUrl,
    types: ['projectApp'],
    now: clock.now(),
  });
  return verified.ok || verified.reason === 'expired' ? verified.claims.jti : undefined;
}

/** Verifies a signature, so call it in `prepare`. */
export async function sessionNamed(
  services: Services,
  app: LiveApp,
  token: string,
): Promise<{ readonly id: string } | { readonly refreshToken: string }> {
  const id = await sessionOfAccessToken(services, app, token);
  return id === undefined ? { refreshToken: token } : { id };
}

/** Answers how many sessions ended. */
export async function revoke(
  ctx: Run,
  app: LiveApp,
  named: Awaited<ReturnType<typeof sessionNamed>>,
): Promise<number> {
  const { tx, services } = ctx;
  const isIt = 'id' in named ? eq(sessions.id, named.id) : heldBy(ctx, named.refreshToken);
  const [held] = isIt
    ? await tx
        .select({ id: sessions.id, userId: sessions.userId, name: users.name })
        .from(sessions)
        .innerJoin(users, eq(users.id, sessions.userId))
        .where(and(isIt, eq(sessions.projectAppId, app.id), liveSessions(services)))
    : [];
  if (!held) return 0;
  const { id, userId, name } = held;
  const actor = userAsActor({ id: userId, name });
  const metadata = { clientId: app.clientId, userId };
  ctx.record({ actor, node: nodeOfApp(app), target: { type: 'Session', id }, metadata });
  return (await endSessions(ctx, userId, eq(sessions.id, id), actor)).length;
}
