import { z } from 'zod';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { fail } from '../../errors.ts';
import type { Call } from '../../kernel/context.ts';
import { mutation, query } from '../../declare.ts';
import { redirect, Refusal } from '../../kernel/output/reply.ts';
import { uuid } from '../../kernel/input/values.ts';
import { pagePath } from '../admission/answer-app.ts';
import { assertOneFactor } from '../second-factor/one-factor.ts';
import { appProviders } from '../../schema/apps/project-app.ts';
import {
  browserOperation,
  flowParameter,
  flowToken,
  optionalParameter,
  redirectOnError,
  redirects,
} from '../steps/browser-operation.ts';
import { approve, deny, verifyFactor } from './consent.ts';
import { appInfo, consentInfo } from './page-questions.ts';
import { providerAnswer, SignInProvider } from '../federation/provider-input.ts';
import { fromProvider, takeIdentity, toProvider } from '../methods/provider-steps.ts';
import { flowPasskey, prepareSecondFactor } from '../methods/passkey.ts';

/*
 * Sign-in to a project's app on pages of this service (identity §12): authorization code with PKCE (RFC 6749, 7636,
 * 9700). These operations are for browsers, so they are REST only. The pages are in `src/pages/sign-in`.
 */

const NamedScope = z
  .object({
    scope: z.string().describe('Its name in requests.'),
    name: z.string().describe('Its name for people.'),
    description: z.string().nullable().describe('What it lets the app do.'),
  })
  .meta({ id: 'NamedScope', description: 'A scope of an app, in a form for people.' });

const appFields = {
  name: z.string().describe('What the sign-in pages call the app.'),
  logoUrl: z.string().nullable().describe('Picture that the pages show.'),
  homepageUrl: z.string().nullable().describe('Web site of the app.'),
  primaryColor: z.string().nullable().describe('Colour of the pages.'),
};

export const projectAppInfo = query({
  rest: 'GET /auth/project/app-info',
  summary: 'Read what the sign-in pages show about a project app',
  access: 'public',
  only: 'rest',
  input: {
    client_id: uuid.describe('The `clientId` of the app.'),
    redirect_uri: z
      .string()
      .max(2048)
      .optional()
      .describe('To check that the app has this redirect address.'),
    scope: optionalParameter('Separated by spaces; absent: all of the app.'),
  },
  output: z
    .object({
      ...appFields,
      enabledProviders: z.array(z.enum(appProviders)).describe('Sign-in methods.'),
      identityProviders: z
        .array(SignInProvider)
        .describe('The OpenID Connect providers that its pages offer.'),
      scopes: z
        .array(NamedScope)
        .nullable()
        .meta({ description: 'Scopes that the app requests. Null: the app is not restricted.' }),
    })
    .meta({ id: 'ProjectAppInfo', description: 'The public data of a project app.' }),
  codes: ['NOT_FOUND', 'INVALID_REDIRECT_URI'],
  run: ({ tx, services, input }) => appInfo(tx, services, input),
});

export const projectConsentInfo = query({
  rest: 'GET /auth/project/consent-info',
  summary: 'Read what the consent page asks the user',
  access: 'public',
  only: 'rest',
  input: { consent_token: flowToken },
  output: z
    .object({
      ...appFields,
      scopes: z.array(NamedScope).nullable().meta({
        description: 'Scopes that will be granted. Null: everything that the user may do in the project.',
      }),
      laterScopes: z.array(NamedScope).meta({
        description:
          'Scopes that the user does not hold yet: consented to as well, and usable once the user holds them.',
      }),
      user: z
        .object({
          displayName: z.string().describe('Their name.'),
          email: z.string().nullable().describe('Their address.'),
          pictureUrl: z.string().nullable().describe('Address of their picture.'),
        })
        .nullable()
        .meta({ description: 'The user who signs in; null in any other browser.' }),
    })
    .meta({ id: 'ProjectConsentInfo', description: 'The question of the consent page.' }),
  codes: ['INVALID_TOKEN'],
  run: ({ tx, services, call, input }) => consentInfo(tx, services, call, input.consent_token),
});

export const startProjectGithub = mutation({
  ...browserOperation,
  rest: 'GET /auth/project/github',
  whileImpersonating: 'refused',
  summary: 'Sign in to a project app with GitHub',
  input: { flow: flowParameter },
  output: z.null(),
  status: 302,
  codes: ['INVALID_TOKEN', 'PROVIDER_NOT_CONFIGURED'],
  run: async (ctx) => redirect(await toProvider(ctx, 'github'), 302),
});

export const finishProjectGithub = mutation({
  ...browserOperation,
  ...redirects,
  rest: 'GET /auth/github/callback/project',
  whileImpersonating: 'refused',
  summary: 'Callback of GitHub in a sign-in to a project app',
  input: providerAnswer,
  codes: ['INVALID_TOKEN', 'PROVIDER_NOT_CONFIGURED'],
  prepare: ({ tx, services, call, input }) =>
    fromProvider(tx, services, call, { key: 'github', answer: input }),
  run: async (ctx) => redirect(await takeIdentity(ctx, ctx.prepared)),
});

const formToken = flowToken.optional().describe('The token of the page; checked if sent.');

/** A form sends all its fields; an empty one counts as missing. */
const field = z
  .string()
  .max(64)
  .optional()
  .transform((typed) => typed || undefined);

const factorStep = {
  ...browserOperation,
  ...redirects,
  whileImpersonating: 'refused',
  takesForm: {
    answer: () => redirect(pagePath('consent')),
    refusal: redirectOnError('secondFactor', 'VALIDATION_ERROR', 'UNAUTHENTICATED'),
  },
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED', 'UNAUTHENTICATED'],
  limit: {
    class: 'auth',
    key: (_input: unknown, { flowCookie, network }: Call) =>
      `projectFactor ${hashOneTimeToken(flowCookie ?? '')} ${network}`,
  },
} as const;

const factorCode = field.meta({
  description: 'The current six-digit code of the authenticator app.',
  examples: ['123456'],
});

export const giveProjectSecondFactor = mutation({
  ...factorStep,
  rest: 'POST /auth/project/second-factor',
  summary: 'Submit the second factor in a sign-in to a project app',
  input: {
    form_token: formToken,
    code: factorCode,
    recovery_code: field.describe('Instead of `code`. Works once.'),
  },
  run: async (ctx) => {
    const { form_token, code, recovery_code: recoveryCode } = ctx.input;
    if ((code === undefined) === (recoveryCode === undefined)) {
      const hasBoth = code !== undefined;
      throw fail('VALIDATION_ERROR', {
        details: [hasBoth ? { path: 'recovery_code', code: 'excluded' } : { path: 'code', code: 'required' }],
      });
    }
    const next = await verifyFactor(ctx, { form_token, code, recoveryCode });
    return next instanceof Refusal ? next : redirect(next);
  },
});

export const giveFlowSecondFactor = mutation({
  ...factorStep,
  rest: 'POST /auth/flow/second-factor',
  summary: 'Continue a sign-in with the second factor: a code of the app, a passkey, or a recovery code',
  description: 'Needs the flow cookie.',
  input: {
    form_token: formToken,
    code: factorCode,
    recoveryCode: field.describe('A recovery code instead of `code`. Works once.'),
    passkey: flowPasskey,
  },
  prepare: async ({ tx, services, call, input: { passkey, form_token, ...codes } }) => {
    assertOneFactor({ ...codes, passkey });
    return passkey && prepareSecondFactor(tx, services, call, { ...passkey, form_token });
  },
  run: async (ctx) => {
    const { form_token, code, recoveryCode } = ctx.input;
    const next = await verifyFactor(ctx, { form_token, code, recoveryCode, check: ctx.prepared });
    return next instanceof Refusal ? next : redirect(next);
  },
});

const consentAnswer = {
  takesForm: { answer: ({ redirectUrl }: { readonly redirectUrl: string }) => redirect(redirectUrl) },
  input: { consent_token: flowToken },
  output: z
    .object({ redirectUrl: z.string().describe('The address that the browser opens next.') })
    .meta({ id: 'ProjectConsentAnswer', description: 'The redirect to the app after the consent page.' }),
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED'],
} as const;

export const approveProjectConsent = mutation({
  ...browserOperation,
  ...consentAnswer,
  rest: 'POST /auth/project/consent/approve',
  whileImpersonating: 'refused',
  summary: 'Consent to a sign-in to a project app',
  description: 'Needs the flow cookie. A form is redirected to the app with a code; JSON gets the address.',
  run: async (ctx) => {
    const next = await approve(ctx, ctx.input.consent_token);
    return next instanceof Refusal ? next : { redirectUrl: next };
  },
});

export const denyProjectConsent = mutation({
  ...browserOperation,
  ...consentAnswer,
  rest: 'POST /auth/project/consent/deny',
  whileImpersonating: 'refused',
  summary: 'Cancel a sign-in to a project app, at any step',
  run: async (ctx) => ({ redirectUrl: await deny(ctx, ctx.input.consent_token) }),
});
