import { z } from 'zod';
import { mutation } from '../../kernel/operation.ts';
import { redirect } from '../../kernel/reply.ts';
import { AccountType } from '../identity/account.ts';
import { begin, comeBack, finish } from '../federation/sign-in.ts';

/**
 * Signing in through another site (identity §8): the browser is led there and back. These are addresses for browsers, so
 * they answer with the next address, and the session is in the cookie: no token stands in any address.
 */

export const startGithubSignIn = mutation({
  rest: 'GET /auth/github',
  summary: 'Begin to sign in with GitHub',
  description:
    'Leads the browser to GitHub. `redirect` is where it goes in the end; `error` says there what failed.',
  access: 'public',
  only: 'rest',
  keepsRights: true,
  input: {
    redirect: z.string().max(2048).optional(),
    action: z
      .enum(['login', 'register', 'connect'])
      .default('login')
      .meta({ description: '`connect` links the account to the user of the refresh cookie.' }),
    accountType: AccountType.default('personal').meta({ description: 'Of a user who is new.' }),
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
  input: {
    code: word(512).optional(),
    state: word(512),
    error: word(512).optional(),
    error_description: z.string().max(2048).optional(),
    error_uri: z.string().max(2048).optional(),
    iss: z.string().max(2048).optional(),
  },
  output: z.null(),
  status: 303,
  emits: 'session.created',
  codes: ['INVALID_TOKEN', 'PROVIDER_NOT_CONFIGURED'],
  prepare: ({ tx, services, call, input }) => comeBack(tx, services, call, input),
  run: async (ctx) => redirect(await finish(ctx, ctx.prepared)),
});
