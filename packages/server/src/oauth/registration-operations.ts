import { z } from 'zod';
import { ClientRegistration, clientMetadata } from './registration/client-metadata.ts';
import { registrationError } from './registration/errors.ts';
import { deleteRegisteredApp, describeClient, registeredClient } from './registration/registered-client.ts';
import { registerClient, registeringProject } from './registration/register.ts';
import { OauthError } from './tokens/oauth.ts';
import { mutation, query } from '../declare.ts';
import { bare } from '../kernel/output/reply.ts';

/* Dynamic registration of clients (RFC 7591) and its management (RFC 7592); see openid §13. */

const registration = {
  access: 'public',
  only: 'rest',
  bare: true,
  restAnswers: { refusal: registrationError, refusalSchema: OauthError },
} as const;

const noCache = { pragma: 'no-cache' };

export const registerProjectClient = mutation({
  ...registration,
  rest: 'POST /auth/project/register',
  whileImpersonating: 'refused',
  summary: 'Register a client as an app of a project',
  description:
    'Dynamic client registration (RFC 7591), where the installation and the project allow it. `Authorization: Bearer` has the token of an API key that holds `ProjectApp:Create` in the project, from `exchangeApiKey` or the token endpoint. Errors have the form of RFC 7591.',
  permissionChange: 'none',
  protocol: 'oauth',
  input: clientMetadata,
  output: ClientRegistration,
  status: 201,
  emits: 'project_app.created',
  codes: ['UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND', 'INVALID_STATE', 'CONFLICT'],
  limit: {
    class: 'auth',
    key: (_input, { network, authentication }) =>
      authentication.ok ? `register ${authentication.principal.credentialId}` : `register ${network}`,
  },
  prepare: ({ services, principal }) => registeringProject(services, principal),
  run: async (ctx) => bare(await registerClient(ctx, ctx.prepared, ctx.input), noCache, 201),
});

const client = {
  client: z.string().min(1).max(64).describe('The `client_id` of the client.'),
};
const byToken = 'With the `registration_access_token` of the client as `Authorization: Bearer` (RFC 7592).';

export const projectClientRegistration = query({
  ...registration,
  rest: 'GET /auth/project/register/:client',
  summary: 'Read the registration of a client',
  description: byToken,
  input: client,
  output: ClientRegistration,
  codes: ['UNAUTHENTICATED'],
  run: async ({ tx, services, call, input }) =>
    bare(describeClient(services.config, await registeredClient(tx, input.client, call.bearer)), noCache),
});

export const deleteProjectClientRegistration = mutation({
  ...registration,
  rest: 'DELETE /auth/project/register/:client',
  whileImpersonating: 'refused',
  summary: 'Delete the registration of a client',
  description: `${byToken} Its sessions end.`,
  permissionChange: 'none',
  input: client,
  output: z.null(),
  status: 204,
  emits: 'project_app.deleted',
  codes: ['UNAUTHENTICATED'],
  run: async (ctx) => {
    const app = await registeredClient(ctx.tx, ctx.input.client, ctx.call.bearer);
    if (!(await deleteRegisteredApp(ctx, app))) ctx.unchanged();
    return bare(null, noCache, 204);
  },
});
