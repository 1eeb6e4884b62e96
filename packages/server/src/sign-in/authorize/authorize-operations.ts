import { z } from 'zod';
import { mutation } from '../../declare.ts';
import { resourceParameter } from '../../apps/access/resources.ts';
import { organizationParameter } from '../admission/sign-in-organization.ts';
import { begin, prepareHint } from './authorize.ts';
import { browserOperation, optionalParameter, redirects } from '../steps/browser-operation.ts';

/* The authorization endpoint (openid §3). OpenID Connect Core §3.1.2.1 requires both methods. */

const input = {
  client_id: z
    .string()
    .max(2048)
    .meta({
      description: 'The `clientId` of the app.',
      examples: ['8d8ac610-566d-4ef0-9c22-186b2a5ed793'],
    }),
  redirect_uri: z
    .string()
    .max(2048)
    .meta({
      description: 'One of the `redirectUris` of the app; a loopback IP may have any port.',
      examples: ['https://app.example.com/callback'],
    }),
  response_type: optionalParameter('`code`.'),
  response_mode: optionalParameter('`query` or `form_post`; absent: `query`.'),
  code_challenge: optionalParameter('base64url of the SHA-256 of the verifier: 43 to 128 characters.'),
  code_challenge_method: optionalParameter('`S256`.'),
  state: optionalParameter('1 to 2,048 characters, sent back unchanged; optional, because PKCE is required.'),
  scope: optionalParameter(
    'Separated by spaces; absent: all of the app. `openid`, `profile`, `email` and `offline_access` need not be scopes of the app.',
  ),
  nonce: optionalParameter('Repeated in the id_token: 1 to 2,048 characters.'),
  prompt: optionalParameter(
    '`none`: no page; the answer is a code, `login_required`, `consent_required` or `interaction_required`. `login` and `select_account`: the user signs in again. `consent`: they consent again.',
  ),
  max_age: optionalParameter(
    'If the user signed in more than so many seconds ago, in another app of the project, they sign in again.',
  ),
  acr_values: optionalParameter(
    'Separated by spaces, the preferred one first. `aal2`: a user who has no second factor adds one during the sign-in. A user who has one always gives it; `acr` says what they gave.',
  ),
  login_hint: optionalParameter(
    'The address with which the form begins; a user with another address is not signed in without it.',
  ),
  ui_locales: optionalParameter(
    'Languages of the pages, separated by spaces, the preferred one first; those of the browser count after them.',
  ),
  id_token_hint: optionalParameter('An id_token of the app, expired or not: no other user can sign in.'),
  request: optionalParameter('Not supported.'),
  request_uri: optionalParameter('Not supported.'),
  registration: optionalParameter('Not supported.'),
  resource: resourceParameter.describe(
    'Up to five of the `resources` of the app, one in each parameter: its access tokens have them in `aud` (RFC 8707).',
  ),
  organization: organizationParameter,
  provider: optionalParameter(
    'A way of `enabledProviders`, or a key of `identityProviders`, chosen in advance.',
  ),
};

const common = {
  ...browserOperation,
  ...redirects,
  whileImpersonating: 'refused',
  protocol: 'oauth-authorization',
  description:
    'Redirects to the hosted pages, and at the end to `redirect_uri` with `code`, `state` and `iss`, or with `error`. For an unknown client or address, a page shows the error and the browser is not redirected. Before a redirect with `error`, a page asks the user, unless the address belongs to the operator or is on the machine of the user. Other parameters are ignored; a parameter sent twice is an error.',
  input,
  codes: ['INVALID_REDIRECT_URI'],
} as const;

export const authorizeProjectSignIn = mutation({
  ...common,
  rest: 'GET /auth/project/authorize',
  summary: 'Begin to sign in to a project app',
  prepare: ({ tx, services, input }) => prepareHint(tx, services, input),
  run: (ctx) => begin(ctx, ctx.input, ctx.prepared),
});

export const authorizeProjectSignInByPost = mutation({
  ...common,
  rest: 'POST /auth/project/authorize',
  summary: 'Begin to sign in to a project app, with a request too long for an address',
  takesForm: true,
  prepare: ({ tx, services, input }) => prepareHint(tx, services, input),
  run: (ctx) => begin(ctx, ctx.input, ctx.prepared),
});
