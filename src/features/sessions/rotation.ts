import { and, eq, isNull, or, sql } from 'drizzle-orm';
import { hashRefreshToken, isAuthentic, parseRefreshToken, successorOf } from '../../crypto/refresh-token.ts';
import type { Code } from '../../errors.ts';
import type { Services } from '../../kernel/context.ts';
import type { NodeRef, Recording } from '../../kernel/event.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { sessions } from '../me/session.ts';
import { users } from '../users/user.ts';
import { mayExist } from '../identity/password-sign-in.ts';
import {
  isLive,
  liveSessions,
  refreshKeys,
  sessionData,
  type Run,
  type SessionRow,
  type UserRow,
} from '../identity/sign-in.ts';
import { accountNode, nodeIdOfUser } from '../identity/user-node.ts';
import { hasFactor } from '../mfa/mfa-factor.ts';

/**
 * Rotation of refresh tokens (identity §5). A session is a family; each refresh replaces its token by the successor,
 * which is computed from the token itself. So the same token shown twice within ten seconds (a lost answer, two tabs)
 * gets the same successor, and any other token that was once valid is an alarm: somebody has a copy, and the whole
 * family ends. Who may show a token, and what he is answered, is the business of each door.
 */
const RETRY_MS = 10_000;

/** The session that a token belongs to, with its user. */
export interface Family {
  readonly session: SessionRow;
  readonly user: UserRow;
  /** Where what is recorded of the user belongs. */
  readonly node: NodeRef | undefined;
  /** Whether the user has a second factor. */
  readonly isEnrolled: boolean;
}

/** A token of a live family, whichever generation, with what will follow it. */
export interface Shown extends Family {
  readonly hash: string;
  readonly successor: string;
  /** Whether it is the newest token or the one just replaced: any other gets nothing. */
  readonly isKnown: boolean;
}

export async function familyOf(db: Executor, sessionId: string): Promise<Family | undefined> {
  const [family] = await db
    .select({
      session: sessions,
      user: users,
      nodeId: nodeIdOfUser(users.id),
      isEnrolled: hasFactor(users.id),
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(eq(sessions.id, sessionId))
    .prepare('session_family')
    .execute();
  if (!family) return undefined;
  const { nodeId, ...others } = family;
  return { ...others, node: nodeId === null ? undefined : accountNode(nodeId) };
}

export const canRefresh = (services: Services, { session, user }: Family): boolean =>
  isLive(services, session) && mayExist(user);

/** Undefined for what is no token of ours, or one whose family has ended. */
export async function shownToken(
  db: Executor,
  services: Services,
  token: string,
): Promise<Shown | undefined> {
  const keys = refreshKeys(services);
  const parsed = parseRefreshToken(token);
  const family = parsed && isAuthentic(keys, token) ? await familyOf(db, parsed.sessionId) : undefined;
  if (!family || !canRefresh(services, family)) return undefined;
  const hash = hashRefreshToken(token);
  const isKnown = family.session.refreshHash === hash || isRetry(services, family.session, hash);
  return { ...family, hash, successor: successorOf(keys, token), isKnown };
}

const isRetry = ({ clock }: Services, session: SessionRow, hash: string): boolean =>
  session.previousHash === hash &&
  session.rotatedAt !== null &&
  // Neither long ago nor, on a clock that was set back since, far ahead.
  Math.abs(clock.now().getTime() - session.rotatedAt.getTime()) <= RETRY_MS;

/** The session of which this is the newest token or the last but one; undefined for what is no token of ours. */
export function heldBy({ services }: Pick<Run, 'services'>, token: string | null) {
  const parsed = token === null ? null : parseRefreshToken(token);
  if (token === null || !parsed || !isAuthentic(refreshKeys(services), token)) return undefined;
  const hash = hashRefreshToken(token);
  const isItsToken = or(eq(sessions.refreshHash, hash), eq(sessions.previousHash, hash));
  return and(eq(sessions.id, parsed.sessionId), isItsToken);
}

/**
 * Replaces the token, or finds the same successor for a retry, and answers the session; the caller records the first.
 * Null: the token gets nothing. `copied`: neither does anybody's from now on, which must be kept although the caller is
 * refused.
 */
export async function rotate(
  ctx: Run,
  { session: { id: sessionId }, hash, successor, isKnown }: Shown,
): Promise<{ readonly session: SessionRow; readonly isNew: boolean } | 'copied' | null> {
  const { tx, services } = ctx;
  const now = services.clock.now();
  const [won] = isKnown
    ? // The one statement that decides: of many at once, one finds the hash still in its place.
      await tx
        .update(sessions)
        .set({
          refreshHash: hashRefreshToken(successor),
          previousHash: hash,
          rotatedAt: now,
          lastUsedAt: now,
          generation: sql`${sessions.generation} + 1`,
        })
        .where(
          and(
            eq(sessions.id, sessionId),
            eq(sessions.refreshHash, hash),
            liveSessions(services),
            userIsActive,
          ),
        )
        .returning()
        .prepare('session_rotation')
        .execute()
    : [];
  if (won) return { session: won, isNew: true };
  const family = await familyOf(tx, sessionId);
  if (!family || !canRefresh(services, family) || family.session.refreshHash === hash) return null;
  const { session } = family;
  if (!isRetry(services, session, hash)) return (await endFamily(ctx, session.id)) ? 'copied' : null;
  // With a new encryption key the successor comes out differently; such a retry has to sign in again.
  const same = isKnown && session.refreshHash === hashRefreshToken(successor);
  return same ? { session, isNew: false } : null;
}

/** Of many at once one ends the family, and gives the alarm. */
async function endFamily({ tx, services, touch }: Run, sessionId: string): Promise<boolean> {
  const ended = await tx
    .update(sessions)
    .set({ endedAt: services.clock.now() })
    .where(and(eq(sessions.id, sessionId), isNull(sessions.endedAt)))
    .returning({ id: sessions.id });
  touch(`session:${sessionId}`);
  return ended.length > 0;
}

/** What is recorded of a family that ended because one of its tokens was copied. */
export const reuseDetected = ({ session, node }: Family, code: Code): Recording => ({
  event: 'session.reuse_detected',
  data: sessionData(session),
  target: { type: 'Session', id: session.id },
  node,
  outcome: 'failed',
  code,
});

const userIsActive = sql`exists (select 1 from users u
  where u.id = ${sessions.userId} and u.status = 'active' and u.deleted_at is null)`;
