import { and, eq, isNull, or, sql } from 'drizzle-orm';
import {
  hashRefreshToken,
  isAuthentic,
  parseRefreshToken,
  successorOf,
} from '../crypto/tokens/refresh-token.ts';
import type { Code } from '../errors.ts';
import type { Services, Run } from '../services.ts';
import type { NodeRef, Recording } from '../kernel/event.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { sessions, type SessionRow } from '../schema/sign-in/session.ts';
import { users, type UserRow } from '../schema/people/user.ts';
import { queueLogoutNotices } from './logout-notice.ts';
import { canSignIn } from './password-sign-in.ts';
import { refreshKeys } from './sign-in.ts';
import { isLive, liveSessions, sessionData } from './live-sessions.ts';
import { accountNode, nodeIdOfUser } from '../people/user-node.ts';
import { hasFactor } from '../people/enrolment.ts';

/*
 * Rotation of refresh tokens. A session and its refresh tokens form a family (identity §5). Each refresh replaces the
 * token by its successor, which is computed from the token itself. So a token that is presented twice within ten
 * seconds (a lost response, two tabs) gets the same successor. Any other use of a replaced token indicates a copy, and
 * the whole family ends. The operations decide who may present a token, and build the response.
 */

const RETRY_MS = 10_000;

export interface Family {
  readonly session: SessionRow;
  readonly user: UserRow;
  /** The node in which the user's events are recorded. */
  readonly node: NodeRef | undefined;
  /** Whether the user has a second factor. */
  readonly isEnrolled: boolean;
}

/** A presented token of a live family, of any generation, with its successor. */
export interface PresentedToken extends Family {
  readonly hash: string;
  readonly successor: string;
  /** Whether it is the newest token or the one just replaced; any other token gets nothing. */
  readonly isAccepted: boolean;
}

/** The session with its user. */
export async function loadFamily(db: Executor, sessionId: string): Promise<Family | undefined> {
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

/** Whether the session is live and its user may sign in. */
export const canRefresh = (services: Services, { session, user }: Family): boolean =>
  isLive(services, session) && canSignIn(user);

/**
 * Validates a presented token. Returns undefined if it is not authentic, its session is not live, or its user may not
 * sign in.
 */
export async function findPresentedToken(
  db: Executor,
  services: Services,
  token: string,
): Promise<PresentedToken | undefined> {
  const keys = refreshKeys(services);
  const parsed = parseRefreshToken(token);
  const family = parsed && isAuthentic(keys, token) ? await loadFamily(db, parsed.sessionId) : undefined;
  if (!family || !canRefresh(services, family)) return undefined;
  const hash = hashRefreshToken(token);
  const isAccepted = family.session.refreshHash === hash || isRetry(services, family.session, hash);
  return { ...family, hash, successor: successorOf(keys, token), isAccepted };
}

const isRetry = ({ clock }: Services, session: SessionRow, hash: string): boolean =>
  session.previousHash === hash &&
  session.rotatedAt !== null &&
  // The absolute value, because the clock may have been set back since the rotation.
  Math.abs(clock.now().getTime() - session.rotatedAt.getTime()) <= RETRY_MS;

/** SQL condition for the session whose newest or previous token this is; undefined if the token is not authentic. */
export function isSessionOfToken({ services }: Pick<Run, 'services'>, token: string | null) {
  const parsed = token === null ? null : parseRefreshToken(token);
  if (token === null || !parsed || !isAuthentic(refreshKeys(services), token)) return undefined;
  const hash = hashRefreshToken(token);
  const isToken = or(eq(sessions.refreshHash, hash), eq(sessions.previousHash, hash));
  return and(eq(sessions.id, parsed.sessionId), isToken);
}

/**
 * Replaces the token and returns the session. A retry gets the same successor; `isNew` is then false, and the caller
 * records nothing. Returns null if the token gets nothing. Returns `copied` if this call ended the family because the
 * token was reused; refuse the caller, but commit the transaction.
 */
export async function rotate(
  ctx: Run,
  { session: { id: sessionId }, hash, successor, isAccepted }: PresentedToken,
): Promise<{ readonly session: SessionRow; readonly isNew: boolean } | 'copied' | null> {
  const { tx, services } = ctx;
  const now = services.clock.now();
  const [rotated] = isAccepted
    ? // This single statement decides: of concurrent rotations only one finds the hash unchanged.
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
  if (rotated) return { session: rotated, isNew: true };
  const family = await loadFamily(tx, sessionId);
  if (!family || !canRefresh(services, family) || family.session.refreshHash === hash) return null;
  const { session } = family;
  if (!isRetry(services, session, hash)) return (await endFamily(ctx, session.id)) ? 'copied' : null;
  // If the encryption key was changed since the rotation, the successor differs, and the client must sign in again.
  const same = isAccepted && session.refreshHash === hashRefreshToken(successor);
  return same ? { session, isNew: false } : null;
}

/** Ends the family. Of concurrent calls only one ends it and returns true. */
async function endFamily({ tx, services, invalidate }: Run, sessionId: string): Promise<boolean> {
  const ended = await tx
    .update(sessions)
    .set({ endedAt: services.clock.now() })
    .where(and(eq(sessions.id, sessionId), isNull(sessions.endedAt)))
    .returning();
  await queueLogoutNotices(tx, services, ended);
  invalidate(`session:${sessionId}`);
  return ended.length > 0;
}

/** The record about a family that ended because one of its tokens was copied. */
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
