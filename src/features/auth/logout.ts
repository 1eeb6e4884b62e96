import { and, eq, inArray, ne, not, or, type SQL } from 'drizzle-orm';
import { fail } from '../../errors.ts';
import type { Principal } from '../../kernel/context.ts';
import { sessions } from '../me/session.ts';
import { userAsActor } from '../identity/user-node.ts';
import { users } from '../users/user.ts';
import { heldBy } from '../sessions/rotation.ts';
import { isPending } from '../sessions/session-limit.ts';
import { endSessions, liveSessions, type Run } from '../identity/sign-in.ts';

/**
 * Ends the sessions that the caller proves to hold: by access token, by refresh token in the body, and by cookie.
 * The cookie speaks only for an allowed origin; when nothing else speaks, a foreign origin is refused. A session that has
 * yet to give its second factor ends nothing but itself: whoever has only the password must not sign the user out.
 * Answers how many sessions ended.
 */
export async function endPresented(
  ctx: Run,
  principal: Principal | null,
  input: { readonly refreshToken?: string | undefined; readonly allSessions: boolean },
): Promise<number> {
  const { tx, call } = ctx;
  const signedIn = principal?.type === 'session' ? principal : null;
  const onlyCookie = !signedIn && input.refreshToken === undefined && call.refreshCookie !== null;
  if (onlyCookie && !call.originAllowed) throw fail('ORIGIN_NOT_ALLOWED');
  ctx.afterCommit(() => {
    call.effects.refreshCookie = 'clear';
  });

  const tokens = [input.refreshToken, call.originAllowed ? call.refreshCookie : null];
  const named = [
    ...(signedIn ? [eq(sessions.id, signedIn.credentialId)] : []),
    ...tokens.flatMap((token) => heldBy(ctx, token ?? null) ?? []),
  ];
  const held =
    named.length === 0
      ? []
      : await tx
          .select({
            id: sessions.id,
            userId: sessions.userId,
            speaksForAll: and(ne(sessions.kind, 'projectApp'), not(isPending)) as SQL<boolean>,
            name: users.name,
          })
          .from(sessions)
          .innerJoin(users, eq(users.id, sessions.userId))
          .where(and(or(...named), liveSessions(ctx.services)));

  let ended = 0;
  for (const userId of [...new Set(held.map((session) => session.userId))].sort()) {
    const own = held.filter((session) => session.userId === userId);
    // An app's token speaks for the app's session only.
    const all = input.allSessions && own.some(({ speaksForAll }) => speaksForAll);
    const which = inArray(
      sessions.id,
      own.map(({ id }) => id),
    );
    const actor = userAsActor({ id: userId, name: own[0]?.name ?? '' });
    ended += (await endSessions(ctx, userId, all ? undefined : which, actor)).length;
  }
  if (ended === 0) ctx.unchanged();
  return ended;
}
