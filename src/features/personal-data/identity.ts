import { and, asc, desc, eq, isNull } from 'drizzle-orm';
import { fail } from '../../errors.ts';
import { Account, accountsOf } from '../identity/account.ts';
import { liveSessions } from '../identity/sign-in.ts';
import { AuthenticationMethod, authenticationMethods } from '../me/authentication-method.ts';
import { Session, sessions } from '../me/session.ts';
import { MfaFactor, mfaFactors } from '../mfa/mfa-factor.ts';
import { User, users } from '../users/user.ts';
import { list, one } from './section.ts';

/** Who he is and how he signs in. */
export const user = one(User.schema, async ({ tx, userId }) => {
  const [row] = await tx
    .select()
    .from(users)
    .where(and(eq(users.id, userId), isNull(users.deletedAt)));
  if (!row) throw fail('UNAUTHENTICATED');
  // What tenants say of him belongs to their scopes.
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

/** Those that he is signed in with; ended ones are as good as deleted. */
export const signedIn = list(Session.schema, async ({ tx, services, userId, sessionId }) => {
  const rows = await tx
    .select()
    .from(sessions)
    .where(and(eq(sessions.userId, userId), liveSessions(services)))
    .orderBy(desc(sessions.lastUsedAt), desc(sessions.id));
  return rows.map((row) => ({ ...row, isCurrent: row.id === sessionId }));
});

export const factors = list(MfaFactor, ({ tx, userId }) =>
  tx
    .select()
    .from(mfaFactors)
    .where(eq(mfaFactors.userId, userId))
    .orderBy(asc(mfaFactors.createdAt), asc(mfaFactors.id)),
);
