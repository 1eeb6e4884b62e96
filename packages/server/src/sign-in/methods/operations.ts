import { z } from 'zod';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import type { Call } from '../../kernel/context.ts';
import { text } from '../../kernel/input/values.ts';
import { mutation } from '../../declare.ts';
import { redirect, Refusal } from '../../kernel/output/reply.ts';
import { canonicalAddress, password } from '../../sessions/password-sign-in.ts';
import { passkeyChallengeId } from '../webauthn/credential.ts';
import { PasskeyRequest } from '../webauthn/options.ts';
import { Accepted } from '../addresses/verification.ts';
import { pagePath } from '../admission/answer-app.ts';
import { Locale } from '../../schema/people/user.ts';
import {
  browserOperation,
  redirects,
  redirectOnError,
  flowToken,
  typedAddress,
} from '../steps/browser-operation.ts';
import { enterCode, openMail } from '../mailed-codes/mailed-code.ts';
import { beginPasskey, flowCredential, preparePasskey, takePasskey } from './passkey.ts';
import { identify, preparePassword, takePassword } from './password.ts';
import { requestResetCode, requestSignInCode } from '../mailed-codes/request-code.ts';
import { preparePasswordReset, resetByCode } from './reset.ts';
import { prepareSignUp, signUp } from './sign-up.ts';

/* How people prove their identity on the pages of a sign-in: password, mailed code or link, sign-up and reset. */

const formToken = flowToken.optional().describe('The token of the page; checked if sent.');
const inFlow = { ...browserOperation, whileImpersonating: 'refused' } as const;
const needsFlow = 'Needs the flow cookie.';
const toSignInPage = { answer: () => redirect(pagePath('signIn')) };

/** One rate-limit bucket per address and network. */
const addressBucket = (operation: string, email: string, { network }: Call): string =>
  `${operation} ${canonicalAddress(email) ?? ''} ${network}`;

/** One rate-limit bucket per flow and network. */
const flowBucket = (operation: string, { flowCookie, network }: Call): string =>
  `${operation} ${hashOneTimeToken(flowCookie ?? '')} ${network}`;

/**
 * Each time a page that offers another mail is shown, its form has a new value. A form that is sent twice has the same
 * value.
 */
const attempt = z
  .string()
  .max(64)
  .optional()
  .describe(
    'Any text. For 30 seconds a request with the same `form_token`, address and text is a repetition, which mails nothing.',
  );

export const requestProjectEmail = mutation({
  ...inFlow,
  rest: 'POST /auth/project/email/request',
  summary: 'Request a mail with a code and a link to sign in to a project app',
  description: `${needsFlow} The answer is the same for every address.`,
  takesForm: { ...toSignInPage, refusal: redirectOnError('signIn', 'VALIDATION_ERROR') },
  input: { email: typedAddress, form_token: formToken, attempt },
  output: Accepted,
  status: 202,
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED', 'PROVIDER_NOT_CONFIGURED'],
  limit: { class: 'auth', key: ({ email }, call) => addressBucket('requestProjectEmail', email, call) },
  run: (ctx) => requestSignInCode(ctx, ctx.input),
});

export const consumeProjectEmail = mutation({
  ...inFlow,
  ...redirects,
  rest: 'POST /auth/project/email/consume',
  summary: 'Continue a sign-in with the token of a mailed link, in the browser that requested it',
  takesForm: true,
  input: { token: flowToken },
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED'],
  limit: {
    class: 'auth',
    key: ({ token: mailed }, { network }) => `consumeProjectEmail ${hashOneTimeToken(mailed)} ${network}`,
  },
  run: async (ctx) => redirect(await openMail(ctx, ctx.input.token)),
});

const mailedCode = z
  .string()
  .min(1)
  .max(64)
  .meta({
    description: 'The six digits of the mail; spaces and hyphens do not matter.',
    examples: ['204611'],
  });

export const enterMailedCode = mutation({
  ...inFlow,
  ...redirects,
  rest: 'POST /auth/flow/email/code',
  summary: 'Continue a sign-in with the code of a mail',
  description: `${needsFlow} Five wrong codes end code and link of the mail.`,
  takesForm: {
    answer: () => redirect(pagePath('signIn')),
    refusal: redirectOnError('signIn', 'VALIDATION_ERROR', 'UNAUTHENTICATED'),
  },
  input: { code: mailedCode, form_token: formToken },
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED', 'UNAUTHENTICATED'],
  limit: { class: 'auth', key: (_input, call) => flowBucket('enterMailedCode', call) },
  run: async (ctx) => {
    const next = await enterCode(ctx, ctx.input);
    return next instanceof Refusal ? next : redirect(next);
  },
});

export const identifyInFlow = mutation({
  ...inFlow,
  ...redirects,
  rest: 'POST /auth/flow/identifier',
  summary: 'Begin a sign-in to a project app with an address',
  description: `${needsFlow} The next page is the same for every address.`,
  takesForm: { ...toSignInPage, refusal: redirectOnError('signIn', 'VALIDATION_ERROR') },
  input: { email: typedAddress, form_token: formToken },
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED'],
  limit: { class: 'auth', key: ({ email }, call) => addressBucket('identifyInFlow', email, call) },
  run: async (ctx) => {
    const next = await identify(ctx, ctx.input);
    return next instanceof Refusal ? next : redirect(next);
  },
});

export const giveFlowPassword = mutation({
  ...inFlow,
  ...redirects,
  rest: 'POST /auth/flow/password',
  summary: 'Continue a sign-in with address and password',
  description: `${needsFlow} A user whose address is not verified gets a mailed code first.`,
  takesForm: {
    answer: () => redirect(pagePath('signIn')),
    refusal: redirectOnError('signIn', 'VALIDATION_ERROR', 'UNAUTHENTICATED'),
  },
  input: { email: typedAddress, password, form_token: formToken },
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED', 'PROVIDER_NOT_CONFIGURED', 'UNAUTHENTICATED'],
  limit: { class: 'auth', key: ({ email }, call) => addressBucket('giveFlowPassword', email, call) },
  prepare: ({ tx, services, call, input }) => preparePassword(tx, services, call, input),
  run: async (ctx) => {
    const next = await takePassword(ctx, ctx.prepared, ctx.input);
    return next instanceof Refusal ? next : redirect(next);
  },
});

export const flowPasskeyOptions = mutation({
  ...inFlow,
  rest: 'POST /auth/flow/passkey/options',
  summary:
    'Begin to use a passkey in a sign-in to a project app: the options for `navigator.credentials.get`',
  description: `${needsFlow} The options are the same for everybody but for the challenge, which this browser can answer once, for 5 minutes: to sign in, or as second factor.`,
  limit: 'network',
  input: { form_token: formToken },
  output: PasskeyRequest,
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED', 'PROVIDER_NOT_CONFIGURED'],
  run: (ctx) => beginPasskey(ctx, ctx.input),
});

export const giveFlowPasskey = mutation({
  ...inFlow,
  ...redirects,
  rest: 'POST /auth/flow/passkey',
  summary: 'Continue a sign-in with a passkey',
  description: `${needsFlow} A passkey that verified its user is two factors. A user whose address is not verified gets a mailed code first.`,
  takesForm: {
    answer: () => redirect(pagePath('signIn')),
    refusal: redirectOnError('signIn', 'VALIDATION_ERROR', 'UNAUTHENTICATED'),
  },
  input: { challengeId: passkeyChallengeId, credential: flowCredential, form_token: formToken },
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED', 'PROVIDER_NOT_CONFIGURED', 'UNAUTHENTICATED'],
  limit: {
    class: 'auth',
    key: ({ credential }, { network }) => `giveFlowPasskey ${hashOneTimeToken(credential.id)} ${network}`,
  },
  prepare: ({ tx, services, call, input }) => preparePasskey(tx, services, call, input),
  run: async (ctx) => {
    const next = await takePasskey(ctx, ctx.prepared, ctx.input);
    return next instanceof Refusal ? next : redirect(next);
  },
});

/** An empty field of a form counts as missing. */
const optionalPassword = z
  .union([z.literal('').transform(() => undefined), password])
  .optional()
  .meta({
    format: 'password',
    description: 'Absent or empty: they sign in by mail.',
    examples: ['three lanterns in the harbour'],
  });

export const signUpInFlow = mutation({
  ...inFlow,
  rest: 'POST /auth/flow/sign-up',
  summary: 'Sign up for a project app: request the mail that proves the address',
  description: `${needsFlow} The answer is the same for every address, and nothing is created before the code is entered. If the address has a user, the code signs them in, unchanged.`,
  takesForm: {
    ...toSignInPage,
    refusal: redirectOnError('signUp', 'VALIDATION_ERROR'),
  },
  input: {
    email: typedAddress,
    name: text(1, 255).meta({ description: 'Their name.', examples: ['Ada Lovelace'] }),
    password: optionalPassword,
    locale: Locale.optional().describe('Language of the mails to them.'),
    form_token: formToken,
  },
  output: Accepted,
  status: 202,
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED', 'PROVIDER_NOT_CONFIGURED'],
  limit: { class: 'auth', key: ({ email }, call) => addressBucket('signUpInFlow', email, call) },
  prepare: ({ tx, services, call, input }) => prepareSignUp(tx, services, call, input),
  run: (ctx) => signUp(ctx, ctx.prepared, ctx.input),
});

export const requestFlowReset = mutation({
  ...inFlow,
  rest: 'POST /auth/flow/reset/request',
  summary: 'Request a mail with a code for a new password, in a sign-in to a project app',
  description: `${needsFlow} The answer is the same for every address.`,
  takesForm: { ...toSignInPage, refusal: redirectOnError('reset', 'VALIDATION_ERROR') },
  input: { email: typedAddress, form_token: formToken, attempt },
  output: Accepted,
  status: 202,
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED', 'PROVIDER_NOT_CONFIGURED'],
  limit: { class: 'auth', key: ({ email }, call) => addressBucket('requestFlowReset', email, call) },
  run: (ctx) => requestResetCode(ctx, ctx.input),
});

export const resetFlowPassword = mutation({
  ...inFlow,
  ...redirects,
  rest: 'POST /auth/flow/reset',
  summary: 'Choose a new password with the code of a mail, in a sign-in to a project app',
  description: `${needsFlow} Ends all sessions of the user; then they sign in.`,
  takesForm: {
    answer: () => redirect(pagePath('signIn')),
    refusal: redirectOnError('signIn', 'VALIDATION_ERROR', 'UNAUTHENTICATED'),
  },
  input: { code: mailedCode, newPassword: password, form_token: formToken },
  emits: 'user.password_changed',
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED', 'UNAUTHENTICATED'],
  limit: { class: 'auth', key: (_input, call) => flowBucket('resetFlowPassword', call) },
  prepare: ({ tx, services, call, input }) => preparePasswordReset(tx, services, call, input),
  run: async (ctx) => {
    const next = await resetByCode(ctx, ctx.prepared, ctx.input);
    return next instanceof Refusal ? next : redirect(next);
  },
});
