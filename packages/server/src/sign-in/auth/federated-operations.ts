import { z } from 'zod';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { mutation } from '../../declare.ts';
import { redirect } from '../../kernel/output/reply.ts';
import { SignIn } from '../../sessions/sign-in.ts';
import { decideCliSignIn, prepareCliExchange, redeemCliCode } from '../federation/cli.ts';
import { decideConnect } from '../federation/link-account.ts';
import {
  beginProviderSignIn,
  completeProviderSignIn,
  fetchIdentity,
} from '../federation/provider-sign-in.ts';
import { beginning, providerAnswer } from '../federation/provider-input.ts';

/*
 * Operations to sign in through a provider (identity §8). Browsers navigate to these URLs, so they respond with
 * redirects. The session is in the cookie, because URLs end up in histories and logs: no URL contains a token.
 */

const shortText = (max: number) => z.string().min(1).max(max);

export const startGithubSignIn = mutation({
  rest: 'GET /auth/github',
  whileImpersonating: 'refused',
  summary: 'Begin to sign in with GitHub',
  description:
    'Redirects the browser to GitHub. At the end it returns to `redirect`, with `error` if the sign-in failed.',
  access: 'public',
  only: 'rest',
  forBrowsers: true,
  permissionChange: 'none',
  input: beginning,
  output: z.null(),
  status: 302,
  codes: ['INVALID_REDIRECT_URI', 'PROVIDER_NOT_CONFIGURED'],
  run: async (ctx) => redirect(await beginProviderSignIn(ctx, 'github', ctx.input), 302),
});

export const finishGithubSignIn = mutation({
  rest: 'GET /auth/github/callback',
  whileImpersonating: 'refused',
  summary: 'Finish a sign-in with GitHub: the URL to which GitHub returns the browser',
  description: 'Sets the refresh cookie and redirects to the `redirect` of the first request.',
  access: 'public',
  only: 'rest',
  forBrowsers: true,
  input: providerAnswer,
  output: z.null(),
  status: 303,
  emits: 'session.created',
  codes: ['INVALID_TOKEN', 'PROVIDER_NOT_CONFIGURED'],
  prepare: ({ tx, services, call, input }) =>
    fetchIdentity(tx, services, call, { key: 'github', answer: input }),
  run: async (ctx) => redirect(await completeProviderSignIn(ctx, ctx.prepared)),
});

export const confirmCliSignIn = mutation({
  rest: 'POST /auth/cli/confirm',
  whileImpersonating: 'refused',
  summary: 'Approve or deny the sign-in of a command line',
  description:
    'The form of the page `/hosted/cli-sign-in`. Redirects to the command line, with a code or an error.',
  access: 'public',
  only: 'rest',
  forBrowsers: true,
  permissionChange: 'none',
  takesForm: true,
  input: {
    decision: z.enum(['approve', 'deny']).describe('What the user chose on the page.'),
    formToken: shortText(128).meta({
      description: 'The token in the form of the page.',
      examples: ['hQ3vT1a9mXc0ZkB7uYw2sR5dEfGpLnJi8oVtAq4xKeM'],
    }),
  },
  output: z.null(),
  status: 303,
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED'],
  run: async (ctx) => redirect(await decideCliSignIn(ctx, ctx.input)),
});

export const confirmProviderConnection = mutation({
  rest: 'POST /auth/providers/connect',
  whileImpersonating: 'refused',
  summary: 'Approve or deny to connect an account at a provider to your user',
  description:
    'The form of the page `/hosted/connect-provider`, sent from the browser session that asked for it. Redirects to the `redirect` of the first request, with `error` if it failed.',
  access: 'public',
  only: 'rest',
  forBrowsers: true,
  takesForm: true,
  input: {
    decision: z.enum(['approve', 'deny']).describe('What the user chose on the page.'),
    formToken: shortText(128).meta({
      description: 'The token in the form of the page.',
      examples: ['Zm9ybSB0b2tlbiBvZiB0aGUgcGFnZQ'],
    }),
  },
  output: z.null(),
  status: 303,
  emits: 'user.sign_in_methods_changed',
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED'],
  run: async (ctx) => redirect(await decideConnect(ctx, ctx.input)),
});

export const exchangeCliCode = mutation({
  rest: 'POST /auth/cli-callback',
  whileImpersonating: 'refused',
  summary: 'Exchange the code of a command line for a session',
  description:
    'The code works once, within 60 seconds. A second use ends the session of the first one. Sets no cookie.',
  access: 'public',
  only: 'rest',
  permissionChange: 'none',
  input: {
    code: shortText(128).meta({
      description: 'The code that the loopback address received.',
      examples: ['hQ3vT1a9mXc0ZkB7uYw2sR5dEfGpLnJi8oVtAq4xKeM'],
    }),
    codeVerifier: z
      .string()
      .regex(/^[A-Za-z0-9._~-]{43,128}$/)
      .meta({
        description: 'The secret from which the challenge was computed.',
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
  prepare: ({ tx, services, input }) => prepareCliExchange(tx, services, input.code),
  run: (ctx) => redeemCliCode(ctx, ctx.prepared, ctx.input),
});
