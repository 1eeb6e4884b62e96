import { z } from 'zod';
import { mutation, query } from '../../declare.ts';
import { redirect } from '../../kernel/output/reply.ts';
import {
  beginProviderSignIn,
  completeProviderSignIn,
  fetchIdentity,
} from '../federation/provider-sign-in.ts';
import { reachProvider } from '../federation/reach-provider.ts';
import { findFlowByState } from '../flow/flow.ts';
import { browserOperation, flowParameter, redirects } from '../steps/browser-operation.ts';
import { fromProvider, takeIdentity, toProvider } from '../methods/provider-steps.ts';
import { beginning, providerAnswer, SignInProvider } from '../federation/provider-input.ts';

/*
 * Sign-in through the OpenID Connect providers that are configured for the installation. Each has one callback for
 * sign-ins to this service and to apps, so that an operator registers only one URL. A response from one provider never
 * reaches the callback of another (RFC 9700 §4.4.2.2).
 */

const providerKey = z
  .string()
  .min(2)
  .max(31)
  .meta({ description: 'The key of the provider.', examples: ['google'] });

export const signInProviders = query({
  rest: 'GET /auth/providers',
  summary: 'List the providers through which users can sign in',
  access: 'public',
  input: {},
  output: z
    .object({
      items: z.array(SignInProvider).describe('The providers, in the order in which pages offer them.'),
    })
    .meta({ id: 'SignInProviders', description: 'The providers of the installation.' }),
  run: ({ services }) =>
    Promise.resolve({
      items: services.identityProviders.offered.map(({ key, name, logoUrl }) => ({ key, name, logoUrl })),
    }),
});

export const startProviderSignIn = mutation({
  rest: 'GET /auth/providers/:key',
  whileImpersonating: 'refused',
  summary: 'Begin to sign in through a provider of OpenID Connect',
  description:
    'Redirects the browser to the provider. At the end it returns to `redirect`, with `error` if the sign-in failed.',
  access: 'public',
  only: 'rest',
  forBrowsers: true,
  permissionChange: 'none',
  input: { key: providerKey, ...beginning },
  output: z.null(),
  status: 302,
  codes: ['INVALID_REDIRECT_URI', 'PROVIDER_NOT_CONFIGURED'],
  prepare: ({ services, input }) => reachProvider(services, input.key, 'session'),
  run: async (ctx) => {
    const { key, ...parameters } = ctx.input;
    return redirect(await beginProviderSignIn(ctx, key, { ...parameters, isReached: ctx.prepared }), 302);
  },
});

export const startAppProvider = mutation({
  ...browserOperation,
  rest: 'GET /auth/project/providers/:key',
  whileImpersonating: 'refused',
  summary: 'Sign in to a project app through a provider of OpenID Connect',
  input: { key: providerKey, flow: flowParameter },
  output: z.null(),
  status: 302,
  codes: ['INVALID_TOKEN', 'PROVIDER_NOT_CONFIGURED'],
  prepare: ({ services, input }) => reachProvider(services, input.key, 'app'),
  run: async (ctx) => redirect(await toProvider(ctx, ctx.input.key, ctx.prepared), 302),
});

export const finishProviderSignIn = mutation({
  access: 'public',
  only: 'rest',
  forBrowsers: true,
  ...redirects,
  rest: 'GET /auth/providers/:key/callback',
  whileImpersonating: 'refused',
  summary: 'Finish a sign-in through a provider: the URL to which it returns the browser',
  description: 'Continues the sign-in to the app, or sets the refresh cookie and redirects to `redirect`.',
  input: { key: providerKey, ...providerAnswer },
  emits: 'session.created',
  codes: ['INVALID_TOKEN', 'PROVIDER_NOT_CONFIGURED'],
  prepare: async ({ tx, services, call, input: { key, ...answer } }) => {
    const isOwn = (await findFlowByState(tx, services, 'provider', answer.state)) !== undefined;
    return isOwn
      ? { session: await fetchIdentity(tx, services, call, { key, answer }) }
      : { app: await fromProvider(tx, services, call, { key, answer }) };
  },
  run: async (ctx) => {
    const { session, app } = ctx.prepared;
    return redirect(await (session ? completeProviderSignIn(ctx, session) : takeIdentity(ctx, app)));
  },
});
