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
    'Leads to the hosted pages, and in the end to `redirect_uri` with `code`, `state` and `iss`, or with `error`. An unknown client or address is told on a page and leads nowhere; a browser that is led back with `error` sees a page first, unless the address is one of the operator or on the machine of the user. Other parameters are ignored; one that is sent twice is a fault.',
  input: {
    client_id: z.string().max(2048).describe('The `clientId` of the app.'),
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
  run: (ctx) => begin(ctx, ctx.input),
});

const NamedScope = z
  .object({
    scope: z.string().describe('As requests name it.'),
    name: z.string().describe('What people call it.'),
    description: z.string().nullable().describe('What it lets the app do.'),
  })
  .meta({ id: 'NamedScope', description: 'A scope of an app, as a person reads it.' });

const appFields = {
  name: z.string().describe('What the sign-in pages call the app.'),
  logoUrl: z.string().nullable().describe('Picture that the pages show.'),
  homepageUrl: z.string().nullable().describe('Where the app lives.'),
  primaryColor: z.string().nullable().describe('Colour of the pages.'),
};

export const projectAppInfo = query({
  rest: 'GET /auth/project/app-info',
  summary: 'How a project app presents itself',
  access: 'public',
  only: 'rest',
  input: {
    client_id: uuid.describe('The `clientId` of the app.'),
    redirect_uri: z.string().max(2048).optional().describe('To learn whether it is one of the app.'),
    scope: sent('Separated by spaces; absent: all of the app.'),
  },
  output: z
    .object({
      ...appFields,
      enabledProviders: z.array(z.enum(appProviders)).describe('The ways to sign in.'),
      scopes: z
        .array(NamedScope)
        .nullable()
        .meta({ description: 'What it asks for. Null: the app is not restricted.' }),
    })
    .meta({ id: 'ProjectAppInfo', description: 'A project app as anybody may see it.' }),
  codes: ['NOT_FOUND', 'INVALID_REDIRECT_URI'],
  run: ({ tx, services, input }) => appInfo(tx, services, input),
});

/** Secret of a page or mail; as an example one that works nowhere. */
const token = z
  .string()
  .min(1)
  .max(128)
  .meta({
    description: 'The token of the page, or of the link in the mail.',
    examples: ['hQ3vT1a9mXc0ZkB7uYw2sR5dEfGpLnJi8oVtAq4xKeM'],
  });

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
        .object({
          displayName: z.string().describe('What people call them.'),
          email: z.string().nullable().describe('Their address.'),
          pictureUrl: z.string().nullable().describe('Where their picture is.'),
        })
        .nullable()
        .meta({ description: 'Who signs in, for the browser that does; null for any other.' }),
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
    code: word.optional().describe('What GitHub answers if the user agreed.'),
    state: word.describe('As it was sent to GitHub.'),
    error: word.optional().describe('What GitHub answers if the user did not agree.'),
    error_description: z.string().max(2048).optional().describe('The same in words.'),
    error_uri: z.string().max(2048).optional().describe('Where GitHub explains it.'),
    iss: z.string().max(2048).optional().describe('Who answers; GitHub sends it in some cases.'),
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

const formToken = token.optional().describe('The token of the page; checked when it is sent.');

export const requestProjectEmail = mutation({
  ...led,
  rest: 'POST /auth/project/email/request',
  summary: 'Ask for a mail with a link that signs in to a project app',
  description: 'Needs the flow cookie. The answer is the same for every address.',
  takesForm: {
    answer: () => redirect(pagePath('signIn')),
    refusal: backTo('signIn', 'VALIDATION_ERROR'),
  },
  input: {
    email: z
      .string()
      .max(320)
      .meta({ description: 'The address that the link goes to.', examples: ['ada@example.com'] }),
    form_token: formToken,
  },
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
  input: {
    form_token: formToken,
    code: field.meta({
      description: 'Six digits that the authenticator app shows now.',
      examples: ['123456'],
    }),
    recovery_code: field.describe('In place of `code`. Works once.'),
  },
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
    .object({ redirectUrl: z.string().describe('The address to go to.') })
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
