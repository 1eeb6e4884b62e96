import { and, eq, gt, isNull, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { firstRefreshToken, hashRefreshToken } from '../../crypto/refresh-token.ts';
import { SYSTEM_NODE } from '../../db/nodes.ts';
import type { Context, Services } from '../../kernel/context.ts';
import type { Actor, Changes } from '../../kernel/event.ts';
import { projector } from '../../kernel/project.ts';
import { iso } from '../../values.ts';
import { rememberNetwork } from '../me/failed-attempts.ts';
import { sessions } from '../me/session.ts';
import { isEnrolled } from '../mfa/mfa-factor.ts';
import { endLeastUsed } from '../sessions/session-limit.ts';
import { Account, accountsOf, createAccount } from './account.ts';
import { nodeOfUser, userAsActor } from './user-node.ts';
import type { users } from '../users/user.ts';
import { SignedInUser, User } from '../users/user.ts';

/**
 * Opening and ending sessions, the same for every door: password, GitHub, command line, invitation.
 *
 * A door does it in two steps. `newSession` makes ids and tokens in `prepare`, because signing must not hold a
 * transaction; if the transaction fails, the session never exists and its token is refused. `openSession` writes the
 * rows, sets the cookie and builds the answer. A door that answers no token, but leads a browser on, needs neither:
 * `startSession` and the cookie will do.
 */
export type Run = Pick<
  Context,
  'tx' | 'services' | 'call' | 'record' | 'touch' | 'unchanged' | 'afterCommit'
>;

export type UserRow = typeof users.$inferSelect;
export type SessionRow = typeof sessions.$inferSelect;

export const SignIn = z
  .object({
    accessToken: z.string().describe('Token for calls, in `Authorization: Bearer`.'),
    refreshToken: z.string().describe('Exchange it for the next tokens; it works once.'),
    expiresIn: z.int().meta({ description: 'Seconds until the access token ends.' }),
    mfaRequired: z.boolean().describe('true: the second factor is still to be given.'),
    emailVerified: z.boolean().describe('Whether the address is verified.'),
    emailVerificationDeadline: iso
      .nullable()
      .meta({ description: 'Until then the address must be verified; null when it is.' }),
    user: SignedInUser.describe('Who has signed in.'),
    accounts: z.array(Account.schema).describe('The accounts of the user.'),
  })
  .meta({ id: 'SignIn', description: 'A new session with its tokens.' });

const DAY_MS = 86_400_000;

/** What an access token says of its session; computed from the stored state each time one is made. */
interface TokenFacts {
  readonly id: string;
  readonly userId: string;
  readonly acr: 'aal1' | 'aal2';
  readonly amr: readonly string[];
  readonly authenticatedAt: Date;
  readonly emailVerified: boolean;
}

export const accessTokenSeconds = ({ config }: Services): number => config.tokens.accessTokenMinutes * 60;

/** The claims of identity §10. Call it outside of a transaction. */
export function signAccessToken(services: Services, facts: TokenFacts): Promise<string> {
  const issuedAt = Math.floor(services.clock.now().getTime() / 1000);
  return services.keyring.sign(SYSTEM_NODE, {
    sub: facts.userId,
    aud: services.config.appUrl,
    jti: facts.id,
    type: 'session',
    email_verified: facts.emailVerified,
    acr: facts.acr,
    amr: facts.amr,
    auth_time: Math.floor(facts.authenticatedAt.getTime() / 1000),
    iat: issuedAt,
    exp: issuedAt + accessTokenSeconds(services),
  });
}

export const refreshKeys = ({ kek }: Services) => kek.deriveAll('refresh-token');

/** How a session comes about. */
interface Entrance {
  readonly kind?: 'browser' | 'cli' | 'projectApp';
  readonly amr: readonly string[];
  /** No sign-in inherits a second factor: more than `aal1` only where it was part of this one. */
  readonly acr?: 'aal1' | 'aal2';
  /** Absent: now. */
  readonly authenticatedAt?: Date;
  /** Of a session of an app: which it is, and what the user consented to. */
  readonly app?: { readonly id: string; readonly consented: readonly string[] | null } | null;
}

/** A session that is about to be started. */
export interface PlannedSession extends Required<Entrance> {
  readonly id: string;
  readonly expiresAt: Date;
  readonly refreshToken: string;
}

/** One whose user is known, with a token for him. */
export interface NewSession extends PlannedSession {
  readonly accessToken: string;
}

export function plannedSession(services: Services, entrance: Entrance): PlannedSession {
  const id = services.ids.next();
  const { kind = 'browser', acr = 'aal1', authenticatedAt = services.clock.now(), app = null } = entrance;
  return {
    id,
    kind,
    amr: entrance.amr,
    acr,
    authenticatedAt,
    app,
    expiresAt: new Date(authenticatedAt.getTime() + services.config.tokens.refreshTokenDays * DAY_MS),
    refreshToken: firstRefreshToken(refreshKeys(services), id),
  };
}

/** Ids and tokens of a new session. */
export async function newSession(
  services: Services,
  user: { readonly id: string; readonly emailVerified: boolean },
  entrance: Entrance,
): Promise<NewSession> {
  const session = plannedSession(services, entrance);
  const facts = { userId: user.id, emailVerified: user.emailVerified };
  return { ...session, accessToken: await signAccessToken(services, { ...session, ...facts }) };
}

/** Starts the session and answers the sign-in. The caller holds the user's row lock, so sign-ins are counted one by one. */
export async function openSession(
  ctx: Run,
  session: NewSession,
  user: UserRow,
): Promise<z.output<typeof SignIn>> {
  const { services } = ctx;
  const { accounts: owned, mfaRequired } = await startSession(ctx, session, user);
  return {
    accessToken: session.accessToken,
    refreshToken: session.refreshToken,
    expiresIn: accessTokenSeconds(services),
    mfaRequired,
    emailVerified: user.emailVerified,
    emailVerificationDeadline: user.emailVerified ? null : user.verificationDeadline,
    user,
    accounts: owned,
  };
}

/** Starts a session of this service, gives a browser its cookie, and answers the user's accounts. He has one now. */
export async function startSession(ctx: Run, session: PlannedSession, user: UserRow) {
  const { tx, call, services } = ctx;
  const owned = await accountsOf(tx, user.id);
  if (owned.length === 0) owned.push(await createAccount(ctx, user.id, 'personal'));
  await writeSession(ctx, session, user);
  if (session.kind === 'browser') setCookie(ctx, session.refreshToken, session.expiresAt);
  const mfaRequired = await isEnrolled(tx, user.id);
  // With half of a sign-in a network would become one that may go on guessing codes.
  if (!mfaRequired) await rememberNetwork(tx, services, user.id, call.network);
  return { accounts: owned, mfaRequired };
}

/** Writes and records the session, and ends the least recently used one if there are too many now. */
export async function writeSession(ctx: Run, session: PlannedSession, user: UserRow): Promise<void> {
  const { tx, call } = ctx;
  const [row] = await tx
    .insert(sessions)
    .values({
      id: session.id,
      userId: user.id,
      kind: session.kind,
      projectAppId: session.app?.id ?? null,
      consentedScopes: session.app?.consented ? [...session.app.consented] : null,
      acr: session.acr,
      amr: [...session.amr],
      ipAddress: call.address,
      userAgent: call.userAgent,
      authenticatedAt: session.authenticatedAt,
      lastUsedAt: session.authenticatedAt,
      expiresAt: session.expiresAt,
      refreshHash: hashRefreshToken(session.refreshToken),
    })
    .returning();
  const node = await nodeOfUser(tx, user.id);
  ctx.record({
    actor: userAsActor(user),
    event: 'session.created',
    data: sessionData(row as SessionRow),
    target: { type: 'Session', id: session.id },
    node,
  });
  await endLeastUsed(ctx, user, { id: session.id, acr: session.acr, appId: session.app?.id ?? null });
}

/** The cookie lives as long as the session may. A browser must never get a token that a rollback took back. */
export function setCookie(ctx: Run, refreshToken: string, expiresAt: Date): void {
  const { call, services } = ctx;
  const left = Math.floor((expiresAt.getTime() - services.clock.now().getTime()) / 1000);
  ctx.afterCommit(() => {
    call.effects.refreshCookie = { value: refreshToken, maxAgeSeconds: Math.max(0, left) };
  });
}

/** Sessions that still sign in: not ended, not expired, used within the idle time. */
export function liveSessions({ clock, config }: Services): SQL {
  const now = clock.now();
  const idleSince = new Date(now.getTime() - config.auth.sessionIdleDays * DAY_MS);
  return and(
    isNull(sessions.endedAt),
    gt(sessions.expiresAt, now),
    gt(sessions.lastUsedAt, idleSince),
  ) as SQL;
}

/** Whether this row is one of `liveSessions`. */
export function isLive({ clock, config }: Services, row: SessionRow): boolean {
  const now = clock.now().getTime();
  const idleUntil = row.lastUsedAt.getTime() + config.auth.sessionIdleDays * DAY_MS;
  return row.endedAt === null && row.expiresAt.getTime() > now && idleUntil > now;
}

/**
 * Ends the live sessions of one user that `which` names: their tokens are refused at once here and within a second
 * everywhere. Writes one `session.revoked` each, by `actor` or else the caller, and answers the ended rows.
 */
export async function endSessions(
  ctx: Run,
  userId: string,
  which?: SQL,
  actor?: Actor,
): Promise<SessionRow[]> {
  const { tx, services } = ctx;
  const ended = await tx
    .update(sessions)
    .set({ endedAt: services.clock.now() })
    .where(and(eq(sessions.userId, userId), which, liveSessions(services)))
    .returning();
  const node = ended.length > 0 ? await nodeOfUser(tx, userId) : undefined;
  for (const row of ended) {
    ctx.touch(`session:${row.id}`);
    ctx.record({
      actor,
      event: 'session.revoked',
      data: sessionData(row),
      target: { type: 'Session', id: row.id },
      node,
    });
  }
  return ended;
}

/** The public part of a session, for events. `isCurrent` is a matter of who asks, so it is not among it. */
export const sessionData = (row: SessionRow) => ({
  id: row.id,
  kind: row.kind,
  projectAppId: row.projectAppId,
  acr: row.acr,
  ipAddress: row.ipAddress,
  userAgent: row.userAgent,
  authenticatedAt: row.authenticatedAt,
  lastUsedAt: row.lastUsedAt,
  expiresAt: row.expiresAt,
  createdAt: row.createdAt,
});

const projectUser = projector(User.schema);

/** The public form of a user, outside of any scope. */
export const userData = (row: UserRow) =>
  projectUser({ ...row, metadata: {} }) as z.output<typeof User.schema>;

/** Says who the user is from now on, and that cached states of his sessions no longer do. */
export async function recordUpdated(ctx: Run, row: UserRow, changes: Changes): Promise<void> {
  ctx.touch(`user:${row.id}`);
  ctx.record({
    event: 'user.updated',
    data: userData(row),
    changes,
    target: { type: 'User', id: row.id },
    node: await nodeOfUser(ctx.tx, row.id),
  });
}
