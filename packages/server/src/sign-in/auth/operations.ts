import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { fail } from '../../errors.ts';
import type { Call } from '../../kernel/context.ts';
import { mutation } from '../../declare.ts';
import { refuse } from '../../kernel/output/reply.ts';
import { email, text } from '../../kernel/input/values.ts';
import { authenticationMethods, Provider } from '../../schema/sign-in/authentication-method.ts';
import { AccountType } from '../../schema/people/account.ts';
import { nodeOfUser } from '../../people/user-node.ts';
import { Locale } from '../../schema/people/user.ts';
import { endPresentedSessions } from './logout.ts';
import { mailResetLink, prepareReset, applyReset } from './password-reset.ts';
import { isOverdue, verificationRequired } from '../protection/verification-deadline.ts';
import { acceptPassword } from '../protection/accept-password.ts';
import { delayToStep } from '../protection/constant-time-answer.ts';
import { canonicalAddress, checkPassword, password } from '../../sessions/password-sign-in.ts';
import { prepareRefresh, presentedTokens, refresh, refreshBucket } from './refresh.ts';
import * as registration from '../addresses/registration.ts';
import { newSession, openSession, SignIn } from '../../sessions/sign-in.ts';
import { Accepted, mailVerificationAgain, verifyAddress } from '../addresses/verification.ts';
import {
  mailedToken,
  providerData,
  RefreshedSession,
  refreshToken,
  RegisterResult,
  VerificationRequired,
} from './schemas.ts';

/* Operations to sign in and out with an address and a password, and to verify the address (identity §1–§5). */

/** Accepts only `email`: other providers sign in through the server-side code exchange, which proves the identity. */
const emailProvider = Provider.refine((provider) => provider === 'email', {
  params: { code: 'not_allowed' },
});

/**
 * One rate-limit bucket per operation, account and network, which limits an attacker but not the user on another
 * network.
 */
const accountBucket = (operation: string, account: string, { network }: Call): string =>
  `${operation} ${canonicalAddress(account) ?? account.trim().toLowerCase()} ${network}`;

/**
 * The same text for an unknown address, a wrong password and a locked user, so that it does not reveal which addresses
 * exist.
 */
const wrongCredentials =
  'The address or the password is wrong. After many wrong attempts, wait a while or reset the password.';

export const login = mutation({
  rest: 'POST /auth/login',
  whileImpersonating: 'refused',
  summary: 'Sign in with an e-mail address and a password',
  access: 'public',
  permissionChange: 'none',
  input: {
    provider: emailProvider,
    providerId: z
      .string()
      .min(3)
      .max(320)
      .meta({ description: 'The e-mail address.', examples: ['ada@example.com'] }),
    providerData,
  },
  output: SignIn,
  emits: 'session.created',
  codes: ['UNAUTHENTICATED', 'EMAIL_VERIFICATION_REQUIRED'],
  limit: { class: 'auth', key: ({ providerId }, call) => accountBucket('login', providerId, call) },
  prepare: async ({ tx, services, call, input }) => {
    const checked = await checkPassword(
      tx,
      services,
      call.network,
      input.providerId,
      input.providerData.password,
    );
    const hashedAt = performance.now();
    const { user, matched } = checked;
    const session = user && matched ? await newSession(services, user, { amr: ['pwd'] }) : null;
    return { ...checked, session, hashedAt };
  },
  run: async (ctx) => {
    const { tx, services, prepared } = ctx;
    const { session, methodId } = prepared;
    const user = await acceptPassword(ctx, prepared);
    if (!user || !session || !methodId) return refuse(fail('UNAUTHENTICATED', { fix: wrongCredentials }));
    if (isOverdue(user, services)) {
      const target = { type: 'User', id: user.id };
      const node = await nodeOfUser(tx, user.id);
      ctx.record({ outcome: 'denied', code: 'EMAIL_VERIFICATION_REQUIRED', target, node });
      return refuse(verificationRequired());
    }
    await tx
      .update(authenticationMethods)
      .set({ lastUsedAt: services.clock.now() })
      .where(and(eq(authenticationMethods.id, methodId), eq(authenticationMethods.userId, user.id)));
    return openSession(ctx, session, user);
  },
});

export const register = mutation({
  rest: 'POST /auth/register',
  whileImpersonating: 'refused',
  summary: 'Create a user and an account',
  description:
    'REST answers the SignIn itself (201), or `{verificationRequired: true}` (202) if the address must be verified first.',
  access: 'public',
  input: {
    provider: emailProvider,
    providerId: email.meta({ description: 'The e-mail address.', examples: ['ada@example.com'] }),
    providerData,
    type: AccountType.default('personal').describe('The type of the first account.'),
    name: text(1, 255).optional().meta({ description: 'Default: the part of the address before the @.' }),
    locale: Locale.optional().describe('Language of the mails to the user.'),
  },
  output: RegisterResult,
  status: 201,
  restAnswers: {
    answer: ({ signIn }) =>
      signIn ? { status: 201, data: signIn } : { status: 202, data: { verificationRequired: true } },
    answerSchemas: { 201: SignIn, 202: VerificationRequired },
  },
  emits: 'user.created',
  codes: ['CONFLICT', 'FORBIDDEN'],
  limit: { class: 'auth', key: ({ providerId }, call) => accountBucket('register', providerId, call) },
  prepare: async ({ tx, services, call, input }) => {
    const { providerId: address, type, locale = null } = input;
    const { password: chosen } = input.providerData;
    const name = input.name ?? address.slice(0, address.lastIndexOf('@'));
    const newUser = { address, password: chosen, name, locale, type };
    const prepared = await registration.prepareRegistration(tx, services, call.network, newUser);
    return { ...prepared, hashedAt: performance.now() };
  },
  run: async (ctx) => {
    const { hashedAt, session } = ctx.prepared;
    if (!session) delayToStep(ctx, hashedAt);
    const signIn = await registration.register(ctx, ctx.prepared);
    return { signIn, verificationRequired: signIn === null };
  },
});

export const refreshSession = mutation({
  rest: 'POST /auth/refresh',
  whileImpersonating: 'refused',
  summary: 'Exchange a refresh token for the next one',
  description: 'Send both tokens, or only the refresh cookie. The access token may be expired.',
  access: 'public',
  permissionChange: 'none',
  input: {
    accessToken: z
      .string()
      .min(1)
      .max(8192)
      .optional()
      .describe('The last access token of the session; it may be expired.'),
    refreshToken: refreshToken.optional(),
  },
  output: RefreshedSession,
  codes: ['UNAUTHENTICATED', 'ORIGIN_NOT_ALLOWED', 'EMAIL_VERIFICATION_REQUIRED'],
  limit: {
    class: 'refresh',
    key: (input, call, services) => refreshBucket(services, call, input.refreshToken),
  },
  prepare: ({ tx, services, call, input }) =>
    prepareRefresh(tx, services, call, presentedTokens(input, call)),
  run: (ctx) => refresh(ctx, ctx.prepared),
});

export const logout = mutation({
  rest: 'POST /auth/logout',
  whileImpersonating: 'refused',
  summary: 'End the session, or all sessions of the user',
  description:
    'Identifies the session by access token, refresh token or cookie. Without a live session the answer is 200 with 0.',
  access: 'public',
  permissionChange: 'none',
  input: {
    refreshToken: refreshToken.optional(),
    allSessions: z.boolean().default(false).describe('true: end all sessions of the user.'),
  },
  output: z
    .object({ revoked: z.int().describe('How many sessions ended.') })
    .meta({ id: 'LogoutResult', description: 'How many sessions ended.' }),
  emits: 'session.revoked',
  codes: ['ORIGIN_NOT_ALLOWED'],
  run: async (ctx) => ({ revoked: await endPresentedSessions(ctx, ctx.principal, ctx.input) }),
});

export const verifyEmail = mutation({
  rest: 'POST /auth/verify-email',
  whileImpersonating: 'refused',
  summary: 'Verify an e-mail address with the token from the mail',
  access: 'public',
  input: { token: mailedToken },
  output: z
    .object({ verified: z.literal(true).describe('Always true.') })
    .meta({ id: 'VerifyEmailResult', description: 'The address is verified.' }),
  emits: 'user.email_verified',
  codes: ['INVALID_TOKEN'],
  limit: {
    class: 'auth',
    key: ({ token }, { network }) => `verifyEmail ${hashOneTimeToken(token)} ${network}`,
  },
  run: async (ctx) => {
    await verifyAddress(ctx, ctx.input.token);
    return { verified: true as const };
  },
});

export const resendVerification = mutation({
  rest: 'POST /auth/resend-verification',
  whileImpersonating: 'refused',
  summary: 'Ask for a new verification mail',
  description:
    'For the address of a registration; for one that a user has added, with a session of that user.',
  access: 'public',
  permissionChange: 'none',
  input: {
    email: email.meta({ description: 'The address that the mail goes to.', examples: ['ada@example.com'] }),
  },
  output: Accepted,
  status: 202,
  prepare: async () => ({ startedAt: performance.now() }),
  run: async (ctx) => {
    const { startedAt } = ctx.prepared;
    delayToStep(ctx, startedAt);
    const caller = ctx.principal?.type === 'session' ? ctx.principal.userId : undefined;
    await mailVerificationAgain(ctx, ctx.input.email, caller);
    return { accepted: true as const };
  },
});

export const requestPasswordReset = mutation({
  rest: 'POST /auth/request-password-reset',
  whileImpersonating: 'refused',
  summary: 'Ask for a mail to reset a forgotten password',
  description:
    'The mail goes to a verified address of an active user; an unverified address gets its verification link instead. The answer is the same for every address.',
  access: 'public',
  permissionChange: 'none',
  input: {
    email: email.meta({ description: 'The address that the mail goes to.', examples: ['ada@example.com'] }),
  },
  output: Accepted,
  status: 202,
  prepare: async () => ({ startedAt: performance.now() }),
  run: async (ctx) => {
    const { startedAt } = ctx.prepared;
    delayToStep(ctx, startedAt);
    await mailResetLink(ctx, ctx.input.email);
    return { accepted: true as const };
  },
});

export const resetPassword = mutation({
  rest: 'POST /auth/reset-password',
  whileImpersonating: 'refused',
  summary: 'Reset a forgotten password with the token from the mail',
  description: 'Ends all sessions of the user and starts none: sign in with the new password.',
  access: 'public',
  permissionChange: 'none',
  input: { token: mailedToken, newPassword: password },
  output: z
    .object({ reset: z.literal(true).describe('Always true.') })
    .meta({ id: 'ResetPasswordResult', description: 'The new password is set.' }),
  emits: 'user.password_changed',
  codes: ['INVALID_TOKEN'],
  limit: {
    class: 'auth',
    key: ({ token }, { network }) => `resetPassword ${hashOneTimeToken(token)} ${network}`,
  },
  prepare: ({ tx, services, input }) => prepareReset(tx, services, input),
  run: async (ctx) => {
    await applyReset(ctx, ctx.input.token, ctx.prepared);
    return { reset: true as const };
  },
});
