import { and, eq, inArray, ne, not, or, type SQL } from 'drizzle-orm';
import { fail } from '../../errors.ts';
import type { Principal } from '../../kernel/context.ts';
import type { Run } from '../../services.ts';
import { sessions } from '../../schema/sign-in/session.ts';
import { userAsActor } from '../../people/user-node.ts';
import { users } from '../../schema/people/user.ts';
import { isSessionOfToken } from '../../sessions/refresh-rotation.ts';
import { isPending } from '../../sessions/session-limit.ts';
import { endSessions, liveSessions } from '../../sessions/live-sessions.ts';

/**
 * Ends the sessions whose access token, refresh token or cookie the caller presents, or all sessions of their users.
 * The cookie counts only from an allowed origin; if it is the only credential, another origin is refused. A session
 * with a pending second factor can end only itself, because a thief who has only the password must not sign the user
 * out.
 *
 * @returns how many sessions ended
 * @throws ORIGIN_NOT_ALLOWED
 */
export async function endPresentedSessions(
  ctx: Run,
  principal: Principal | null,
  input: { readonly refreshToken?: string | undefined; readonly allSessions: boolean },
): Promise<number> {
  const { tx, call } = ctx;
  const signedIn = principal?.type === 'session' ? principal : null;
  const onlyCookie = !signedIn && input.refreshToken === undefined && call.refreshCookie !== null;
  if (onlyCookie && !call.originAllowed) throw fail('ORIGIN_NOT_ALLOWED');
  ctx.setCookies({ refreshCookie: 'clear' });

  const tokens = [input.refreshToken, call.originAllowed ? call.refreshCookie : null];
  const conditions = [
    ...(signedIn ? [eq(sessions.id, signedIn.credentialId)] : []),
    ...tokens.flatMap((token) => isSessionOfToken(ctx, token ?? null) ?? []),
  ];
  const presented =
    conditions.length === 0
      ? []
      : await tx
          .select({
            id: sessions.id,
            userId: sessions.userId,
            mayEndAll: and(ne(sessions.kind, 'projectApp'), not(isPending)) as SQL<boolean>,
            name: users.name,
          })
          .from(sessions)
          .innerJoin(users, eq(users.id, sessions.userId))
          .where(and(or(...conditions), liveSessions(ctx.services)));

  let ended = 0;
  for (const userId of [...new Set(presented.map((session) => session.userId))].sort()) {
    const ofUser = presented.filter((session) => session.userId === userId);
    // An app's token can end only the app's own session.
    const all = input.allSessions && ofUser.some(({ mayEndAll }) => mayEndAll);
    const onlyPresented = inArray(
      sessions.id,
      ofUser.map(({ id }) => id),
    );
    const actor = userAsActor({ id: userId, name: ofUser[0]?.name ?? '' });
    ended += (await endSessions(ctx, userId, all ? undefined : onlyPresented, actor)).length;
  }
  if (ended === 0) ctx.unchanged();
  return ended;
}
