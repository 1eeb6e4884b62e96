import { z } from 'zod';
import { hashOneTimeToken } from '../../crypto/one-time-token.ts';
import { fail, type DoorwardError } from '../../errors.ts';
import { mutation, query } from '../../kernel/operation.ts';
import { redirect, Refusal, type BareReply } from '../../kernel/reply.ts';
import { uuid } from '../../values.ts';
import { canonicalAddress } from '../identity/password-sign-in.ts';
import { Accepted } from '../identity/verification.ts';
import { appProviders } from '../project-apps/project-app.ts';
import { begin } from './authorize.ts';
import { approve, deny, giveFactor } from './consent.ts';
import { appInfo, consentInfo } from './page-questions.ts';
import { fromGithub, mailLink, openMail, pagePath, takeIdentity, toGithub } from './steps.ts';

/**
 * Signing in to an app of a project, on pages of this service (identity §12): authorization code with PKCE (RFC 6749,
 * 7636, 9700). The pages themselves are in src/pages/project-*.ts. These are addresses for browsers, REST only.
 */

const sent = (description: string) => z.string().optional().meta({ description });

const led = {
  access: 'public',
  only: 'rest',
  forBrowsers: true,
  keepsRights: true,
} as const;

/** Where the next page is found, or the app. */
const leadsOn = { output: z.null(), status: 303 } as const;

export const authorizeProjectSignIn = mutation({
  ...led,
  ...leadsOn,
  rest: 'GET /auth/project/authorize',
  oauth: 'authorization',
  summary: 'Begin to sign in to a project app',
  description:
    'Leads to the hosted pages, and in the end to `redirect_uri` with `code`, `state` and `iss`, or with `error`. An unknown client or address is told on a page and leads nowhere. Other parameters are ignored; one that is sent twice is a fault.',
  input: {
    client_id: z.string().max(2048),
    redirect_uri: z.string().max(2048).meta({ description: 'One of the app; of a loopback IP any port.' }),
    response_type: sent('`code`.'),
    response_mode: sent('`query`, if sent.'),
    code_challenge: sent('base64url of the SHA-256 of the verifier: 43 to 128 characters.'),
    code_challenge_method: sent('`S256`.'),
    state: sent('1 to 512 characters, answered as sent; none is needed, since PKCE is.'),
    scope: sent('Separated by spaces; absent: all of the app.'),
    provider: sent('`email` or `github`, to choose it in advance.'),
  },
  codes: ['INVALID_REDIRECT_URI'],
  run: async (ctx) => redirect(await begin(ctx, ctx.input)),
});

const NamedScope = z
  .object({ scope: z.string(), name: z.string(), description: z.string().nullable() })
  .meta({ id: 'NamedScope', description: 'A scope of an app, as a person reads it.' });

const appFields = {
  name: z.string(),
  logoUrl: z.string().nullable(),
  homepageUrl: z.string().nullable(),
  primaryColor: z.string().nullable(),
};

export const projectAppInfo = query({
  rest: 'GET /auth/project/app-info',
  summary: 'How a project app presents itself',
  access: 'public',
  only: 'rest',
  input: {
    client_id: uuid,
    redirect_uri: z.string().max(2048).optional(),
    scope: sent('Separated by spaces; absent: all of the app.'),
  },
  output: z
    .object({
      ...appFields,
      enabledProviders: z.array(z.enum(appProviders)),
      scopes: z.array(NamedScope).nullable().meta({ description: 'Null: the app is not restricted.' }),
    })
    .meta({ id: 'ProjectAppInfo', description: 'A project app as anybody may see it.' }),
  codes: ['NOT_FOUND', 'INVALID_REDIRECT_URI'],
  run: ({ tx, services, input }) => appInfo(tx, services, input),
});

const token = z.string().min(1).max(128);

export const projectConsentInfo = query({
  rest: 'GET /auth/project/consent-info',
  summary: 'What a user is asked to let an app do',
  access: 'public',
  only: 'rest',
  input: { consent_token: token },
  output: z
    .object({
      ...appFields,
      scopes: z
        .array(NamedScope)
        .nullable()
        .meta({ description: 'What will be granted. Null: all that the user may in the project.' }),
      user: z
        .object({ displayName: z.string(), email: z.string().nullable(), pictureUrl: z.string().nullable() })
        .nullable()
        .meta({ description: 'For the browser that signs in; null for any other.' }),
    })
    .meta({ id: 'ProjectConsentInfo', description: 'The question of the consent page.' }),
  codes: ['INVALID_TOKEN'],
  run: ({ tx, services, call, input }) => consentInfo(tx, services, call, input.consent_token),
});

export const startProjectGithub = mutation({
  ...led,
  rest: 'GET /auth/project/github',
  summary: 'Sign in to a project app with GitHub',
  input: {},
  output: z.null(),
  status: 302,
  codes: ['INVALID_TOKEN', 'PROVIDER_NOT_CONFIGURED'],
  run: async (ctx) => {
    ctx.unchanged();
    return redirect(await toGithub(ctx), 302);
  },
});

const word = z.string().min(1).max(512);

export const finishProjectGithub = mutation({
  ...led,
  ...leadsOn,
  rest: 'GET /auth/github/callback/project',
  summary: 'Where GitHub leads the browser back to, on its way to a project app',
  input: {
    code: word.optional(),
    state: word,
    error: word.optional(),
    error_description: z.string().max(2048).optional(),
    error_uri: z.string().max(2048).optional(),
    iss: z.string().max(2048).optional(),
  },
  codes: ['INVALID_TOKEN', 'PROVIDER_NOT_CONFIGURED'],
  prepare: ({ tx, services, call, input }) => fromGithub(tx, services, call, input),
  run: async (ctx) => redirect(await takeIdentity(ctx, ctx.prepared)),
});

/** What a person typed wrong is told on the page on which he typed it. */
const backTo =
  (page: Parameters<typeof pagePath>[0], ...codes: readonly DoorwardError['code'][]) =>
  (error: DoorwardError): BareReply | undefined =>
    codes.includes(error.code) ? redirect(pagePath(page)) : undefined;

const formToken = token.optional().meta({ description: 'Of the page; checked when it is sent.' });

export const requestProjectEmail = mutation({
  ...led,
  rest: 'POST /auth/project/email/request',
  summary: 'Ask for a mail with a link that signs in to a project app',
  description: 'Needs the flow cookie. The answer is the same for every address.',
  takesForm: {
    answer: () => redirect(pagePath('signIn')),
    refusal: backTo('signIn', 'VALIDATION_ERROR'),
  },
  input: { email: z.string().max(320), form_token: formToken },
  output: Accepted,
  status: 202,
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED', 'PROVIDER_NOT_CONFIGURED'],
  limit: {
    class: 'auth',
    key: ({ email }, { network }) => `requestProjectEmail ${canonicalAddress(email) ?? ''} ${network}`,
  },
  run: (ctx) => mailLink(ctx, ctx.input),
});

export const consumeProjectEmail = mutation({
  ...led,
  ...leadsOn,
  rest: 'POST /auth/project/email/consume',
  summary: 'Go on with the token of a mailed link, in the browser that asked for it',
  takesForm: true,
  input: { token },
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED'],
  limit: {
    class: 'auth',
    key: ({ token: mailed }, { network }) => `consumeProjectEmail ${hashOneTimeToken(mailed)} ${network}`,
  },
  run: async (ctx) => redirect(await openMail(ctx, ctx.input.token)),
});

/** A form sends all its fields. */
const field = z
  .string()
  .max(64)
  .optional()
  .transform((typed) => typed || undefined);

export const giveProjectSecondFactor = mutation({
  ...led,
  ...leadsOn,
  rest: 'POST /auth/project/second-factor',
  summary: 'Give the second factor on the way to a project app',
  takesForm: {
    answer: () => redirect(pagePath('consent')),
    refusal: backTo('secondFactor', 'VALIDATION_ERROR', 'UNAUTHENTICATED'),
  },
  input: { form_token: formToken, code: field, recovery_code: field },
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED', 'UNAUTHENTICATED'],
  limit: {
    class: 'auth',
    key: (_input, { flowCookie, network }) =>
      `projectFactor ${hashOneTimeToken(flowCookie ?? '')} ${network}`,
  },
  run: async (ctx) => {
    const { form_token, code, recovery_code: recoveryCode } = ctx.input;
    if ((code === undefined) === (recoveryCode === undefined)) {
      const isTwo = code !== undefined;
      throw fail('VALIDATION_ERROR', {
        details: [isTwo ? { path: 'recovery_code', code: 'excluded' } : { path: 'code', code: 'required' }],
      });
    }
    const next = await giveFactor(ctx, { form_token, code, recoveryCode });
    return next instanceof Refusal ? next : redirect(next);
  },
});

const answer = {
  takesForm: { answer: ({ redirectUrl }: { readonly redirectUrl: string }) => redirect(redirectUrl) },
  input: { consent_token: token },
  output: z
    .object({ redirectUrl: z.string() })
    .meta({ id: 'ProjectConsentAnswer', description: 'Where the browser goes now: to the app.' }),
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED'],
} as const;

export const approveProjectConsent = mutation({
  ...led,
  ...answer,
  rest: 'POST /auth/project/consent/approve',
  summary: 'Let a project app in',
  description:
    'Needs the flow cookie. Forms are led on to the app with a code; JSON is answered its address.',
  run: async (ctx) => {
    const next = await approve(ctx, ctx.input.consent_token);
    return next instanceof Refusal ? next : { redirectUrl: next };
  },
});

export const denyProjectConsent = mutation({
  ...led,
  ...answer,
  rest: 'POST /auth/project/consent/deny',
  summary: 'Turn back to a project app, at whichever step',
  run: async (ctx) => ({ redirectUrl: await deny(ctx, ctx.input.consent_token) }),
});
