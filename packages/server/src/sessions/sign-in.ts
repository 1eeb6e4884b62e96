import { z } from 'zod';
import { firstRefreshToken, hashRefreshToken } from '../crypto/tokens/refresh-token.ts';
import { SYSTEM_NODE } from '../schema/nodes.ts';
import type { Run, Services } from '../services.ts';
import type { Changes } from '../kernel/event.ts';
import { projector } from '../kernel/output/projector.ts';
import { iso } from '../kernel/input/values.ts';
import { rememberNetwork } from '../people/lockout.ts';
import { sessions, type SessionRow } from '../schema/sign-in/session.ts';
import { isEnrolled } from '../people/enrolment.ts';
import type { OpenidScope } from '../schema/apps/openid-scope.ts';
import { endLeastUsed } from './session-limit.ts';
import { Account } from '../schema/people/account.ts';
import { accountsOf, createAccount } from '../people/account.ts';
import { nodeOfUser, userAsActor } from '../people/user-node.ts';
import { SignedInUser, User, type UserRow } from '../schema/people/user.ts';
import { sessionData } from './live-sessions.ts';

/**
 * How many hours a bound session lasts. After that the provider must confirm again that the person belongs to the
 * organization.
 */
export const BOUND_HOURS = 12;

/*
 * A sign-in opens its session in two steps, whatever the method (password, GitHub, command line, invitation).
 * `newSession` creates ids and tokens in `prepare`, because signing must not hold a transaction open; if the
 * transaction fails, the session never exists and its token is rejected. `openSession` writes the rows, sets the cookie
 * and builds the response. A sign-in that redirects a browser returns no token, so it signs none: `planSession` plans
 * the session, and `startSession` writes the rows and sets the cookie.
 */

export const SignIn = z
  .object({
    accessToken: z.string().describe('Token for API calls, sent in `Authorization: Bearer`.'),
    refreshToken: z.string().describe('Exchange it for the next tokens; it works once.'),
    expiresIn: z.int().meta({ description: 'Seconds until the access token ends.' }),
    mfaRequired: z.boolean().describe('true: the second factor is still required.'),
    emailVerified: z.boolean().describe('Whether the address is verified.'),
    emailVerificationDeadline: iso
      .nullable()
      .meta({ description: 'Until then the address must be verified; null when it is.' }),
    user: SignedInUser.describe('Who has signed in.'),
    accounts: z.array(Account.schema).describe('The accounts of the user.'),
  })
  .meta({ id: 'SignIn', description: 'A new session with its tokens.' });

const HOUR_MS = 3_600_000;

/** The state of a session that its access tokens contain; it is read each time a token is signed. */
interface AccessTokenInput {
  readonly id: string;
  readonly userId: string;
  readonly acr: 'aal1' | 'aal2';
  readonly amr: readonly string[];
  readonly authenticatedAt: Date;
  readonly emailVerified: boolean;
}

export const accessTokenSeconds = ({ config }: Services): number => config.tokens.accessTokenMinutes * 60;

/** Signs a token with the claims of identity §10. Signing is slow, so call it outside a transaction. */
export function signAccessToken(services: Services, session: AccessTokenInput): Promise<string> {
  const issuedAt = Math.floor(services.clock.now().getTime() / 1000);
  return services.keyring.sign(SYSTEM_NODE, {
    sub: session.userId,
    aud: services.config.appUrl,
    jti: session.id,
    type: 'session',
    email_verified: session.emailVerified,
    acr: session.acr,
    amr: session.amr,
    auth_time: Math.floor(session.authenticatedAt.getTime() / 1000),
    iat: issuedAt,
    exp: issuedAt + accessTokenSeconds(services),
  });
}

export const refreshKeys = ({ kek }: Services) => kek.deriveAll('refresh-token');

/** How the user signed in, and for what. */
interface SessionOptions {
  readonly kind?: 'browser' | 'cli' | 'projectApp';
  readonly amr: readonly string[];
  /** `aal2` only if the second factor was part of this sign-in; it is never inherited from an earlier sign-in. */
  readonly acr?: 'aal1' | 'aal2';
  /** Default: now. */
  readonly authenticatedAt?: Date;
  /** For an app session: the app, the scopes that the user consented to, and the browser sign-in. */
  readonly app?: {
    readonly id: string;
    readonly consented: readonly string[] | null;
    readonly openid: readonly OpenidScope[];
    readonly ssoSessionId: string | null;
    readonly resources: readonly string[];
    /** The organization that the user signed in for; null if none. */
    readonly organizationId: string | null;
  } | null;
  /** Set for a browser sign-in to all apps of a project. Such a sign-in issues no tokens (`sign-in/sso`). */
  readonly sso?: {
    readonly projectId: string;
    readonly factorAt: Date | null;
    /** The issuer of the OpenID Connect provider; null if none. */
    readonly issuer: string | null;
  } | null;
  /**
   * The organization whose provider vouched for the user, if any. The session covers only this organization, and lasts
   * only until the provider has to vouch again. An app session is for one organization anyway, so for it this only
   * limits the time.
   */
  readonly boundTo?: string | null;
}

/** A session that has not been written yet. */
export interface PlannedSession extends Required<SessionOptions> {
  readonly id: string;
  readonly expiresAt: Date;
  /** For `sso` this is the secret in the cookie. */
  readonly refreshToken: string;
}

/** A planned session with an access token for its user. */
export interface NewSession extends PlannedSession {
  readonly accessToken: string;
}

export function planSession(services: Services, options: SessionOptions): PlannedSession {
  const id = services.ids.next();
  const { kind = 'browser', acr = 'aal1', authenticatedAt = services.clock.now(), app = null } = options;
  const { sso = null, boundTo = null } = options;
  const hours = boundTo === null ? 24 * services.config.tokens.refreshTokenDays : BOUND_HOURS;
  return {
    id,
    kind,
    amr: options.amr,
    acr,
    authenticatedAt,
    app,
    sso,
    boundTo,
    expiresAt: new Date(authenticatedAt.getTime() + hours * HOUR_MS),
    refreshToken: firstRefreshToken(refreshKeys(services), id),
  };
}

/**
 * Limits an app session without a refresh token to the life of its access token, because nothing can use it afterwards.
 */
export const endingWithAccessToken = (services: Services, session: PlannedSession): PlannedSession => {
  const endOfToken = services.clock.now().getTime() + accessTokenSeconds(services) * 1000;
  return { ...session, expiresAt: new Date(Math.min(endOfToken, session.expiresAt.getTime())) };
};

/** Plans a session and signs its access token. */
export async function newSession(
  services: Services,
  user: { readonly id: string; readonly emailVerified: boolean },
  options: SessionOptions,
): Promise<NewSession> {
  const session = planSession(services, options);
  const facts = { userId: user.id, emailVerified: user.emailVerified };
  return { ...session, accessToken: await signAccessToken(services, { ...session, ...facts }) };
}

/**
 * Starts the session and builds the response of the sign-in. The caller holds the lock on the user's row, so that
 * concurrent sign-ins are counted one by one for the session limit.
 */
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

/**
 * Starts a session of this service and sets the cookie of a browser. Returns the user's accounts, and whether the
 * second factor is still required. A user without an account gets a personal one, unless the session is bound.
 */
export async function startSession(ctx: Run, session: PlannedSession, user: UserRow) {
  const { tx, call, services } = ctx;
  const owned = await accountsOf(tx, user.id);
  // An account belongs to the person, so a sign-in through an organization's provider does not create one.
  if (owned.length === 0 && session.boundTo === null)
    owned.push(await createAccount(ctx, user.id, 'personal'));
  await writeSession(ctx, session, user);
  if (session.kind === 'browser') setCookie(ctx, session.refreshToken, session.expiresAt);
  const mfaRequired = session.acr === 'aal1' && (await isEnrolled(tx, user.id));
  // After the password alone the network is not remembered, because from a remembered network codes may still be
  // guessed during a lockout.
  if (!mfaRequired) await rememberNetwork(tx, services, user.id, call.network);
  return { accounts: owned, mfaRequired };
}

/** Writes and records the session, and ends the least recently used sessions above the limit. */
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
      openidScopes: [...(session.app?.openid ?? [])],
      ssoSessionId: session.app?.ssoSessionId ?? null,
      organizationId: session.app?.organizationId ?? session.boundTo,
      ssoProjectId: session.sso?.projectId ?? null,
      ssoIssuer: session.sso?.issuer ?? null,
      factorAt: session.sso?.factorAt ?? null,
      resources: [...(session.app?.resources ?? [])],
      acr: session.acr,
      amr: [...session.amr],
      ipAddress: call.address,
      userAgent: call.userAgent,
      authenticatedAt: session.authenticatedAt,
      // The user may have signed in days ago, for another app.
      lastUsedAt: ctx.services.clock.now(),
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
  await endLeastUsed(ctx, user, {
    id: session.id,
    acr: session.acr,
    appId: session.app?.id ?? null,
    isSso: session.sso !== null,
  });
}

/**
 * Sets the cookie, which lives as long as the session may. It is set after commit, so that a browser never gets a token
 * that was rolled back.
 */
export function setCookie(ctx: Run, refreshToken: string, expiresAt: Date): void {
  const { services } = ctx;
  const remainingSeconds = Math.floor((expiresAt.getTime() - services.clock.now().getTime()) / 1000);
  ctx.setCookies({ refreshCookie: { value: refreshToken, maxAgeSeconds: Math.max(0, remainingSeconds) } });
}

const projectUser = projector(User.schema);

/** The public fields of a user, outside any scope. */
export const userData = (row: UserRow) =>
  projectUser({ ...row, metadata: {} }) as z.output<typeof User.schema>;

/** Records `user.updated` with the new state of the user, and invalidates the cached states of their sessions. */
export async function recordUpdated(ctx: Run, row: UserRow, changes: Changes): Promise<void> {
  ctx.invalidate(`user:${row.id}`);
  ctx.record({
    event: 'user.updated',
    data: userData(row),
    changes,
    target: { type: 'User', id: row.id },
    node: await nodeOfUser(ctx.tx, row.id),
  });
}
