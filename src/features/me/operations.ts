import { and, asc, eq, isNull } from 'drizzle-orm';
import { z } from 'zod';
import { pageOfOwn } from '../../db/page.ts';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import { pageOf, paging } from '../../kernel/inputs.ts';
import { mutation, query } from '../../kernel/operation.ts';
import { iso, uuid } from '../../kernel/values.ts';
import { organizationMembers } from '../memberships/membership.ts';
import { organizations } from '../organizations/organization.ts';
import { roles } from '../roles/role.ts';
import { Account, accounts } from '../identity/account.ts';
import { password } from '../identity/password-sign-in.ts';
import { changePassword, prepareChange } from './change-password.ts';
import { endSessions, liveSessions } from '../identity/sign-in.ts';
import { User, users } from '../users/user.ts';
import { Session, SessionKind, sessions } from './session.ts';

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

export const myUserSessions = query({
  rest: 'GET /me/sessions',
  summary: 'List the sessions in which you are signed in',
  access: 'session',
  input: { ...paging(Session), kind: SessionKind.optional() },
  output: pageOf(Session),
  run: async (ctx) => {
    const { tx, services, input } = ctx;
    const { userId, credentialId } = callerOf(ctx);
    const page = await pageOfOwn(tx, services.cursors, {
      entity: Session,
      list: 'myUserSessions',
      input,
      userId,
      filters: [liveSessions(services), input.kind && eq(sessions.kind, input.kind)],
    });
    const items = page.items as (typeof sessions.$inferSelect)[];
    return { ...page, items: items.map((row) => ({ ...row, isCurrent: row.id === credentialId })) };
  },
});

export const revokeMyUserSession = mutation({
  rest: 'DELETE /me/sessions/:id',
  summary: 'End one of your sessions',
  description: 'Its access and refresh tokens are refused from now on.',
  access: 'session',
  keepsRights: true,
  input: { id: uuid },
  output: Session.schema,
  emits: 'session.revoked',
  run: async (ctx) => {
    const { userId, credentialId } = callerOf(ctx);
    const [row] = await endSessions(ctx, userId, eq(sessions.id, ctx.input.id));
    if (!row) throw fail('NOT_FOUND');
    return { ...row, isCurrent: row.id === credentialId };
  },
});
