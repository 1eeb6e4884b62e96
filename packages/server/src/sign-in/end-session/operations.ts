import { z } from 'zod';
import { mutation } from '../../declare.ts';
import { redirect } from '../../kernel/output/reply.ts';
import { browserOperation, optionalParameter, redirects } from '../steps/browser-operation.ts';
import { beginLogout, decideLogout, prepareLogout } from './end-session.ts';

/* The end session endpoint (openid §9). RP-Initiated Logout 1.0 requires both methods. */

const common = {
  ...browserOperation,
  ...redirects,
  whileImpersonating: 'refused',
  protocol: 'oauth-authorization',
  description:
    'Ends the sign-in of this browser at the issuer, and the sessions of all apps that began in it. With an `id_token_hint` of the user who is signed in, or if no user is, at once; otherwise a page asks the user. Redirects to `post_logout_redirect_uri` with `state`, or to a page of this service.',
  input: {
    id_token_hint: optionalParameter('An id_token of the app, expired or not.'),
    client_id: optionalParameter('The `clientId` of the app; not needed with `id_token_hint`.'),
    post_logout_redirect_uri: optionalParameter('One of the `postLogoutRedirectUris` of the app, exactly.'),
    state: optionalParameter('Sent back unchanged.'),
    logout_hint: optionalParameter('Ignored.'),
    ui_locales: optionalParameter('Ignored: the page has the language of the browser.'),
  },
  codes: ['INVALID_REDIRECT_URI'],
} as const;

export const endProjectSession = mutation({
  ...common,
  rest: 'GET /auth/project/end-session',
  summary: 'Sign out of the apps of a project',
  prepare: ({ tx, services, input }) => prepareLogout(tx, services, input),
  run: async (ctx) => redirect(await beginLogout(ctx, ctx.prepared)),
});

export const endProjectSessionByPost = mutation({
  ...common,
  rest: 'POST /auth/project/end-session',
  summary: 'Sign out of the apps of a project, with a request that leaves no id_token in an address',
  takesForm: true,
  prepare: ({ tx, services, input }) => prepareLogout(tx, services, input),
  run: async (ctx) => redirect(await beginLogout(ctx, ctx.prepared)),
});

export const confirmProjectLogout = mutation({
  ...browserOperation,
  ...redirects,
  rest: 'POST /auth/project/end-session/confirm',
  whileImpersonating: 'refused',
  summary: 'Answer the page that asks whether to sign out',
  takesForm: true,
  input: {
    decision: z.enum(['approve', 'deny']).describe('What the user chose on the page.'),
    formToken: z
      .string()
      .min(1)
      .max(128)
      .meta({
        description: 'The token in the form of the page.',
        examples: ['hQ3vT1a9mXc0ZkB7uYw2sR5dEfGpLnJi8oVtAq4xKeM'],
      }),
  },
  codes: ['INVALID_TOKEN', 'ORIGIN_NOT_ALLOWED'],
  run: async (ctx) => redirect(await decideLogout(ctx, ctx.input)),
});
