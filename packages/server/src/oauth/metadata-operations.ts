import { z } from 'zod';
import { projectIssuer } from '../crypto/keys/keyring.ts';
import type { Services } from '../services.ts';
import { query } from '../declare.ts';
import { bare } from '../kernel/output/reply.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { uuid } from '../kernel/input/values.ts';
import { openidScopes } from '../schema/apps/openid-scope.ts';
import { liveProject } from '../apps/access/live-project.ts';
import { languages } from '../languages.ts';

/*
 * Metadata of a project's issuer, both for OAuth (RFC 8414) and OpenID Connect (OpenID Connect Discovery §4). Each is
 * served at two paths: with the well-known part between host and path of the issuer, as RFC 8414 §3.1 requires, and
 * below the issuer, as OpenID Connect requires.
 */

const clientAuthentication = z.array(z.enum(['none', 'client_secret_basic', 'client_secret_post']));

const claims =
  'iss sub aud exp iat auth_time nonce acr amr at_hash sid name picture locale updated_at email email_verified org_id org_name'.split(
    ' ',
  );

const grantTypes = [
  'authorization_code',
  'refresh_token',
  'client_credentials',
  'urn:ietf:params:oauth:grant-type:device_code',
] as const;

const Metadata = z
  .object({
    issuer: z.url().describe('The `iss` of the tokens.'),
    authorization_endpoint: z.url().describe('Where the browser starts a sign-in.'),
    token_endpoint: z.url().describe('Where an app exchanges a code, or a machine its API key, for tokens.'),
    revocation_endpoint: z.url().describe('Where an app revokes tokens.'),
    introspection_endpoint: z
      .url()
      .describe('Where a confidential app or an API key asks whether a token is valid.'),
    end_session_endpoint: z.url().describe('Where an app sends the browser to sign out.'),
    userinfo_endpoint: z.url().describe('Where an app asks who signed in.'),
    device_authorization_endpoint: z.url().describe('Where a device without a browser begins (RFC 8628).'),
    registration_endpoint: z
      .url()
      .optional()
      .describe('Where clients register themselves (RFC 7591); absent where that is off.'),
    jwks_uri: z.url().describe('Address of the keys that verify the tokens.'),
    response_types_supported: z.array(z.literal('code')).describe('Values of `response_type`.'),
    response_modes_supported: z.array(z.enum(['query', 'form_post'])).describe('Values of `response_mode`.'),
    scopes_supported: z
      .array(z.enum(openidScopes))
      .describe('Scopes of OpenID Connect; the permissions differ between the apps of a project.'),
    subject_types_supported: z.array(z.literal('public')).describe('`sub` is the same for all apps.'),
    id_token_signing_alg_values_supported: z.array(z.literal('RS256')).describe('How id_tokens are signed.'),
    claims_supported: z.array(z.string()).describe('Claims of id_tokens and of user info.'),
    acr_values_supported: z.array(z.enum(['aal1', 'aal2'])).describe('Values of `acr`: one factor, or two.'),
    claims_parameter_supported: z.literal(false).describe('The parameter `claims` is ignored.'),
    request_parameter_supported: z.literal(false).describe('Request objects are refused.'),
    request_uri_parameter_supported: z.literal(false).describe('Request objects are refused.'),
    prompt_values_supported: z
      .array(z.enum(['none', 'login', 'consent', 'select_account']))
      .describe('Values of `prompt`.'),
    grant_types_supported: z.array(z.enum(grantTypes)).describe('Values of `grant_type`.'),
    code_challenge_methods_supported: z
      .array(z.literal('S256'))
      .describe('How the PKCE challenge may be computed.'),
    token_endpoint_auth_methods_supported: clientAuthentication.describe(
      'How an app may authenticate at the token endpoint.',
    ),
    revocation_endpoint_auth_methods_supported: clientAuthentication.describe(
      'How an app may authenticate at the revocation endpoint.',
    ),
    introspection_endpoint_auth_methods_supported: clientAuthentication.describe(
      'How an app may authenticate at the introspection endpoint.',
    ),
    authorization_response_iss_parameter_supported: z
      .literal(true)
      .describe('Whether `iss` comes with the code (RFC 9207).'),
    backchannel_logout_supported: z
      .literal(true)
      .describe('Whether apps get a token when a session ends (OpenID Connect Back-Channel Logout).'),
    backchannel_logout_session_supported: z.literal(true).describe('Whether the logout token has `sid`.'),
    ui_locales_supported: z.array(z.enum(languages)).describe('Languages of the pages.'),
    service_documentation: z.url().describe('Documentation for developers.'),
  })
  .meta({
    id: 'AuthorizationServerMetadata',
    description: 'Where and how apps sign users in (RFC 8414, OpenID Connect Discovery).',
  });

interface ProjectOwner {
  readonly kind: 'account' | 'organization';
  readonly id: string;
}

async function answerMetadata(
  { tx, services }: { readonly tx: Executor; readonly services: Services },
  owner: ProjectOwner,
  projectId: string,
) {
  const { dynamicRegistration } = await liveProject(tx, owner.kind, owner.id, projectId);
  const { appUrl, tokens, auth } = services.config;
  const issuer = projectIssuer(appUrl, owner, projectId);
  const methods = ['none', 'client_secret_basic', 'client_secret_post'] as const;
  const document: z.output<typeof Metadata> = {
    issuer,
    authorization_endpoint: `${appUrl}/api/auth/project/authorize`,
    token_endpoint: `${appUrl}/api/auth/project/token`,
    revocation_endpoint: `${appUrl}/api/auth/project/revoke`,
    introspection_endpoint: `${appUrl}/api/auth/project/introspect`,
    end_session_endpoint: `${appUrl}/api/auth/project/end-session`,
    userinfo_endpoint: `${appUrl}/api/auth/project/user-info`,
    device_authorization_endpoint: `${appUrl}/api/auth/project/device`,
    ...(auth.dynamicRegistration &&
      dynamicRegistration === 'token' && {
        registration_endpoint: `${appUrl}/api/auth/project/register`,
      }),
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    response_types_supported: ['code'],
    response_modes_supported: ['query', 'form_post'],
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    scopes_supported: [...openidScopes],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    claims_supported: [...claims],
    acr_values_supported: ['aal1', 'aal2'],
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    grant_types_supported: [...grantTypes],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: [...methods],
    revocation_endpoint_auth_methods_supported: [...methods],
    introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    authorization_response_iss_parameter_supported: true,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    ui_locales_supported: [...languages],
    service_documentation: `${appUrl}/api-docs`,
  };
  return bare(document, { 'cache-control': `public, max-age=${tokens.jwksMaxAgeSeconds}`, etag: '' });
}

/**
 * Metadata of the issuer of session tokens, which apps cannot obtain by OAuth. It contains the address of the keys, so
 * a verifier only needs to know the issuer.
 */
const SystemMetadata = z
  .object({
    issuer: z.url().describe('The `iss` of session tokens.'),
    jwks_uri: z.url().describe('Address of the keys that verify them.'),
    response_types_supported: z
      .array(z.literal('none'))
      .describe('Apps cannot obtain these tokens by OAuth.'),
    service_documentation: z.url().describe('Documentation for developers.'),
  })
  .meta({ id: 'IssuerMetadata', description: 'The issuer of session tokens (RFC 8414).' });

const common = {
  access: 'public',
  only: 'rest',
  bare: true,
  limit: 'network',
  cors: 'any',
  output: Metadata,
  codes: ['NOT_FOUND'],
} as const;

export const systemMetadata = query({
  ...common,
  rest: 'GET ~/.well-known/oauth-authorization-server',
  summary: 'Read the metadata of the issuer of session tokens',
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
  summary: "Read the OAuth metadata of an organization's project",
  input: {
    organizationId: uuid.describe('Id of the organization.'),
    projectId: uuid.describe('Id of the project.'),
  },
};

const ofAccount = {
  ...common,
  summary: "Read the OAuth metadata of an account's project",
  input: { accountId: uuid.describe('Id of the account.'), projectId: uuid.describe('Id of the project.') },
};

type OfOrganization = Parameters<typeof answerMetadata>[0] & {
  readonly input: { readonly organizationId: string; readonly projectId: string };
};
const answerOrganization = (ctx: OfOrganization) =>
  answerMetadata(ctx, { kind: 'organization', id: ctx.input.organizationId }, ctx.input.projectId);

type OfAccount = Parameters<typeof answerMetadata>[0] & {
  readonly input: { readonly accountId: string; readonly projectId: string };
};
const answerAccount = (ctx: OfAccount) =>
  answerMetadata(ctx, { kind: 'account', id: ctx.input.accountId }, ctx.input.projectId);

export const organizationProjectMetadata = query({
  ...ofOrganization,
  rest: 'GET ~/.well-known/oauth-authorization-server/org/:organizationId/prj/:projectId',
  run: answerOrganization,
});

export const accountProjectMetadata = query({
  ...ofAccount,
  rest: 'GET ~/.well-known/oauth-authorization-server/acc/:accountId/prj/:projectId',
  run: answerAccount,
});

export const organizationProjectMetadataBelowIssuer = query({
  ...ofOrganization,
  rest: 'GET ~/org/:organizationId/prj/:projectId/.well-known/oauth-authorization-server',
  run: answerOrganization,
});

export const accountProjectMetadataBelowIssuer = query({
  ...ofAccount,
  rest: 'GET ~/acc/:accountId/prj/:projectId/.well-known/oauth-authorization-server',
  run: answerAccount,
});

const openidOfOrganization = {
  ...ofOrganization,
  summary: "Read the OpenID Connect configuration of an organization's project",
};
const openidOfAccount = {
  ...ofAccount,
  summary: "Read the OpenID Connect configuration of an account's project",
};

export const organizationProjectOpenidConfiguration = query({
  ...openidOfOrganization,
  rest: 'GET ~/org/:organizationId/prj/:projectId/.well-known/openid-configuration',
  run: answerOrganization,
});

export const accountProjectOpenidConfiguration = query({
  ...openidOfAccount,
  rest: 'GET ~/acc/:accountId/prj/:projectId/.well-known/openid-configuration',
  run: answerAccount,
});

export const organizationProjectOpenidConfigurationAboveIssuer = query({
  ...openidOfOrganization,
  rest: 'GET ~/.well-known/openid-configuration/org/:organizationId/prj/:projectId',
  run: answerOrganization,
});

export const accountProjectOpenidConfigurationAboveIssuer = query({
  ...openidOfAccount,
  rest: 'GET ~/.well-known/openid-configuration/acc/:accountId/prj/:projectId',
  run: answerAccount,
});
