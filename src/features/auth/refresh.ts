import { and, eq, isNull, sql } from 'drizzle-orm';
import { readHeader, verifyJwt } from '../../crypto/jwt.ts';
import { hashRefreshToken, isAuthentic, parseRefreshToken, successorOf } from '../../crypto/refresh-token.ts';
import type { DoorwardError } from '../../errors.ts';
import { fail } from '../../errors.ts';
import { refuse, type Refusal } from '../../kernel/reply.ts';
import type { Call, Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { sessions } from '../me/session.ts';
import { isEnrolled } from '../mfa/mfa-factor.ts';
import { nodeOfUser, userAsActor } from '../identity/user-node.ts';
import { users } from '../users/user.ts';
import { mayExist } from '../identity/password-sign-in.ts';
import {
  accessTokenSeconds,
  isLive,
  liveSessions,
  refreshKeys,
  sessionData,
  setCookie,
  signAccessToken,
  type Run,
  type SessionRow,
  type UserRow,
} from '../identity/sign-in.ts';

/**
 * Rotation of refresh tokens (identity §5). A session is a family; each refresh replaces its token by the successor,
 * which is computed from the token itself. So the same token shown twice within ten seconds (a lost answer, two tabs)
 * gets the same successor, and any other token that was once valid is an alarm: somebody has a copy, and the whole
 * family ends.
 */
const RETRY_MS = 10_000;

export interface Presented {
  readonly accessToken: string | null;
  readonly refreshToken: string;
}

interface Tokens {
  readonly accessToken?: string | undefined;
  readonly refreshToken?: string | undefined;
}

/** The tokens that identify the session: those of the body, else the cookie, for which the origin must be allowed. */
export function presentedBy(input: Tokens, call: Call): Presented {
  const { accessToken, refreshToken } = input;
  if (accessToken === undefined && refreshToken === undefined) {
    if (call.refreshCookie === null) throw fail('UNAUTHENTICATED');
    if (!call.originAllowed) throw fail('ORIGIN_NOT_ALLOWED');
    return { accessToken: null, refreshToken: call.refreshCookie };
  }
  if (accessToken === undefined || refreshToken === undefined) {
    const path = accessToken === undefined ? 'accessToken' : 'refreshToken';
    throw fail('VALIDATION_ERROR', { details: [{ path, code: 'required' }] });
  }
  const inBody = parseRefreshToken(refreshToken)?.sessionId;
  const inCookie = call.refreshCookie === null ? undefined : parseRefreshToken(call.refreshCookie)?.sessionId;
  if (inBody !== undefined && inCookie !== undefined && inBody !== inCookie) {
    throw fail('VALIDATION_ERROR', {
      details: [{ path: 'refreshToken', code: 'excluded' }],
      fix: 'The cookie belongs to another session: send either the tokens or the cookie.',
    });
  }
  return { accessToken, refreshToken };
}

/** What the run needs, made before its transaction opens. */
export interface PreparedRefresh {
  readonly sessionId: string;
  readonly user: UserRow;
  readonly hash: string;
  readonly successor: string;
  /** Null for a token that is neither the newest nor the one just replaced: it gets nothing. */
  readonly accessToken: string | null;
}

/** @throws UNAUTHENTICATED, EMAIL_VERIFICATION_REQUIRED */
export async function prepareRefresh(
  db: Executor,
  services: Services,
  call: Call,
  presented: Presented,
): Promise<PreparedRefresh> {
  const keys = refreshKeys(services);
  const token = parseRefreshToken(presented.refreshToken);
  const trusted =
    token !== null &&
    isAuthentic(keys, presented.refreshToken) &&
    (presented.accessToken === null || (await names(services, presented.accessToken, token.sessionId)));
  const state = trusted ? await stateOf(db, token.sessionId) : undefined;
  if (!token || !state || !isUsable(services, state)) throw await unauthenticated(db, services, call);
  const { session, user } = state;
  const hash = hashRefreshToken(presented.refreshToken);
  const known = session.refreshHash === hash || isRetry(services, session, hash);
  if (known && isOverdue(user, services)) throw verificationRequired();
  return {
    sessionId: session.id,
    user,
    hash,
    successor: successorOf(keys, presented.refreshToken),
    accessToken: known
      ? await signAccessToken(services, { ...session, emailVerified: user.emailVerified })
      : null,
  };
}

export const isOverdue = (user: UserRow, { clock }: Services): boolean =>
  !user.emailVerified && user.verificationDeadline !== null && user.verificationDeadline <= clock.now();

export const verificationRequired = (): DoorwardError =>
  fail('EMAIL_VERIFICATION_REQUIRED', {
    fix: 'Open the link in the verification mail, or ask for a new one at POST /api/auth/resend-verification.',
  });

/** Replaces the token, answers a retry with the same successor, or ends a family whose token was copied. */
export async function refresh(ctx: Run, prepared: PreparedRefresh) {
  const { tx, services } = ctx;
  const { sessionId, hash, successor, accessToken } = prepared;
  const now = services.clock.now();
  const answer = async (token: string, row: SessionRow) => {
    setCookie(ctx, successor, row.expiresAt);
    return {
      accessToken: token,
      refreshToken: successor,
      expiresIn: accessTokenSeconds(services),
      mfaRequired: row.acr === 'aal1' && (await isEnrolled(tx, row.userId)),
    };
  };
  if (accessToken !== null) {
    // The one statement that decides: of many at once, one finds the hash still in its place.
    const [won] = await tx
      .update(sessions)
      .set({
        refreshHash: hashRefreshToken(successor),
        previousHash: hash,
        rotatedAt: now,
        lastUsedAt: now,
        generation: sql`${sessions.generation} + 1`,
      })
      .where(
        and(eq(sessions.id, sessionId), eq(sessions.refreshHash, hash), liveSessions(services), userIsActive),
      )
      .returning();
    if (won) {
      const node = await nodeOfUser(tx, won.userId);
      ctx.record({ actor: userAsActor(prepared.user), target: { type: 'Session', id: sessionId }, node });
      return answer(accessToken, won);
    }
  }
  const state = await stateOf(tx, sessionId);
  if (state && isUsable(services, state) && state.session.refreshHash !== hash) {
    const { session } = state;
    if (!isRetry(services, session, hash)) return endFamily(ctx, session);
    // With a new encryption key the successor comes out differently; such a retry has to sign in again.
    const same = session.refreshHash === hashRefreshToken(successor);
    if (accessToken !== null && same) {
      ctx.unchanged();
      return answer(accessToken, session);
    }
  }
  throw await unauthenticated(tx, services, ctx.call);
}

/**
 * Kept although the caller gets a 401: from now on neither the thief's nor the user's copy works. Of many at once one
 * gives the alarm.
 */
async function endFamily(ctx: Run, session: SessionRow): Promise<Refusal> {
  const { tx, services, call } = ctx;
  const ended = await tx
    .update(sessions)
    .set({ endedAt: services.clock.now() })
    .where(and(eq(sessions.id, session.id), isNull(sessions.endedAt)))
    .returning({ id: sessions.id });
  if (ended.length === 0) throw await unauthenticated(tx, services, call);
  ctx.touch(`session:${session.id}`);
  ctx.record({
    event: 'session.reuse_detected',
    data: sessionData(session),
    target: { type: 'Session', id: session.id },
    node: await nodeOfUser(tx, session.userId),
    outcome: 'failed',
    code: 'UNAUTHENTICATED',
  });
  return refuse(await unauthenticated(tx, services, call));
}

const userIsActive = sql`exists (select 1 from users u
  where u.id = ${sessions.userId} and u.status = 'active' and u.deleted_at is null)`;

interface State {
  readonly session: SessionRow;
  readonly user: UserRow;
}

async function stateOf(db: Executor, sessionId: string): Promise<State | undefined> {
  const [state] = await db
    .select({ session: sessions, user: users })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(eq(sessions.id, sessionId));
  return state;
}

/** App sessions are refreshed at the token endpoint of the project sign-in, under the app's own rules. */
const isUsable = (services: Services, { session, user }: State): boolean =>
  session.kind !== 'projectApp' && isLive(services, session) && mayExist(user);

const isRetry = ({ clock }: Services, session: SessionRow, hash: string): boolean =>
  session.previousHash === hash &&
  session.rotatedAt !== null &&
  clock.now().getTime() - session.rotatedAt.getTime() <= RETRY_MS;

/** Whether an access token, expired or not, was signed by us for this session. */
async function names(
  { keyring, config, clock }: Services,
  token: string,
  sessionId: string,
): Promise<boolean> {
  const header = readHeader(token);
  const key = header && (await keyring.verification(header.kid));
  if (!key?.types.includes('session')) return false;
  const expected = { issuer: key.issuer, audience: config.appUrl, types: ['session'], now: clock.now() };
  const verified = await verifyJwt(key.publicKey, token, expected);
  if (!verified.ok && verified.reason === 'invalid') return false;
  return verified.claims.jti === sessionId;
}

/** The 401 of a refresh. It takes the cookie away only when the cookie's own session is dead. */
async function unauthenticated(db: Executor, services: Services, call: Call): Promise<DoorwardError> {
  if (call.refreshCookie !== null) {
    const inCookie = parseRefreshToken(call.refreshCookie);
    const state = inCookie ? await stateOf(db, inCookie.sessionId) : undefined;
    if (!state || !isUsable(services, state)) call.effects.refreshCookie = 'clear';
  }
  return fail('UNAUTHENTICATED');
}
