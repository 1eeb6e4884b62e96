import { z } from 'zod';
import { hashOneTimeToken } from '../../crypto/one-time-token.ts';
import { mutation } from '../../kernel/operation.ts';
import { redirect } from '../../kernel/reply.ts';
import { AccountType } from '../identity/account.ts';
import { SignIn } from '../identity/sign-in.ts';
import { decide, exchange, prepareExchange } from '../federation/cli.ts';
import { decideToConnect } from '../federation/connecting.ts';
import { begin, comeBack, finish } from '../federation/sign-in.ts';

/**
 * Signing in through another site (identity §8): the browser is led there and back. These are addresses for browsers, so
 * they answer with the next address, and the session is in the cookie: no token stands in any address.
 */

const fromCli = (description: string) => ({ description: `From a command line: ${description}` });

const cliParameters = {
  state: z
    .string()
    .min(8)
    .max(256)
    .regex(/^[!-~]+$/)
    .optional()
    .meta(fromCli('comes back with the code.')),
  code_challenge: z
    .string()
    .regex(/^[A-Za-z0-9_-]{43,128}$/)
    .optional()
    .meta(fromCli('base64url of the SHA-256 of `codeVerifier`.')),
  code_challenge_method: z.literal('S256').optional().meta(fromCli('how the challenge was made.')),
};

export const startGithubSignIn = mutation({
  rest: 'GET /auth/github',
  summary: 'Begin to sign in with GitHub',
  description:
    'Leads the browser to GitHub. `redirect` is where it goes in the end; `error` says there what failed.',
  access: 'public',
  only: 'rest',
  forBrowsers: true,
  keepsRights: true,
  input: {
    redirect: z.string().max(2048).optional().describe('Where the browser goes in the end.'),
    action: z.enum(['login', 'register', 'connect']).default('login').meta({
      description:
        '`connect` links the account to the user of the refresh cookie, once they say so on a page.',
    }),
    accountType: AccountType.default('personal').meta({ description: 'Of a user who is new.' }),
    ...cliParameters,
  },
  output: z.null(),
  status: 302,
  codes: ['INVALID_REDIRECT_URI', 'PROVIDER_NOT_CONFIGURED'],
  run: async (ctx) => redirect(await begin(ctx, ctx.input), 302),
});

const word = (max: number) => z.string().min(1).max(max);

export const finishGithubSignIn = mutation({
  rest: 'GET /auth/github/callback',
  summary: 'Where GitHub leads the browser back to',
  description: 'Sets the refresh cookie and leads on to the `redirect` of the beginning.',
  access: 'public',
  only: 'rest',
  forBrowsers: true,
  input: {
    code: word(512).optional().describe('What GitHub answers if the user agreed.'),
    state: word(512).describe('As it was sent to GitHub.'),
    error: word(512).optional().describe('What GitHub answers if the user did not agree.'),
    error_description: z.string().max(2048).optional().describe('The same in words.'),
    error_uri: z.string().max(2048).optional().describe('Where GitHub explains it.'),
    iss: z.string().max(2048).optional().describe('Who answers; GitHub sends it in some cases.'),
  },
  output: z.null(),
  status: 303,
  emits: 'session.created',
  codes: ['INVALID_TOKEN', 'PROVIDER_NOT_CONFIGURED'],
  prepare: ({ tx, services, call, input }) => comeBack(tx, services, call, input),
  run: async (ctx) => redirect(await finish(ctx, ctx.prepared)),
});

export const confirmCliSignIn = mutation({
  rest: 'POST /auth/cli/confirm',
  summary: 'Let a command line sign in, or not',
  description:
    'The form of the page `/hosted/cli-sign-in`. Leads on to the command line, with a code or an error.',
  access: 'public',
  only: 'rest',
  keepsRights: true,
  takesForm: true,
  input: {
    decision: z.enum(['approve', 'deny']).describe('What the user chose on the page.'),
    formToken: word(128).meta({
      description: 'The token in the form of the page.',
      examples: ['hQ3vT1a9mXc0ZkB7uYw2sR5dEfGpLnJi8oVtAq4xKeM'],
    }),
  },
  output: z.null(),
  status: 303,
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED'],
  run: async (ctx) => redirect(await decide(ctx, ctx.input)),
});

export const confirmGithubConnection = mutation({
  rest: 'POST /auth/github/connect',
  summary: 'Connect a GitHub account to yourself, or not',
  description:
    'The form of the page `/hosted/connect-github`, sent from the browser session that asked for it. Leads on to the `redirect` of the beginning; `error` says there what failed.',
  access: 'public',
  only: 'rest',
  takesForm: true,
  input: {
    decision: z.enum(['approve', 'deny']).describe('What the person on the page decided.'),
    formToken: word(128).meta({
      description: 'The token of the page.',
      examples: ['Zm9ybSB0b2tlbiBvZiB0aGUgcGFnZQ'],
    }),
  },
  output: z.null(),
  status: 303,
  emits: 'user.sign_in_methods_changed',
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED'],
  run: async (ctx) => redirect(await decideToConnect(ctx, ctx.input)),
});

export const exchangeCliCode = mutation({
  rest: 'POST /auth/cli-callback',
  summary: 'Exchange the code of a command line for a session',
  description:
    'The code works once, within 60 seconds. A second use ends the session of the first. Sets no cookie.',
  access: 'public',
  only: 'rest',
  keepsRights: true,
  input: {
    code: word(128).meta({
      description: 'The code that came to the loopback address.',
      examples: ['hQ3vT1a9mXc0ZkB7uYw2sR5dEfGpLnJi8oVtAq4xKeM'],
    }),
    codeVerifier: z
      .string()
      .regex(/^[A-Za-z0-9._~-]{43,128}$/)
      .meta({
        description: 'The secret of which the challenge was made.',
        examples: ['dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'],
      }),
  },
  output: SignIn,
  emits: 'session.created',
  codes: ['INVALID_TOKEN'],
  limit: {
    class: 'auth',
    key: ({ code }, { network }) => `exchangeCliCode ${hashOneTimeToken(code)} ${network}`,
  },
  prepare: ({ tx, services, input }) => prepareExchange(tx, services, input.code),
  run: (ctx) => exchange(ctx, ctx.prepared, ctx.input),
});
