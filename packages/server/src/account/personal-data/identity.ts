import { and, asc, desc, eq, isNull } from 'drizzle-orm';
import { fail } from '../../errors.ts';
import { Account } from '../../schema/people/account.ts';
import { accountsOf } from '../../people/account.ts';
import { loadGrants } from '../../apps/access/consent.ts';
import { passkeysOf } from '../../sign-in/webauthn/registration.ts';
import { liveSessions } from '../../sessions/live-sessions.ts';
import { AuthenticationMethod, authenticationMethods } from '../../schema/sign-in/authentication-method.ts';
import { AppGrant, appGrants } from '../../schema/oauth/app-grant.ts';
import { Session, sessions } from '../../schema/sign-in/session.ts';
import { MfaFactor, mfaFactors } from '../../schema/sign-in/mfa-factor.ts';
import { Passkey } from '../../schema/sign-in/passkey.ts';
import { User, users } from '../../schema/people/user.ts';
import { list, single } from './section.ts';

/** The profile of the user. */
export const user = single(User.schema, async ({ tx, userId }) => {
  const [row] = await tx
    .select()
    .from(users)
    .where(and(eq(users.id, userId), isNull(users.deletedAt)));
  if (!row) throw fail('UNAUTHENTICATED');
  // Metadata that tenants store about the user belongs to them, so it is not exported.
  return { ...row, metadata: {} };
});

export const accounts = list(Account.schema, ({ tx, userId }) => accountsOf(tx, userId));

export const methods = list(AuthenticationMethod.schema, ({ tx, userId }) =>
  tx
    .select()
    .from(authenticationMethods)
    .where(eq(authenticationMethods.userId, userId))
    .orderBy(asc(authenticationMethods.createdAt), asc(authenticationMethods.id)),
);

/** The live sessions of the user; ended ones count as deleted. */
export const activeSessions = list(Session.schema, async ({ tx, services, userId, sessionId }) => {
  const rows = await tx
    .select()
    .from(sessions)
    .where(and(eq(sessions.userId, userId), liveSessions(services)))
    .orderBy(desc(sessions.lastUsedAt), desc(sessions.id));
  return rows.map((row) => ({ ...row, isCurrent: row.id === sessionId }));
});

/** The user's consents to apps. */
export const appConsents = list(AppGrant.schema, ({ tx, userId }) =>
  loadGrants(tx, eq(appGrants.userId, userId)),
);

export const factors = list(MfaFactor, ({ tx, userId }) =>
  tx
    .select()
    .from(mfaFactors)
    .where(eq(mfaFactors.userId, userId))
    .orderBy(asc(mfaFactors.createdAt), asc(mfaFactors.id)),
);

/** The passkeys of the user, without keys and counters, which are of no use to the user. */
export const ownPasskeys = list(Passkey.schema, ({ tx, userId }) => passkeysOf(tx, userId));
