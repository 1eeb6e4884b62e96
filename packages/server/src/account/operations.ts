import { eq } from 'drizzle-orm';
import { z } from 'zod';
import { pageOfOwn } from '../db/query/page.ts';
import { fail } from '../errors.ts';
import { callerOf } from '../kernel/context.ts';
import { pageOf, paging } from '../kernel/input/inputs.ts';
import { mutation, query } from '../declare.ts';
import { email, text, url, uuid } from '../kernel/input/values.ts';
import { removePicture } from '../people/pictures/remove-picture.ts';
import { Account, AccountType } from '../schema/people/account.ts';
import { password } from '../sessions/password-sign-in.ts';
import { changePassword, prepareChange } from './change-password.ts';
import { endSessions, liveSessions } from '../sessions/live-sessions.ts';
import { Locale, User } from '../schema/people/user.ts';
import { AuthenticationMethod, Provider } from '../schema/sign-in/authentication-method.ts';
import { attachment, exportPersonalData, PersonalExport } from './personal-data/export.ts';
import { nodeOfUser } from '../people/user-node.ts';
import { deleteSelf, DeletedMe } from './deletion.ts';
import { addAccount, changeSelf } from './profile.ts';
import { Me, readSelf, visibleToSession } from './self.ts';
import { Session, SessionKind, sessions } from '../schema/sign-in/session.ts';
import { addMethod, prepareMethod, removeMethod } from './sign-in-methods.ts';

export const me = query({
  rest: 'GET /me',
  summary: 'Read the signed-in user',
  access: 'session',
  admits: ['pending-mfa', 'bound-session'],
  input: {},
  output: Me,
  run: async (ctx) => {
    const caller = callerOf(ctx);
    const self = await readSelf(ctx.tx, caller.userId, ctx.services.config.operators);
    if (!self) throw fail('UNAUTHENTICATED');
    const { user, isEnrolled: enabled, ...owned } = visibleToSession(caller, self);
    return {
      // Metadata about a user belongs to the tenants that set it; they read it in their scopes.
      user: { ...user, metadata: {} },
      ...owned,
      emailVerified: user.emailVerified,
      emailVerificationDeadline: user.emailVerified ? null : user.verificationDeadline,
      mfa: { enabled, verified: caller.acr === 'aal2' },
    };
  },
});

export const changeMyPassword = mutation({
  rest: 'POST /me/change-password',
  whileImpersonating: 'refused',
  summary: 'Change your password',
  description:
    'Ends all other sessions of the user. A wrong current password is a 401 that does not end this session.',
  access: 'session',
  permissionChange: 'none',
  input: {
    currentPassword: password.describe('Your current password.'),
    newPassword: password.meta({
      description: 'The new password.',
      examples: ['four lanterns in the harbour'],
    }),
    confirmPassword: password.optional().meta({
      description: 'If sent, the same as `newPassword`.',
      examples: ['four lanterns in the harbour'],
    }),
  },
  output: z
    .object({ changed: z.literal(true).describe('Always true.') })
    .meta({ id: 'ChangePasswordResult', description: 'The new password is set.' }),
  emits: 'user.password_changed',
  codes: ['UNAUTHENTICATED'],
  limit: {
    class: 'auth',
    // Limits by network too, so that a thief of the session cannot use up the limit of its user.
    key: (_, { authentication, network }) =>
      authentication.ok ? `changeMyPassword ${authentication.principal.userId} ${network}` : null,
  },
  prepare: (ctx) => prepareChange(ctx.tx, ctx.services, callerOf(ctx), ctx.call.network, ctx.input),
  run: (ctx) => changePassword(ctx, callerOf(ctx), ctx.prepared),
});

/**
 * Accepts only null. Users upload pictures instead, so that browsers never load an image from a URL that another user
 * chose.
 */
const pictureRemoval = url
  .nullable()
  .refine((value) => value === null, { params: { code: 'not_allowed' } })
  .meta({ description: 'Only null: removes the picture.' });

export const updateMe = mutation({
  rest: 'PATCH /me',
  whileImpersonating: 'refused',
  summary: 'Change your name or language, or remove your picture',
  access: 'session',
  input: {
    name: text(1, 255)
      .optional()
      .meta({ description: 'Your display name.', examples: ['Ada Lovelace'] }),
    locale: Locale.nullable()
      .optional()
      .describe('Language of your mails; null: the language of the browser.'),
    pictureUrl: pictureRemoval.optional(),
  },
  output: User.schema,
  emits: 'user.updated',
  run: async (ctx) => {
    const changed = await changeSelf(ctx, ctx.input);
    if (ctx.input.pictureUrl === null) await removePicture(ctx.tx, changed.id);
    return { ...changed, metadata: {} };
  },
});

export const deleteMe = mutation({
  rest: 'DELETE /me',
  whileImpersonating: 'refused',
  summary: 'Delete yourself, your accounts and every organization whose only member you are',
  description:
    'Ends every session and every ProjectUser key. Your address stays taken until purgeAt; hardDelete=true purges at once. 409 while you are the last owner of an organization that has other members.',
  access: 'session',
  stepUp: true,
  input: {
    hardDelete: z.boolean().default(false).describe('true: purge at once instead of after the retention.'),
  },
  output: DeletedMe,
  emits: 'user.deleted',
  codes: ['LAST_OWNER'],
  run: (ctx) => deleteSelf(ctx, ctx.input.hardDelete),
});

export const exportMe = mutation({
  rest: 'GET /me/export',
  whileImpersonating: 'refused',
  only: 'rest',
  bare: true,
  summary: 'Download your personal data',
  description:
    'A JSON file with a consistent snapshot. The export is a mutation, because it writes an audit entry.',
  access: 'session',
  stepUp: true,
  permissionChange: 'none',
  input: {},
  output: PersonalExport,
  limit: { class: 'export', key: () => '' },
  prepare: (ctx) => exportPersonalData(ctx.tx, ctx.services, callerOf(ctx)),
  run: async (ctx) => {
    const { userId } = callerOf(ctx);
    ctx.record({ target: { type: 'User', id: userId }, node: await nodeOfUser(ctx.tx, userId) });
    return attachment(`doorward-export-${userId}.json`, ctx.prepared);
  },
});

const CreatedAccount = z
  .object({
    account: Account.schema.describe('The new account.'),
    accounts: z.array(Account.schema).describe('All accounts of the user.'),
  })
  .meta({ id: 'CreatedAccount', description: 'The new account, and all accounts of the user.' });

export const createMyAccount = mutation({
  rest: 'POST /me/accounts',
  whileImpersonating: 'refused',
  summary: 'Create an account of the type that you do not have yet',
  access: 'session',
  input: {
    type: AccountType.optional().meta({ description: 'Default: the type that you do not have yet.' }),
  },
  output: CreatedAccount,
  status: 201,
  codes: ['CONFLICT'],
  run: (ctx) => addAccount(ctx, ctx.input.type),
});

export const myAuthenticationMethods = query({
  rest: 'GET /me/authentication-methods',
  summary: 'List your sign-in methods',
  access: 'session',
  input: paging(AuthenticationMethod),
  output: pageOf(AuthenticationMethod),
  run: async (ctx) => {
    const { tx, services, input } = ctx;
    const { userId } = callerOf(ctx);
    const list = 'myAuthenticationMethods';
    const page = await pageOfOwn(tx, services.cursors, { entity: AuthenticationMethod, list, input, userId });
    return { ...page, items: page.items as z.output<typeof AuthenticationMethod.schema>[] };
  },
});

export const addMyAuthenticationMethod = mutation({
  rest: 'POST /me/authentication-methods',
  whileImpersonating: 'refused',
  summary: 'Add an e-mail address to sign in with',
  description:
    'You can sign in with it after you opened the mailed link. The answer is the same for an address of another user; only the mail differs.',
  access: 'session',
  stepUp: true,
  permissionChange: 'none',
  input: {
    provider: Provider.refine((provider) => provider === 'email', { params: { code: 'not_allowed' } }),
    providerId: email.meta({ description: 'The e-mail address.', examples: ['ada@work.example.com'] }),
    providerData: z
      .strictObject({ password })
      .optional()
      .meta({ description: 'Required if you have no password yet, otherwise not allowed.' }),
  },
  output: AuthenticationMethod.schema,
  status: 201,
  emits: 'user.sign_in_methods_changed',
  codes: ['CONFLICT'],
  prepare: (ctx) => {
    const { providerId, providerData } = ctx.input;
    return prepareMethod(ctx.tx, ctx.services, callerOf(ctx).userId, providerId, providerData?.password);
  },
  run: (ctx) => addMethod(ctx, ctx.prepared),
});

export const removeMyAuthenticationMethod = mutation({
  rest: 'DELETE /me/authentication-methods/:id',
  whileImpersonating: 'refused',
  summary: 'Remove a sign-in method',
  description:
    'If it was the primary one, the oldest verified method becomes primary, and its address becomes yours.',
  access: 'session',
  stepUp: true,
  input: { id: uuid },
  output: AuthenticationMethod.schema,
  emits: 'user.sign_in_methods_changed',
  codes: ['LAST_SIGN_IN_METHOD', 'IN_USE'],
  run: (ctx) => removeMethod(ctx, ctx.input.id),
});

export const myUserSessions = query({
  rest: 'GET /me/sessions',
  summary: 'List your sessions',
  access: 'session',
  input: { ...paging(Session), kind: SessionKind.optional().describe('Only sessions of this kind.') },
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
  whileImpersonating: 'refused',
  summary: 'End one of your sessions',
  description: 'The service refuses its access and refresh tokens from now on.',
  access: 'session',
  permissionChange: 'none',
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
