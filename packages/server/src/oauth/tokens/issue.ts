import { and, eq, isNull } from 'drizzle-orm';
import { z } from 'zod';
import { commonScopes } from '@doorward/decision/app-scopes';
import { loadSubject } from '../../access/grants/grants.ts';
import { fail, type DoorwardError } from '../../errors.ts';
import type { Services } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { LiveApp } from '../../apps/access/app.ts';
import { isOffline } from '../../apps/access/openid-scopes.ts';
import type { OpenidScope } from '../../schema/apps/openid-scope.ts';
import { audienceOf } from '../../apps/access/resources.ts';
import { appForMember } from '../../sign-in/admission/sign-in-organization.ts';
import { inProfile } from '../../apps/access/token-profile.ts';
import { accessTokenSeconds } from '../../sessions/sign-in.ts';
import { organizationMembers, projectUsers } from '../../schema/rights/membership.ts';
import { projectGrants } from '../../schema/tenants/project-grant.ts';
import { projectApps } from '../../schema/apps/project-app.ts';
import { users } from '../../schema/people/user.ts';
import { organizationClaims, signIdToken } from '../../sign-in/authorize/id-token.ts';
import { userClaims } from './user-claims.ts';

/**
 * Tokens of an app for one user: an access token signed with the project's key, and the refresh token of the session.
 */
export const AppTokens = z
  .object({
    accessToken: z.string().describe('Token for API calls, sent in `Authorization: Bearer`.'),
    tokenType: z.literal('Bearer').describe('How it is sent.'),
    expiresIn: z.int().meta({ description: 'Seconds until the access token ends.' }),
    refreshToken: z.string().nullable().meta({
      description:
        'Exchange it for the next tokens; it works once. null: the app asked `openid` without `offline_access`.',
    }),
    idToken: z.string().nullable().meta({
      description: 'Who signed in (OpenID Connect), for the app alone; null: the app did not ask `openid`.',
    }),
    scope: z
      .string()
      .nullable()
      .meta({ description: 'What was granted, separated by spaces; null: not restricted.' }),
  })
  .meta({ id: 'AppTokens', description: 'Tokens of an app for one user. As a form: RFC 6749.' });

/** The session that a token is issued for. */
interface TokenSession {
  readonly id: string;
  readonly userId: string;
  readonly consented: readonly string[] | null;
  readonly openid: readonly OpenidScope[];
  /** Resource servers that the access token is for, in addition to this service. */
  readonly resources: readonly string[];
  readonly nonce: string | null;
  readonly acr: 'aal1' | 'aal2';
  readonly amr: readonly string[];
  readonly authenticatedAt: Date;
  readonly expiresAt: Date;
  readonly refreshToken: string;
}

/**
 * Signs an access token with the claims of identity §10. The claim `scopes` is for services that verify the token
 * offline; this service applies the current scopes of app and session. Signing is slow, so call it outside a
 * transaction.
 */
export async function issueTokens(
  db: Executor,
  services: Services,
  app: LiveApp,
  session: TokenSession,
): Promise<z.output<typeof AppTokens>> {
  const { id, userId, consented, openid, authenticatedAt, expiresAt, refreshToken } = session;
  const secondsOf = (time: Date) => Math.floor(time.getTime() / 1000);
  const authTime = secondsOf(authenticatedAt);
  const iat = secondsOf(services.clock.now());
  const exp = Math.min(iat + accessTokenSeconds(services), secondsOf(expiresAt));
  const scopes = commonScopes(app.scopes, consented);
  const granted = [...openid, ...(scopes ?? [])].join(' ');
  const own = {
    sub: userId,
    aud: audienceOf(services.config.appUrl, session.resources),
    jti: id,
    type: 'projectApp',
    scope: app.scope,
    ...organizationClaims(app),
    ...(scopes ? { scopes } : {}),
    client_id: app.clientId,
    auth_time: authTime,
    iat,
    exp,
  };
  const facts = { clientId: app.clientId, granted: granted === '' ? null : granted };
  const { typ, claims } = inProfile(app.accessTokenProfile, own, facts);
  const accessToken = await services.keyring.sign(app.tenantId, claims, { typ });
  const { acr, amr, nonce } = session;
  const claimed =
    app.idTokenClaims && openid.includes('openid') ? await claimsOfUser(db, userId, openid) : {};
  const identity = { sessionId: id, userId, acr, amr, authTime, iat, exp, accessToken, nonce, claimed };
  return {
    accessToken,
    tokenType: 'Bearer',
    expiresIn: exp - iat,
    refreshToken: isOffline(openid) ? refreshToken : null,
    idToken: openid.includes('openid') ? await signIdToken(services, app, identity) : null,
    scope: scopes && [...openid, ...scopes].join(' '),
  };
}

/** User claims for an id_token, with their current values, also after a refresh. */
async function claimsOfUser(
  db: Executor,
  userId: string,
  openid: readonly OpenidScope[],
): Promise<Readonly<Record<string, unknown>>> {
  const [user] = await db.select().from(users).where(eq(users.id, userId));
  return user ? userClaims(user, openid) : {};
}

/**
 * Whether the user still has access to the project: as a user of the project, as a member of its organization, or as
 * the owner of its account. No user has access while the organization is suspended.
 */
export async function hasProjectAccess(
  db: Executor,
  { resolver }: Services,
  app: LiveApp,
  userId: string,
): Promise<boolean> {
  const scope = await resolver.scopeOf(app.scope, db);
  if (!scope || scope.isSuspended) return false;
  if (app.organization) {
    const place = { organizationId: app.organization.id, userId };
    if (!(await appForMember(db, app, place))) return false;
  }
  const { related, alive } = await loadSubject(db, scope, userId);
  return related && alive;
}

/**
 * Share-locks the app, the grant and the memberships that give the user access, until commit. So a transaction that
 * ends one of them is either seen here, or starts later and finds the new session. Returns whether the app still
 * exists.
 */
export async function lockAccess(tx: Executor, app: LiveApp, userId: string): Promise<boolean> {
  const isMembershipIn = (table: typeof projectUsers | typeof organizationMembers, tenantId: string) =>
    and(eq(table.tenantId, tenantId), eq(table.userId, userId));
  if (app.sliceId !== null) {
    await tx
      .select({ id: projectGrants.id })
      .from(projectGrants)
      .where(eq(projectGrants.id, app.sliceId))
      .for('share');
  }
  await tx
    .select({ id: projectUsers.userId })
    .from(projectUsers)
    .where(isMembershipIn(projectUsers, app.sliceId ?? app.tenantId))
    .for('share');
  await tx
    .select({ id: organizationMembers.userId })
    .from(organizationMembers)
    .where(isMembershipIn(organizationMembers, app.organization?.id ?? app.owner.id))
    .for('share');
  const live = await tx
    .select({ id: projectApps.id })
    .from(projectApps)
    .where(and(eq(projectApps.id, app.id), isNull(projectApps.deletedAt)))
    .for('share');
  return live.length > 0;
}

/** The same error for everything that can be wrong with a code or a refresh token (RFC 6749 §5.2, `invalid_grant`). */
export const invalidGrant = (): DoorwardError =>
  fail('INVALID_TOKEN', {
    fix: 'Begin the sign-in again: a code works once, within 60 seconds, for the app, redirect_uri and verifier it was made for.',
  });
