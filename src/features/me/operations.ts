import { and, asc, eq, isNull } from 'drizzle-orm';
import { z } from 'zod';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import { mutation, query } from '../../kernel/operation.ts';
import { iso, uuid } from '../../kernel/values.ts';
import { organizationMembers } from '../memberships/membership.ts';
import { organizations } from '../organizations/organization.ts';
import { roles } from '../roles/role.ts';
import { Account, accounts } from '../identity/account.ts';
import { password } from '../identity/password-sign-in.ts';
import { User, users } from '../users/user.ts';
import { changePassword, prepareChange } from './change-password.ts';

const Me = z
  .object({
    user: User.schema,
    accounts: z.array(Account.schema),
    memberships: z.array(
      z
        .object({
          organizationId: uuid,
          organizationName: z.string(),
          role: z.object({ id: uuid, name: z.string() }).meta({ id: 'MembershipRole' }),
        })
        .meta({ id: 'Membership', description: 'An organization that the user belongs to.' }),
    ),
    emailVerified: z.boolean(),
    emailVerificationDeadline: iso.nullable(),
    mfa: z.object({ enabled: z.boolean(), verified: z.boolean() }).meta({
      id: 'MyMfa',
      description: 'Whether a second factor exists, and whether this session gave it.',
    }),
  })
  .meta({ id: 'Me', description: 'The signed-in user with what belongs to him.' });

export const me = query({
  rest: 'GET /me',
  summary: 'The signed-in user',
  access: 'session',
  input: {},
  output: Me,
  run: async (ctx) => {
    const { tx } = ctx;
    const { userId, acr } = callerOf(ctx);
    const [user] = await tx
      .select()
      .from(users)
      .where(and(eq(users.id, userId), isNull(users.deletedAt)));
    if (!user) throw fail('UNAUTHENTICATED');
    const owned = await tx
      .select()
      .from(accounts)
      .where(and(eq(accounts.ownerId, userId), isNull(accounts.deletedAt)))
      .orderBy(asc(accounts.createdAt), asc(accounts.id));
    const memberships = await tx
      .select({
        organizationId: organizations.id,
        organizationName: organizations.name,
        role: { id: roles.id, name: roles.name },
      })
      .from(organizationMembers)
      .innerJoin(organizations, eq(organizations.id, organizationMembers.tenantId))
      .innerJoin(roles, eq(roles.id, organizationMembers.roleId))
      .where(and(eq(organizationMembers.userId, userId), isNull(organizations.deletedAt)))
      .orderBy(asc(organizationMembers.createdAt), asc(organizations.id));
    return {
      // What tenants say of him belongs to their scopes.
      user: { ...user, metadata: {} },
      accounts: owned,
      memberships,
      emailVerified: user.emailVerified,
      emailVerificationDeadline: user.emailVerified ? null : user.verificationDeadline,
      mfa: { enabled: false, verified: acr === 'aal2' },
    };
  },
});

export const changeMyPassword = mutation({
  rest: 'POST /me/change-password',
  summary: 'Replace the password',
  description:
    'Ends all other sessions of the user. A wrong current password is 401, and this session lives on.',
  access: 'session',
  keepsRights: true,
  input: {
    currentPassword: password,
    newPassword: password,
    confirmPassword: password.optional().meta({ description: 'If sent, the same as `newPassword`.' }),
  },
  output: z
    .object({ changed: z.literal(true) })
    .meta({ id: 'ChangePasswordResult', description: 'The password is the new one.' }),
  emits: 'user.password_changed',
  codes: ['UNAUTHENTICATED'],
  limit: {
    class: 'auth',
    // By network too, so that a stolen session does not keep its user from changing the password.
    key: (_, { authentication, network }) =>
      authentication.ok ? `changeMyPassword ${authentication.principal.userId} ${network}` : null,
  },
  prepare: (ctx) => prepareChange(ctx.tx, ctx.services, callerOf(ctx), ctx.input),
  run: (ctx) => changePassword(ctx, callerOf(ctx), ctx.prepared),
});
