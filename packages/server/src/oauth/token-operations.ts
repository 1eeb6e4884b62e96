import { z } from 'zod';
import { fail } from '../errors.ts';
import { mutation } from '../declare.ts';
import { refuse } from '../kernel/output/reply.ts';
import { authenticateIntrospection, concludeIntrospection } from './api-key-exchange/introspecting-client.ts';
import { exchangeKeyGrant, prepareKeyGrant } from './api-key-exchange/client-credentials.ts';
import { invalidTarget, namedResources, resourceParameter } from '../apps/access/resources.ts';
import { authenticateClient, clientInput, invalidClient, refuseClient } from './tokens/client.ts';
import { exchangeCode, prepareCodeExchange } from './tokens/exchange.ts';
import { Introspection, introspectForApp, introspectForKey } from './tokens/introspection.ts';
import { AppTokens } from './tokens/issue.ts';
import {
  documentAsOauth,
  emptyReply,
  OauthError,
  OauthNothing,
  OauthTokens,
  errorAsOauth,
  errorOfIntrospection,
  tokensAsOauth,
} from './tokens/oauth.ts';
import { exchangeDevice, prepareDevice } from './devices/exchange.ts';
import { prepareRenewal, renew } from './tokens/renewal.ts';
import { revokeTokens, identifySession } from './tokens/revocation.ts';

/*
 * Requests of an app without its user (identity §12): tokens for a code or a refresh token, and revocation; and
 * requests of machines with an API key. Field names are those of OAuth. A form gets an OAuth response; JSON gets the
 * usual envelope.
 */

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/**
 * A code or token of any length. One that is too long to be from this service is unknown like any other, so the error
 * is `invalid_grant`, after which clients start a new sign-in. `invalid_request` would mean that the client has a bug
 * (RFC 6749 §5.2).
 */
const proof = z.string().min(1);

const tokenInput = {
  grant_type: z
    .enum(['authorization_code', 'refresh_token', 'client_credentials', DEVICE_GRANT])
    .describe('The grant: a code, a refresh token, the credentials of an API key, or a device code.'),
  code: proof.optional().meta({
    description: 'With `authorization_code`: the code from the redirect.',
    examples: ['hQ3vT1a9mXc0ZkB7uYw2sR5dEfGpLnJi8oVtAq4xKeM'],
  }),
  redirect_uri: z
    .string()
    .min(1)
    .max(2048)
    .optional()
    .meta({
      description: 'With a code: the same as at the authorization endpoint.',
      examples: ['https://app.example.com/callback'],
    }),
  code_verifier: z
    .string()
    .regex(/^[A-Za-z0-9._~-]{43,128}$/)
    .optional()
    .meta({
      description: 'With a code: the secret from which the challenge was computed.',
      examples: ['dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'],
    }),
  device_code: proof.optional().meta({
    description: 'With the grant of a device: what it got at the device authorization endpoint.',
    examples: ['hQ3vT1a9mXc0ZkB7uYw2sR5dEfGpLnJi8oVtAq4xKeM'],
  }),
  refresh_token: proof.optional().describe('With `refresh_token`: the last refresh token.'),
  scope: z.string().max(8192).optional().meta({
    description: 'With a refresh token: some of its scopes, separated by spaces. Otherwise ignored.',
  }),
  resource: resourceParameter.describe(
    'Some of the resources that the sign-in named; if it named none, with a code up to five of the `resources` of the app. The access token has them in `aud` (RFC 8707).',
  ),
  ...clientInput,
};

/** Asserts the fields that this grant needs. @throws VALIDATION_ERROR */
function requireFields<T extends object, K extends keyof T & string>(
  input: T,
  names: readonly K[],
): { readonly [N in K]: NonNullable<T[N]> } {
  const missing = names.filter((name) => input[name] === undefined);
  if (missing.length > 0) {
    throw fail('VALIDATION_ERROR', { details: missing.map((path) => ({ path, code: 'required' })) });
  }
  return input as { readonly [N in K]: NonNullable<T[N]> };
}

export const projectToken = mutation({
  rest: 'POST /auth/project/token',
  whileImpersonating: 'refused',
  summary: 'Exchange a code or a refresh token for tokens of an app, or an API key for a token',
  description:
    'The token endpoint of OAuth 2.0 (RFC 6749, section 3.2). It takes JSON or a form; a form gets an answer as in RFC 6749. A code works once, within 60 seconds; a second use ends the session of the first. With `client_credentials` it is `exchangeApiKey` for OAuth clients: the client is the key, and its own scope counts. A device (RFC 8628) asks again while the error is `authorization_pending` or `slow_down`, in JSON `INVALID_STATE`.',
  access: 'public',
  only: 'rest',
  permissionChange: 'none',
  cors: 'client',
  protocol: 'oauth',
  takesForm: {
    answer: tokensAsOauth,
    refusal: errorAsOauth,
    answerSchema: OauthTokens,
    refusalSchema: OauthError,
  },
  input: tokenInput,
  output: AppTokens,
  emits: 'session.created',
  codes: ['UNAUTHENTICATED', 'INVALID_TOKEN', 'INVALID_STATE'],
  groupCommit: ({ grant_type }) => grant_type === 'client_credentials',
  prepare: async ({ tx, services, call, input }) => {
    // A key has no resources.
    if (input.grant_type === 'client_credentials' && namedResources(input.resource).length > 0)
      throw invalidTarget();
    if (input.grant_type === 'client_credentials')
      return { key: await prepareKeyGrant({ services, call }, input) };
    if (input.grant_type === DEVICE_GRANT) {
      const sent = { ...requireFields(input, ['device_code']), resource: input.resource };
      const device = await authenticateClient(tx, services, call.network, input);
      return 'claimedApp' in device ? device : { device: await prepareDevice(tx, services, device, sent) };
    }
    const isCode = input.grant_type === 'authorization_code';
    const grant = isCode
      ? {
          code: {
            ...requireFields(input, ['code', 'redirect_uri', 'code_verifier']),
            resource: input.resource,
          },
        }
      : {
          refresh: {
            ...requireFields(input, ['refresh_token']),
            scope: input.scope,
            resource: input.resource,
          },
        };
    const client = await authenticateClient(tx, services, call.network, input);
    if ('claimedApp' in client) return client;
    return 'code' in grant
      ? { code: await prepareCodeExchange(tx, services, call, client, grant.code) }
      : { renewal: await prepareRenewal(tx, services, client, grant.refresh) };
  },
  run: (ctx) => {
    const { prepared } = ctx;
    if ('key' in prepared) return exchangeKeyGrant(ctx, prepared.key);
    if ('claimedApp' in prepared) return refuseClient(ctx, prepared);
    if ('device' in prepared) return exchangeDevice(ctx, prepared.device);
    return 'code' in prepared ? exchangeCode(ctx, prepared.code) : renew(ctx, prepared.renewal);
  },
});

const revokeInput = {
  token: proof.meta({
    description: 'An access or refresh token of the session.',
    examples: ['hQ3vT1a9mXc0ZkB7uYw2sR5dEfGpLnJi8oVtAq4xKeM'],
  }),
  token_type_hint: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'The type of the token. Optional, and ignored.' }),
  ...clientInput,
};

export const revokeProjectToken = mutation({
  rest: 'POST /auth/project/revoke',
  whileImpersonating: 'refused',
  summary: 'Sign the user of an app out',
  description:
    'Ends the session of an access or refresh token, and so both tokens (RFC 7009). The status is always 200; `revoked` is 0 without a live session of the app. A form gets `{}`.',
  access: 'public',
  only: 'rest',
  permissionChange: 'none',
  cors: 'client',
  protocol: 'oauth',
  takesForm: {
    answer: emptyReply,
    refusal: errorAsOauth,
    answerSchema: OauthNothing,
    refusalSchema: OauthError,
  },
  input: revokeInput,
  output: z
    .object({ revoked: z.int().describe('How many sessions ended.') })
    .meta({ id: 'RevokedTokens', description: 'How many sessions ended.' }),
  emits: 'session.revoked',
  codes: ['UNAUTHENTICATED'],
  prepare: async ({ tx, services, call, input }) => {
    const client = await authenticateClient(tx, services, call.network, input);
    if ('claimedApp' in client) return client;
    return { app: client.app, named: await identifySession(services, client.app, input.token) };
  },
  run: async (ctx) => {
    const { prepared } = ctx;
    if ('claimedApp' in prepared) return refuseClient(ctx, prepared);
    const revoked = await revokeTokens(ctx, prepared.app, prepared.named);
    if (revoked === 0) ctx.unchanged();
    return { revoked };
  },
});

export const introspectProjectToken = mutation({
  rest: 'POST /auth/project/introspect',
  whileImpersonating: 'refused',
  summary: 'Ask whether a token is valid now',
  description:
    'Token introspection (RFC 7662). A confidential app asks about access tokens of the issuer of its project, and about its own refresh tokens; an API key that holds `Token:Introspect` about access tokens of its project, by its client id and secret or with its token as Bearer. Any other token is answered `active: false`, like one that has ended. A form gets the answer without envelope.',
  access: 'public',
  only: 'rest',
  permissionChange: 'none',
  protocol: 'oauth',
  takesForm: {
    answer: documentAsOauth,
    refusal: errorOfIntrospection,
    answerSchema: Introspection,
    refusalSchema: OauthError,
  },
  input: {
    token: revokeInput.token.describe('An access token, or a refresh token of the app.'),
    token_type_hint: revokeInput.token_type_hint,
    ...clientInput,
    client_id: clientInput.client_id.optional(),
  },
  output: Introspection,
  codes: ['UNAUTHENTICATED', 'FORBIDDEN'],
  limit: {
    class: 'check',
    key: ({ client_id }, { network }) =>
      client_id === undefined ? '' : `introspect ${client_id} ${network}`,
  },
  prepare: async ({ tx, services, call, principal, input }) => {
    const client = await authenticateIntrospection({ tx, services, call, principal }, input);
    const answer =
      'app' in client
        ? await introspectForApp(tx, services, client.app, input.token)
        : 'principal' in client
          ? await introspectForKey(services, client.principal, input.token)
          : null;
    return { client, answer };
  },
  run: async (ctx) => {
    const { client, answer } = ctx.prepared;
    const refusal = await concludeIntrospection(ctx, client);
    if (refusal || !answer) return refusal ?? refuse(invalidClient());
    ctx.unchanged();
    return answer;
  },
});
