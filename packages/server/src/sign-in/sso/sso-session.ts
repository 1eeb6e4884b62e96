import { and, eq, inArray, isNotNull, isNull } from 'drizzle-orm';
import { hashOneTimeToken, newOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { equalHashes } from '../../crypto/tokens/secrets.ts';
import type { Services, Run } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { sessions, type SessionRow } from '../../schema/sign-in/session.ts';
import { users, type UserRow } from '../../schema/people/user.ts';
import { acrOf } from '../../people/acr.ts';
import { boundOrganization } from '../flow/bound-person.ts';
import type { IdentifiedPerson } from '../flow/flow-data.ts';
import { BOUND_HOURS, writeSession } from '../../sessions/sign-in.ts';
import { userAsActor } from '../../people/user-node.ts';
import { endSessions, liveSessions } from '../../sessions/live-sessions.ts';
import { parseSsoCookie, setSsoCookie, type SsoEntry } from './sso-cookie.ts';

/*
 * The browser sign-in: one sign-in on the pages for all apps of an issuer (openid §8). It is a browser session without
 * tokens, which proves who the user is to the next app of the same project. When it ends, the app sessions that began
 * in it end too.
 */

const HOUR_MS = 3_600_000;
const DAY_SECONDS = 86_400;

/** The live session of this browser for the apps of the project, from the newest sign-in. */
export const findSsoSession = async (
  db: Executor,
  services: Services,
  cookie: string | null,
  projectId: string,
): Promise<SessionRow | undefined> => (await loadSsoSessions(db, services, cookie, projectId))[0];

/** The live sessions of this browser for the apps of the project, or of all projects, newest sign-in first. */
export async function loadSsoSessions(
  db: Executor,
  services: Services,
  cookie: string | null,
  projectId: string | undefined,
): Promise<SessionRow[]> {
  const entries = parseSsoCookie(cookie);
  if (entries.length === 0) return [];
  const rows = await db
    .select({ session: sessions })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(
      and(
        inArray(
          sessions.id,
          entries.map(({ id }) => id),
        ),
        projectId === undefined ? isNotNull(sessions.ssoProjectId) : eq(sessions.ssoProjectId, projectId),
        liveSessions(services),
        eq(users.status, 'active'),
        isNull(users.deletedAt),
      ),
    );
  const held = rows.map(({ session }) => session).filter((session) => isHeld(session, entries));
  const order = entries.map(({ id }) => id);
  return held.sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
}

const isHeld = ({ id, refreshHash }: SessionRow, entries: readonly SsoEntry[]): boolean => {
  const entry = entries.find((item) => item.id === id);
  const hash = entry && hashOneTimeToken(entry.secret);
  return hash !== undefined && equalHashes(Buffer.from(hash), Buffer.from(refreshHash));
};

/** The user of the session, with the proofs that still count: a second factor counts for SSO_MFA_HOURS. */
export function personOfSession({ config, clock }: Services, session: SessionRow): IdentifiedPerson {
  const factorUntil = (session.factorAt?.getTime() ?? 0) + config.auth.sso.factorHours * HOUR_MS;
  const isFactorFresh = factorUntil > clock.now().getTime();
  const { id: sessionId, userId, authenticatedAt, organizationId } = session;
  return {
    proof: {
      provider: 'sso',
      userId,
      sessionId,
      ...(organizationId !== null && { boundTo: organizationId }),
    },
    userId,
    authenticatedAt: authenticatedAt.toISOString(),
    amr: session.amr.filter((method) => isFactorFresh || acrOf([method]) === 'aal1'),
    factorAt: isFactorFresh ? (session.factorAt?.toISOString() ?? null) : null,
  };
}

/**
 * Stores what the user has proved for the next apps of the project, and returns the id of the session. Unless the user
 * continued an existing browser sign-in, the browser gets a new secret. If another user was signed in in this browser,
 * their session ends.
 */
export async function keepSignIn(
  ctx: Run,
  projectId: string,
  user: UserRow,
  person: IdentifiedPerson,
): Promise<string> {
  const { tx, services, call } = ctx;
  const now = services.clock.now();
  const authenticatedAt = new Date(person.authenticatedAt);
  const proved = {
    authenticatedAt,
    amr: [...person.amr],
    acr: acrOf(person.amr),
    factorAt: person.factorAt === null ? null : new Date(person.factorAt),
    lastUsedAt: now,
    expiresAt: endOf(services, { authenticatedAt, now, isBound: boundOrganization(person) !== undefined }),
  };
  if (person.proof.provider === 'sso') {
    const { sessionId } = person.proof;
    await tx.update(sessions).set(proved).where(eq(sessions.id, sessionId));
    return sessionId;
  }
  const identity = 'identity' in person.proof ? person.proof.identity : undefined;
  const { connection } = identity ?? {};
  const boundTo = boundOrganization(person) ?? null;
  const issuer = connection ? issuerOfConnection(connection.id) : (identity?.oidc?.issuer ?? null);
  const held = await loadSsoSessions(tx, services, call.ssoCookie, projectId);
  // App sessions refer to the browser sign-in in which they began. So a person's own session never becomes one bound to
  // an organization, or the reverse: the other kind of sign-in creates a separate session, and a logout ends both.
  const former = held.find(({ userId, organizationId }) => userId === user.id && organizationId === boundTo);
  const strangers = held.filter(({ userId }) => userId !== user.id);
  const secret = newOneTimeToken();
  const id = former?.id ?? services.ids.next();
  for (const { id: ended, userId } of strangers)
    await endSessions(ctx, userId, eq(sessions.id, ended), userAsActor(user));
  if (former) {
    await tx
      .update(sessions)
      .set({ ...proved, ssoIssuer: issuer, refreshHash: hashOneTimeToken(secret) })
      .where(eq(sessions.id, id));
  } else {
    const { amr, acr, factorAt, expiresAt } = proved;
    const opened = { id, kind: 'browser', amr, acr, authenticatedAt, expiresAt, app: null, boundTo } as const;
    const sso = { projectId, factorAt, issuer };
    await writeSession(ctx, { ...opened, refreshToken: secret, sso }, user);
  }
  const gone = [id, ...strangers.map((session) => session.id)];
  const others = parseSsoCookie(call.ssoCookie).filter((entry) => !gone.includes(entry.id));
  setSsoCookie(ctx, [{ id, secret }, ...others], services.config.auth.sso.maxDays * DAY_SECONDS);
  return id;
}

/**
 * The issuer that is stored for a session through a connection. It is not the issuer that the organization configured,
 * because other apps may trust that one.
 */
const issuerOfConnection = (id: string): string => `connection ${id}`;

/** The connection through which the session began; undefined if there was none. */
export const connectionOfSession = ({ organizationId, ssoIssuer }: SessionRow): string | undefined =>
  organizationId === null ? undefined : ssoIssuer?.split(' ')[1];

/**
 * The time at which a browser sign-in ends: when no app has used it for a while, but at the latest a fixed time after
 * the user signed in. By then, sessions of apps that count from the same sign-in have not ended either.
 */
function endOf(
  { config }: Services,
  {
    authenticatedAt,
    now,
    isBound,
  }: { readonly authenticatedAt: Date; readonly now: Date; readonly isBound: boolean },
): Date {
  const { idleHours } = config.auth.sso;
  const maxDays = Math.min(config.auth.sso.maxDays, config.tokens.refreshTokenDays);
  const latest = authenticatedAt.getTime() + (isBound ? BOUND_HOURS : 24 * maxDays) * HOUR_MS;
  return new Date(Math.min(now.getTime() + idleHours * HOUR_MS, latest));
}

/** Removes ended sessions from this browser's cookie. */
export function forgetSsoSessions(ctx: Run, ids: readonly string[]): void {
  const entries = parseSsoCookie(ctx.call.ssoCookie);
  const left = entries.filter(({ id }) => !ids.includes(id));
  if (left.length === entries.length) return;
  setSsoCookie(ctx, left, ctx.services.config.auth.sso.maxDays * DAY_SECONDS);
}
