import { eq } from 'drizzle-orm';
import { z } from 'zod';
import { pageOfOwn } from '../../db/page.ts';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import { pageOf, paging } from '../../kernel/inputs.ts';
import { mutation, query } from '../../kernel/operation.ts';
import { email, iso, text, url, uuid } from '../../values.ts';
import { removePicture } from '../pictures/picture.ts';
import { Account, AccountType } from '../identity/account.ts';
import { password } from '../identity/password-sign-in.ts';
import { changePassword, prepareChange } from './change-password.ts';
import { endSessions, liveSessions } from '../identity/sign-in.ts';
import { Locale, User } from '../users/user.ts';
import { AuthenticationMethod, Provider } from './authentication-method.ts';
import { attachment, exportPerson, PersonalExport } from '../personal-data/export.ts';
import { nodeOfUser } from '../identity/user-node.ts';
import { deleteSelf, DeletedMe } from './deletion.ts';
import { addAccount, changeSelf } from './profile.ts';
import { readSelf } from './self.ts';
import { Session, SessionKind, sessions } from './session.ts';
import { addMethod, prepareMethod, removeMethod } from './sign-in-methods.ts';

const Me = z
  .object({
    user: User.schema.describe('Who you are.'),
    accounts: z.array(Account.schema).describe('The accounts that you own.'),
    memberships: z
      .array(
        z
          .object({
            organizationId: uuid.describe('Id of the organization.'),
            organizationName: z.string().describe('What people call it.'),
            role: z
              .object({
                id: uuid.describe('Id of the role.'),
                name: z.string().describe('What people call it.'),
              })
              .meta({ id: 'MembershipRole', description: 'The role of a member.' }),
          })
          .meta({ id: 'Membership', description: 'An organization that the user belongs to.' }),
      )
      .describe('The organizations that you belong to.'),
    emailVerified: z.boolean().describe('Whether your address is verified.'),
    emailVerificationDeadline: iso.nullable().describe('Until when it must be verified; null once it is.'),
    mfa: z
      .object({
        enabled: z.boolean().describe('Whether you have a second factor.'),
        verified: z.boolean().describe('Whether this session gave it.'),
      })
      .meta({
        id: 'MyMfa',
        description: 'Whether a second factor exists, and whether this session gave it.',
      }),
  })
  .meta({ id: 'Me', description: 'The signed-in user with what belongs to him.' });

export const me = query({
  rest: 'GET /me',
  summary: 'The signed-in user',
  access: 'session',
  beforeMfa: true,
  input: {},
  output: Me,
  run: async (ctx) => {
    const { userId, acr } = callerOf(ctx);
    const self = await readSelf(ctx.tx, userId);
    if (!self) throw fail('UNAUTHENTICATED');
    const { user, isEnrolled: enabled, ...owned } = self;
    return {
      // What tenants say of a user belongs to their scopes.
      user: { ...user, metadata: {} },
      ...owned,
      emailVerified: user.emailVerified,
      emailVerificationDeadline: user.emailVerified ? null : user.verificationDeadline,
      mfa: { enabled, verified: acr === 'aal2' },
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
    currentPassword: password.describe('The password that you have.'),
    newPassword: password.meta({
      description: 'The password that replaces it.',
      examples: ['four lanterns in the harbour'],
    }),
    confirmPassword: password.optional().meta({
      description: 'If sent, the same as `newPassword`.',
      examples: ['four lanterns in the harbour'],
    }),
  },
  output: z
    .object({ changed: z.literal(true).describe('Always true.') })
    .meta({ id: 'ChangePasswordResult', description: 'The password is the new one.' }),
  emits: 'user.password_changed',
  codes: ['UNAUTHENTICATED'],
  limit: {
    class: 'auth',
    // By network too, so that a stolen session does not keep its user from changing the password.
    key: (_, { authentication, network }) =>
      authentication.ok ? `changeMyPassword ${authentication.principal.userId} ${network}` : null,
  },
  prepare: (ctx) => prepareChange(ctx.tx, ctx.services, callerOf(ctx), ctx.call.network, ctx.input),
  run: (ctx) => changePassword(ctx, callerOf(ctx), ctx.prepared),
});

/** A picture of one's own is uploaded, so that nobody is made to load an address of somebody's choice. */
const noPicture = url
  .nullable()
  .refine((value) => value === null, { params: { code: 'not_allowed' } })
  .meta({ description: 'Only null: removes the picture.' });

export const updateMe = mutation({
  rest: 'PATCH /me',
  summary: 'Change your name or language, or remove your picture',
  access: 'session',
  input: {
    name: text(1, 255)
      .optional()
      .meta({ description: 'What people call you.', examples: ['Ada Lovelace'] }),
    locale: Locale.nullable().optional().describe('Language of your mails; null: that of the browser.'),
    pictureUrl: noPicture.optional(),
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
  summary: 'Delete yourself, with your accounts and all that only you belong to',
  description:
    'Ends every session and every ProjectUser key. Your address stays taken until purgeAt; hardDelete=true purges at once. 409 while you are the last owner of an organization that has other members.',
  access: 'session',
  stepUp: true,
  input: { hardDelete: z.boolean().default(false).describe('true: purge at once, not after the retention.') },
  output: DeletedMe,
  emits: 'user.deleted',
  codes: ['LAST_OWNER'],
  run: (ctx) => deleteSelf(ctx, ctx.input.hardDelete),
});

export const exportMe = mutation({
  rest: 'GET /me/export',
  only: 'rest',
  bare: true,
  summary: 'Download what the service knows of you',
  description: 'A JSON file of one moment. It is recorded, so it is a mutation although it is read.',
  access: 'session',
  stepUp: true,
  keepsRights: true,
  input: {},
  output: PersonalExport,
  limit: { class: 'export', key: () => '' },
  prepare: (ctx) => exportPerson(ctx.tx, ctx.services, callerOf(ctx)),
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
  .meta({ id: 'CreatedAccount', description: 'The new account, and all that the user has.' });

export const createMyAccount = mutation({
  rest: 'POST /me/accounts',
  summary: 'Create the account that you lack',
  access: 'session',
  input: { type: AccountType.optional().meta({ description: 'Default: the missing one.' }) },
  output: CreatedAccount,
  status: 201,
  codes: ['CONFLICT'],
  run: (ctx) => addAccount(ctx, ctx.input.type),
});

export const myAuthenticationMethods = query({
  rest: 'GET /me/authentication-methods',
  summary: 'List your ways to sign in',
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
  summary: 'Add an e-mail address to sign in with',
  description:
    'It signs in once the mailed link was opened. The answer is the same for an address of another user: only the mail tells.',
  access: 'session',
  stepUp: true,
  keepsRights: true,
  input: {
    provider: Provider.refine((provider) => provider === 'email', { params: { code: 'not_allowed' } }),
    providerId: email.meta({ description: 'The e-mail address.', examples: ['ada@work.example.com'] }),
    providerData: z
      .strictObject({ password })
      .optional()
      .meta({ description: 'Needed, and allowed, only if you have no password yet.' }),
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
  summary: 'Remove a way to sign in',
  description: 'When it was the primary one, the oldest verified one follows, and your address with it.',
  access: 'session',
  stepUp: true,
  input: { id: uuid },
  output: AuthenticationMethod.schema,
  emits: 'user.sign_in_methods_changed',
  codes: ['LAST_SIGN_IN_METHOD'],
  run: (ctx) => removeMethod(ctx, ctx.input.id),
});

export const myUserSessions = query({
  rest: 'GET /me/sessions',
  summary: 'List the sessions in which you are signed in',
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
