import { and, eq, isNull } from 'drizzle-orm';
import { z } from 'zod';
import { namedByBoth } from '../../access/credentials.ts';
import { loadStanding } from '../../access/grants.ts';
import { fail, type DoorwardError } from '../../errors.ts';
import type { Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { LiveApp } from '../app-access/app.ts';
import { accessTokenSeconds } from '../identity/sign-in.ts';
import { organizationMembers, projectUsers } from '../memberships/membership.ts';
import { projectApps } from '../project-apps/project-app.ts';

/** What an app gets for its user: an access token that the project's key signs, and the refresh token of the session. */
export const AppTokens = z
  .object({
    accessToken: z.string().describe('Token for calls, in `Authorization: Bearer`.'),
    tokenType: z.literal('Bearer').describe('How it is sent.'),
    expiresIn: z.int().meta({ description: 'Seconds until the access token ends.' }),
    refreshToken: z.string().describe('Exchange it for the next tokens; it works once.'),
    scope: z
      .string()
      .nullable()
      .meta({ description: 'What the token may do, separated by spaces; null: not restricted.' }),
  })
  .meta({ id: 'AppTokens', description: 'Tokens of an app for one user. As a form: RFC 6749.' });

/** What a token says of its session. */
interface Facts {
  readonly id: string;
  readonly userId: string;
  readonly consented: readonly string[] | null;
  readonly authenticatedAt: Date;
  readonly expiresAt: Date;
  readonly refreshToken: string;
}

/**
 * The claims of identity §10. `scopes` are for whoever verifies the token without asking; here a token may do what app
 * and session say at that moment. Call it outside of a transaction.
 */
export async function issueTokens(
  services: Services,
  app: LiveApp,
  { id, userId, consented, authenticatedAt, expiresAt, refreshToken }: Facts,
): Promise<z.output<typeof AppTokens>> {
  const secondsOf = (time: Date) => Math.floor(time.getTime() / 1000);
  const iat = secondsOf(services.clock.now());
  const exp = Math.min(iat + accessTokenSeconds(services), secondsOf(expiresAt));
  const scopes = namedByBoth(app.scopes, consented);
  const accessToken = await services.keyring.sign(app.tenantId, {
    sub: userId,
    aud: services.config.appUrl,
    jti: id,
    type: 'projectApp',
    scope: app.scope,
    ...(scopes ? { scopes } : {}),
    client_id: app.clientId,
    auth_time: secondsOf(authenticatedAt),
    iat,
    exp,
  });
  const scope = scopes && scopes.join(' ');
  return { accessToken, tokenType: 'Bearer', expiresIn: exp - iat, refreshToken, scope };
}

/** Whether the project is still this user's: he takes part in it, is a member of its organization, or owns its account. */
export async function isInProject(
  db: Executor,
  { resolver }: Services,
  app: LiveApp,
  userId: string,
): Promise<boolean> {
  const scope = await resolver.scopeOf(app.scope, db);
  if (!scope) return false;
  const { related, alive } = await loadStanding(db, scope, userId);
  return related && alive;
}

/**
 * Holds what makes the project this user's, and the app, until commit: whoever ends either comes before, and is seen, or
 * after, and finds the session.
 */
export async function holdAccess(tx: Executor, app: LiveApp, userId: string): Promise<boolean> {
  const isHis = (table: typeof projectUsers | typeof organizationMembers, tenantId: string) =>
    and(eq(table.tenantId, tenantId), eq(table.userId, userId));
  await tx
    .select({ id: projectUsers.userId })
    .from(projectUsers)
    .where(isHis(projectUsers, app.tenantId))
    .for('share');
  await tx
    .select({ id: organizationMembers.userId })
    .from(organizationMembers)
    .where(isHis(organizationMembers, app.owner.id))
    .for('share');
  const live = await tx
    .select({ id: projectApps.id })
    .from(projectApps)
    .where(and(eq(projectApps.id, app.id), isNull(projectApps.deletedAt)))
    .for('share');
  return live.length > 0;
}

/** One answer for all that can be wrong with a code or a refresh token (RFC 6749 §5.2, `invalid_grant`). */
export const invalidGrant = (): DoorwardError =>
  fail('INVALID_TOKEN', {
    fix: 'Begin the sign-in again: a code works once, within 60 seconds, for the app, redirect_uri and verifier it was made for.',
  });
