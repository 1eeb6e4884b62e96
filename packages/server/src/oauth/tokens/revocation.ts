import { and, eq } from 'drizzle-orm';
import { readHeader, verifyJwt } from '../../crypto/tokens/jwt.ts';
import type { Services, Run } from '../../services.ts';
import { issuerOf, nodeOfApp, type LiveApp } from '../../apps/access/app.ts';
import { appForMember } from '../../sign-in/admission/sign-in-organization.ts';
import { isSessionOfToken } from '../../sessions/refresh-rotation.ts';
import { endSessions, liveSessions } from '../../sessions/live-sessions.ts';
import { userAsActor } from '../../people/user-node.ts';
import { sessions } from '../../schema/sign-in/session.ts';
import { users } from '../../schema/people/user.ts';

/*
 * Revocation by an app (RFC 7009): revoking an access token or a refresh token ends its session, and with it both
 * tokens. Anything that isn't a token of the app is treated like an expired token.
 */

/** The session of an access token that the project's key signed, expired or not. */
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

/** Identifies the session to revoke. Verifies a signature, so call it in `prepare`, outside the transaction. */
export async function identifySession(
  services: Services,
  app: LiveApp,
  token: string,
): Promise<{ readonly id: string } | { readonly refreshToken: string }> {
  const id = await sessionOfAccessToken(services, app, token);
  return id === undefined ? { refreshToken: token } : { id };
}

/** Ends the session. Returns how many sessions ended. */
export async function revokeTokens(
  ctx: Run,
  app: LiveApp,
  target: Awaited<ReturnType<typeof identifySession>>,
): Promise<number> {
  const { tx, services } = ctx;
  const isTarget = 'id' in target ? eq(sessions.id, target.id) : isSessionOfToken(ctx, target.refreshToken);
  const [session] = isTarget
    ? await tx
        .select({
          id: sessions.id,
          userId: sessions.userId,
          organizationId: sessions.organizationId,
          name: users.name,
        })
        .from(sessions)
        .innerJoin(users, eq(users.id, sessions.userId))
        .where(and(isTarget, eq(sessions.projectAppId, app.id), liveSessions(services)))
    : [];
  if (!session) return 0;
  const { id, userId, name } = session;
  const actor = userAsActor({ id: userId, name });
  const used = (await appForMember(tx, app, session)) ?? app;
  const metadata = { clientId: app.clientId, userId };
  ctx.record({ actor, node: nodeOfApp(used), target: { type: 'Session', id }, metadata });
  return (await endSessions(ctx, userId, eq(sessions.id, id), actor)).length;
}
