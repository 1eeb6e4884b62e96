import { z } from 'zod';
import { projectIssuer } from '../../crypto/keyring.ts';
import type { Services } from '../../kernel/context.ts';
import { query } from '../../kernel/operation.ts';
import { bare } from '../../kernel/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { uuid } from '../../values.ts';
import { liveProject } from '../app-access/live-project.ts';

/**
 * What an OAuth client needs to know of a project, under its issuer (RFC 8414): where §3.1 puts it, between host and path,
 * and below the issuer like the keys, where some look for it. Apps differ in their scopes, so these are not among it.
 */
const clientAuthentication = z.array(z.enum(['none', 'client_secret_basic', 'client_secret_post']));

const Metadata = z
  .object({
    issuer: z.url().describe('The `iss` of the tokens.'),
    authorization_endpoint: z.url().describe('Where the browser begins to sign in.'),
    token_endpoint: z.url().describe('Where a code becomes tokens.'),
    revocation_endpoint: z.url().describe('Where tokens are ended.'),
    userinfo_endpoint: z.url().describe('Where an app asks who signed in.'),
    jwks_uri: z.url().describe('Where the keys are that verify the tokens.'),
    response_types_supported: z.array(z.literal('code')).describe('Values of `response_type`.'),
    response_modes_supported: z.array(z.literal('query')).describe('Values of `response_mode`.'),
    grant_types_supported: z
      .array(z.enum(['authorization_code', 'refresh_token']))
      .describe('Values of `grant_type`.'),
    code_challenge_methods_supported: z
      .array(z.literal('S256'))
      .describe('How the PKCE challenge may be made.'),
    token_endpoint_auth_methods_supported: clientAuthentication.describe(
      'How an app may prove who it is at the token endpoint.',
    ),
    revocation_endpoint_auth_methods_supported: clientAuthentication.describe(
      'How an app may prove who it is when it revokes.',
    ),
    authorization_response_iss_parameter_supported: z
      .literal(true)
      .describe('Whether `iss` comes with the code (RFC 9207).'),
    ui_locales_supported: z.array(z.enum(['en', 'de', 'es', 'fr'])).describe('Languages of the pages.'),
    service_documentation: z.url().describe('Documentation for people.'),
  })
  .meta({ id: 'AuthorizationServerMetadata', description: 'Where and how apps sign users in (RFC 8414).' });

interface Place {
  readonly kind: 'account' | 'organization';
  readonly id: string;
}

async function answerMetadata(
  { tx, services }: { readonly tx: Executor; readonly services: Services },
  owner: Place,
  projectId: string,
) {
  await liveProject(tx, owner.kind, owner.id, projectId);
  const { appUrl, tokens } = services.config;
  const issuer = projectIssuer(appUrl, owner, projectId);
  const methods = ['none', 'client_secret_basic', 'client_secret_post'] as const;
  const document: z.output<typeof Metadata> = {
    issuer,
    authorization_endpoint: `${appUrl}/api/auth/project/authorize`,
    token_endpoint: `${appUrl}/api/auth/project/token`,
    revocation_endpoint: `${appUrl}/api/auth/project/revoke`,
    userinfo_endpoint: `${appUrl}/api/auth/project/user-info`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: [...methods],
    revocation_endpoint_auth_methods_supported: [...methods],
    authorization_response_iss_parameter_supported: true,
    ui_locales_supported: ['en', 'de', 'es', 'fr'],
    service_documentation: `${appUrl}/api-docs`,
  };
  return bare(document, { 'cache-control': `public, max-age=${tokens.jwksMaxAgeSeconds}`, etag: '' });
}

/**
 * Metadata of the issuer of session tokens, which no app gets by OAuth. It says where the keys are, so that a verifier
 * needs to know the issuer only.
 */
const SystemMetadata = z
  .object({
    issuer: z.url().describe('The `iss` of session tokens.'),
    jwks_uri: z.url().describe('Where the keys are that verify them.'),
    response_types_supported: z.array(z.literal('none')).describe('No app gets these tokens by OAuth.'),
    service_documentation: z.url().describe('A page for people who write clients.'),
  })
  .meta({ id: 'IssuerMetadata', description: 'Who issues session tokens (RFC 8414).' });

const common = {
  access: 'public',
  only: 'rest',
  bare: true,
  rate: 'network',
  cors: 'any',
  output: Metadata,
  codes: ['NOT_FOUND'],
} as const;

export const systemMetadata = query({
  ...common,
  rest: 'GET ~/.well-known/oauth-authorization-server',
  summary: 'Who issues session tokens, and where the keys are',
  description: 'Without endpoints: apps sign users in under the issuer of their project.',
  input: {},
  output: SystemMetadata,
  codes: [],
  run: ({ services }) => {
    const { appUrl, tokens } = services.config;
    const document: z.output<typeof SystemMetadata> = {
      issuer: appUrl,
      jwks_uri: `${appUrl}/.well-known/jwks.json`,
      response_types_supported: ['none'],
      service_documentation: `${appUrl}/api-docs`,
    };
    return bare(document, { 'cache-control': `public, max-age=${tokens.jwksMaxAgeSeconds}`, etag: '' });
  },
});

const ofOrganization = {
  ...common,
  summary: "How apps of an organization's project sign users in",
  input: {
    organizationId: uuid.describe('Id of the organization.'),
    projectId: uuid.describe('Id of the project.'),
  },
};

const ofAccount = {
  ...common,
  summary: "How apps of an account's project sign users in",
  input: { accountId: uuid.describe('Id of the account.'), projectId: uuid.describe('Id of the project.') },
};

export const organizationProjectMetadata = query({
  ...ofOrganization,
  rest: 'GET ~/.well-known/oauth-authorization-server/org/:organizationId/prj/:projectId',
  run: (ctx) =>
    answerMetadata(ctx, { kind: 'organization', id: ctx.input.organizationId }, ctx.input.projectId),
});

export const accountProjectMetadata = query({
  ...ofAccount,
  rest: 'GET ~/.well-known/oauth-authorization-server/acc/:accountId/prj/:projectId',
  run: (ctx) => answerMetadata(ctx, { kind: 'account', id: ctx.input.accountId }, ctx.input.projectId),
});

export const organizationProjectMetadataBelowIssuer = query({
  ...ofOrganization,
  rest: 'GET ~/org/:organizationId/prj/:projectId/.well-known/oauth-authorization-server',
  run: (ctx) =>
    answerMetadata(ctx, { kind: 'organization', id: ctx.input.organizationId }, ctx.input.projectId),
});

export const accountProjectMetadataBelowIssuer = query({
  ...ofAccount,
  rest: 'GET ~/acc/:accountId/prj/:projectId/.well-known/oauth-authorization-server',
  run: (ctx) => answerMetadata(ctx, { kind: 'account', id: ctx.input.accountId }, ctx.input.projectId),
});
