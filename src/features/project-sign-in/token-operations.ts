import { eq } from 'drizzle-orm';
import { z } from 'zod';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import { mutation, query } from '../../kernel/operation.ts';
import { bare } from '../../kernel/reply.ts';
import { clientInput, clientOf, refuseImpostor } from '../app-tokens/client.ts';
import { exchangeCode, prepareCode } from '../app-tokens/exchange.ts';
import { AppTokens } from '../app-tokens/issue.ts';
import {
  nothing,
  OauthError,
  OauthNothing,
  OauthTokens,
  refusalAsOauth,
  tokensAsOauth,
} from '../app-tokens/oauth.ts';
import { prepareRenewal, renew } from '../app-tokens/renewal.ts';
import { revoke, sessionNamed } from '../app-tokens/revocation.ts';
import { users } from '../users/user.ts';

/**
 * What an app asks without its user (identity §12): tokens for a code or a refresh token, their end, and who signed in. Names
 * of fields are OAuth's; a form is answered as OAuth has it, JSON as everything else here.
 */

const tokenInput = {
  grant_type: z
    .enum(['authorization_code', 'refresh_token'])
    .describe('What is exchanged: a code or a refresh token.'),
  code: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .meta({
      description: 'With `authorization_code`: the code that came to the redirect address.',
      examples: ['hQ3vT1a9mXc0ZkB7uYw2sR5dEfGpLnJi8oVtAq4xKeM'],
    }),
  redirect_uri: z
    .string()
    .min(1)
    .max(2048)
    .optional()
    .meta({
      description: 'With a code: as it was sent to the authorization endpoint.',
      examples: ['https://app.example.com/callback'],
    }),
  code_verifier: z
    .string()
    .regex(/^[A-Za-z0-9._~-]{43,128}$/)
    .optional()
    .meta({
      description: 'With a code: the secret of which the challenge was made.',
      examples: ['dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'],
    }),
  refresh_token: z
    .string()
    .min(1)
    .max(1024)
    .optional()
    .describe('With `refresh_token`: the last refresh token.'),
  scope: z
    .string()
    .max(8192)
    .optional()
    .meta({ description: 'With a refresh token: a part of what it may do, separated by spaces.' }),
  ...clientInput,
};

/** Which fields are needed depends on the grant. @throws VALIDATION_ERROR */
function needed<T extends object, K extends keyof T & string>(
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
  summary: 'Tokens of an app, for a code or a refresh token',
  description:
    'The token endpoint of OAuth 2.0 (RFC 6749 §3.2). As JSON, or as a form, which is answered as RFC 6749 has it. A code works once, within 60 seconds; a second use ends the session of the first.',
  access: 'public',
  only: 'rest',
  keepsRights: true,
  cors: 'client',
  oauth: 'endpoint',
  takesForm: {
    answer: tokensAsOauth,
    refusal: refusalAsOauth,
    success: OauthTokens,
    failure: OauthError,
  },
  input: tokenInput,
  output: AppTokens,
  emits: 'session.created',
  codes: ['UNAUTHENTICATED', 'INVALID_TOKEN'],
  prepare: async ({ tx, services, call, input }) => {
    const isCode = input.grant_type === 'authorization_code';
    const grant = isCode
      ? { code: needed(input, ['code', 'redirect_uri', 'code_verifier']) }
      : { refresh: { ...needed(input, ['refresh_token']), scope: input.scope } };
    const client = await clientOf(tx, services, call.network, input);
    if ('impersonated' in client) return client;
    return 'code' in grant
      ? { code: await prepareCode(tx, services, call, client, grant.code) }
      : { renewal: await prepareRenewal(tx, services, client, grant.refresh) };
  },
  run: (ctx) => {
    const { prepared } = ctx;
    if ('impersonated' in prepared) return refuseImpostor(ctx, prepared);
    return 'code' in prepared ? exchangeCode(ctx, prepared.code) : renew(ctx, prepared.renewal);
  },
});

const revokeInput = {
  token: z
    .string()
    .min(1)
    .max(8192)
    .meta({
      description: 'An access or refresh token of the session.',
      examples: ['hQ3vT1a9mXc0ZkB7uYw2sR5dEfGpLnJi8oVtAq4xKeM'],
    }),
  token_type_hint: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'Which kind of token it is. Not needed, and not looked at.' }),
  ...clientInput,
};

export const revokeProjectToken = mutation({
  rest: 'POST /auth/project/revoke',
  summary: 'Sign the user of an app out',
  description:
    'By access or refresh token: the session ends, and with it both (RFC 7009). Always 200, 0 without a live session of the app; a form is answered `{}`.',
  access: 'public',
  only: 'rest',
  keepsRights: true,
  cors: 'client',
  oauth: 'endpoint',
  takesForm: {
    answer: nothing,
    refusal: refusalAsOauth,
    success: OauthNothing,
    failure: OauthError,
  },
  input: revokeInput,
  output: z
    .object({ revoked: z.int().describe('How many sessions ended.') })
    .meta({ id: 'RevokedTokens', description: 'How many sessions ended.' }),
  emits: 'session.revoked',
  codes: ['UNAUTHENTICATED'],
  prepare: async ({ tx, services, call, input }) => {
    const client = await clientOf(tx, services, call.network, input);
    if ('impersonated' in client) return client;
    return { app: client.app, named: await sessionNamed(services, client.app, input.token) };
  },
  run: async (ctx) => {
    const { prepared } = ctx;
    if ('impersonated' in prepared) return refuseImpostor(ctx, prepared);
    const revoked = await revoke(ctx, prepared.app, prepared.named);
    if (revoked === 0) ctx.unchanged();
    return { revoked };
  },
});

const UserInfo = z
  .object({
    sub: z.string().describe('Id of the user.'),
    name: z.string().describe('What people call them.'),
    email: z.string().optional().describe('Their address.'),
    email_verified: z.boolean().optional().describe('Whether they have proved that it is theirs.'),
    picture: z.string().optional().describe('Where their picture is.'),
    locale: z.string().optional().describe('The language they read.'),
  })
  .meta({ id: 'ProjectUserInfo', description: 'Who signed in, in the words of OpenID Connect.' });

export const projectUserInfo = query({
  rest: 'GET /auth/project/user-info',
  summary: 'Who signed in to the app',
  description: 'With a token of an app. What is not known is left out.',
  access: 'any',
  only: 'rest',
  bare: true,
  cors: 'app',
  oauth: 'endpoint',
  input: {},
  output: UserInfo,
  codes: ['FORBIDDEN'],
  run: async (ctx) => {
    const { type, userId } = callerOf(ctx);
    const [user] = await ctx.tx.select().from(users).where(eq(users.id, userId));
    if (type !== 'projectApp' || !user) {
      throw fail('FORBIDDEN', { fix: 'Ask with a token of a project app.' });
    }
    const { id, name, email, emailVerified, pictureUrl, locale } = user;
    return bare({
      sub: id,
      name,
      ...(email === null ? {} : { email, email_verified: emailVerified }),
      ...(pictureUrl === null ? {} : { picture: pictureUrl }),
      ...(locale === null ? {} : { locale }),
    });
  },
});
