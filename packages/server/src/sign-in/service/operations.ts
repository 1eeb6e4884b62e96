/*
 * Sign-in to this service itself, on the same pages as sign-ins to apps. The account pages and the command line use it,
 * without an app.
 */

import { z } from 'zod';
import { mutation } from '../../declare.ts';
import { redirect } from '../../kernel/output/reply.ts';
import { serviceRequest } from '../../apps/access/service-itself.ts';
import { formPath, pageOf } from '../admission/answer-app.ts';
import {
  accountPage,
  assertOwnOrigin,
  invalidRedirect,
  isAccountPage,
  isLoopback,
} from '../federation/destination.ts';
import { cliParameters } from '../federation/provider-input.ts';
import { newVerifier } from '../../providers/github.ts';
import { beginFlow } from '../flow/flow.ts';
import { loginHintOf } from '../authorize/authorize.ts';
import { browserOperation, optionalParameter, redirects } from '../steps/browser-operation.ts';

export const startSignIn = mutation({
  ...browserOperation,
  ...redirects,
  rest: 'GET /auth/sign-in',
  whileImpersonating: 'refused',
  summary: 'Begin to sign in to this service on its own pages',
  description:
    'Redirects to the sign-in pages, and at the end to `redirect`. Below `/account` the browser gets a session of the account pages; elsewhere the refresh cookie. A sign-in that failed ends at `redirect` with `error`, or for the account pages at `/hosted/signed-in`.',
  input: {
    redirect: z
      .string()
      .max(2048)
      .optional()
      .describe('URL to which the browser goes at the end; absent: `/account`.'),
    action: z
      .enum(['login', 'register', 'reset'])
      .default('login')
      .describe('The form with which the pages begin.'),
    login_hint: optionalParameter('The address with which the form begins.'),
  },
  codes: ['INVALID_REDIRECT_URI'],
  run: async (ctx) => {
    const { services, input } = ctx;
    const { config } = services;
    const page = input.redirect ?? accountPage(config);
    assertOwnOrigin(config, page);
    ctx.unchanged();
    const allowsSignUp = config.auth.registrationMode !== 'closed';
    const loginHint = loginHintOf(input.login_hint);
    const request = {
      ...serviceRequest(page, { allowsSignUp, takesConnections: !isAccountPage(config, page) }),
      ...(loginHint !== undefined && { loginHint }),
    };
    await beginFlow(ctx, 'project', { asked: request, verifier: newVerifier(), step: { name: 'signIn' } });
    if (input.action === 'reset') return redirect(config.appUrl + formPath('reset'));
    const isNew = input.action === 'register' && allowsSignUp;
    return redirect(isNew ? config.appUrl + formPath('signUp') : pageOf(config, 'signIn'));
  },
});

export const startCliSignIn = mutation({
  ...browserOperation,
  ...redirects,
  rest: 'GET /auth/cli',
  whileImpersonating: 'refused',
  summary: 'Begin to sign in a command line on the pages of this service',
  description:
    'Redirects to the sign-in pages, with every configured way to sign in. The user then decides at `/hosted/cli-sign-in`, and the browser goes to `redirect` with `code` and `state`, or with `error` and `state`. `exchangeCliCode` takes the code.',
  input: {
    redirect: z
      .string()
      .max(2048)
      .meta({
        description: 'Where the command line listens: `http://127.0.0.1:<port>/` or `http://[::1]:<port>/`.',
        examples: ['http://127.0.0.1:8976/done'],
      }),
    ...cliParameters,
  },
  codes: ['INVALID_REDIRECT_URI'],
  run: async (ctx) => {
    const { input, services } = ctx;
    const { redirect: page, state, code_challenge: challenge } = input;
    if (!isLoopback(page)) throw invalidRedirect();
    ctx.unchanged();
    const allowsSignUp = services.config.auth.registrationMode !== 'closed';
    const request = serviceRequest(page, {
      allowsSignUp,
      takesConnections: false,
      cli: { state, challenge },
    });
    await beginFlow(ctx, 'project', { asked: request, verifier: newVerifier(), step: { name: 'signIn' } });
    return redirect(pageOf(services.config, 'signIn'));
  },
});
