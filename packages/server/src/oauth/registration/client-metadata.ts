import { z } from 'zod';
import { redirectUri } from '../../schema/apps/redirect-uri.ts';
import { httpsUrl, text } from '../../kernel/input/values.ts';

const grantTypes = ['authorization_code', 'refresh_token'] as const;

/**
 * The metadata that a client may send about itself (RFC 7591 §2). Other members are ignored. Nothing is fetched, and no
 * picture is accepted. No person vouches for such a client, so pages show its name and where the browser returns, but
 * no link.
 */
export const clientMetadata = {
  redirect_uris: z
    .array(redirectUri)
    .min(1)
    .max(20)
    .meta({
      description: 'Where the browser may be sent after the sign-in. The rules are those of `redirectUris`.',
      examples: [['http://127.0.0.1/callback']],
    }),
  // Invisible characters, and those that change the text direction, could make it look like another name.
  client_name: text(1, 255)
    .regex(/^\P{Cf}*$/u)
    .optional()
    .meta({ description: 'What the sign-in pages call the app.', examples: ['Notes for Ada'] }),
  client_uri: httpsUrl.optional().describe('Web site of the client.'),
  scope: z.string().max(8192).optional().meta({
    description:
      "Scopes that it may request, separated by spaces: of OpenID Connect, and of the project's `registrableScopes`. Absent: all of them.",
  }),
  token_endpoint_auth_method: z
    .literal('none')
    .optional()
    .describe('Only public clients may register; PKCE protects them.'),
  grant_types: z.array(z.enum(grantTypes)).max(2).optional().describe('Values of `grant_type` that it uses.'),
  response_types: z.array(z.literal('code')).max(1).optional().describe('Values of `response_type`.'),
  post_logout_redirect_uris: z
    .array(redirectUri)
    .max(20)
    .optional()
    .describe('Where the browser may be sent after a logout.'),
};

export type ClientMetadata = z.output<z.ZodObject<typeof clientMetadata>>;

/** The response of RFC 7591 §3.2.1, for OpenAPI. */
export const ClientRegistration = z
  .object({
    client_id: z.string().describe('The client id of the app in OAuth requests.'),
    client_id_issued_at: z.int().describe('When it registered, in seconds.'),
    registration_access_token: z
      .string()
      .optional()
      .describe('For `registration_client_uri`, as Bearer. Shown only once.'),
    registration_client_uri: z.url().describe('Where the client reads and deletes its registration.'),
    client_name: z.string().describe('What the sign-in pages call the app.'),
    client_uri: z.string().optional().describe('Web site of the client.'),
    redirect_uris: z.array(z.string()).describe('Where the browser may be sent after the sign-in.'),
    post_logout_redirect_uris: z.array(z.string()).describe('Where the browser may be sent after a logout.'),
    scope: z.string().describe('Scopes that it may request, separated by spaces.'),
    token_endpoint_auth_method: z.literal('none').describe('It has no secret.'),
    grant_types: z.array(z.enum(grantTypes)).describe('Values of `grant_type` that it may use.'),
    response_types: z.array(z.literal('code')).describe('Values of `response_type` that it may use.'),
  })
  .meta({ id: 'ClientRegistration', description: 'A client that registered itself (RFC 7591).' });
