/* Responses for OAuth clients, which send forms: without an envelope, with the field names of RFC 6749 §5. */

import { z } from 'zod';
import { detailMessages, type Code, type DoorwardError } from '../../errors.ts';
import { bare, type BareReply } from '../../kernel/output/reply.ts';
import type { AppTokens } from './issue.ts';

/** The token response to an OAuth client. This schema and the next ones are for the API documentation. */
export const OauthTokens = z
  .object({
    access_token: z.string().describe('Token for API calls, sent in `Authorization: Bearer`.'),
    token_type: z.literal('Bearer').describe('How it is sent.'),
    expires_in: z.int().describe('Seconds until the access token ends.'),
    refresh_token: z.string().optional().meta({
      description:
        'Exchange it for the next tokens; it works once. Absent: `openid` was asked without `offline_access`.',
    }),
    id_token: z.string().optional().describe('Who signed in; with the scope `openid`.'),
    scope: z.string().optional().describe('What was granted, separated by spaces; absent: not restricted.'),
  })
  .meta({ id: 'OauthTokens', description: 'Tokens in the format of RFC 6749 §5.1.' });

export const OauthNothing = z
  .object({})
  .meta({ id: 'OauthNothing', description: 'Always empty: the status is the result (RFC 7009).' });

export const OauthError = z
  .object({
    error: z.string().describe('An error code of RFC 6749 §5.2, e.g. `invalid_grant`.'),
    error_description: z.string().optional().describe('What to do about it, in English.'),
  })
  .meta({ id: 'OauthError', description: 'An error in the format of RFC 6749 §5.2.' });

/** RFC 6749 §5.1 requires `Pragma` in addition to `Cache-Control`, which every response has. */
const headers = { pragma: 'no-cache' };

export const tokensAsOauth = (tokens: z.output<typeof AppTokens>): BareReply => {
  const { accessToken, tokenType, expiresIn, refreshToken, idToken, scope } = tokens;
  return bare(
    {
      access_token: accessToken,
      token_type: tokenType,
      expires_in: expiresIn,
      ...(refreshToken === null ? {} : { refresh_token: refreshToken }),
      ...(idToken === null ? {} : { id_token: idToken }),
      ...(scope === null ? {} : { scope }),
    },
    headers,
  );
};

/**
 * An empty JSON object with status 200; the status is the result (RFC 7009 §2.2). The body is JSON because many clients
 * parse every response.
 */
export const emptyReply = (): BareReply => bare({}, headers, 200);

/** A response whose members have the same names as in our JSON. */
export const documentAsOauth = (document: object): BareReply => bare(document, headers);

/**
 * OAuth error and status by our error code. A code that is not listed is a fault of the request and keeps its status.
 */
const oauthErrors: Partial<Record<Code, { readonly error: string; readonly status: number }>> = {
  UNAUTHENTICATED: { error: 'invalid_client', status: 401 },
  INVALID_TOKEN: { error: 'invalid_grant', status: 400 },
  // The project was deleted while the call was being processed.
  FORBIDDEN: { error: 'invalid_grant', status: 400 },
  RATE_LIMITED: { error: 'temporarily_unavailable', status: 429 },
  UNAVAILABLE: { error: 'temporarily_unavailable', status: 503 },
  INTERNAL_ERROR: { error: 'server_error', status: 500 },
};

export function errorAsOauth({ code, status, extras, params }: DoorwardError): BareReply {
  const { details = [], fix } = extras;
  const has = (path: string, detail: string) =>
    details.some((item) => item.path === path && item.code === detail);
  // The state of a device's request (RFC 8628 §3.5).
  const state = code === 'INVALID_STATE' ? String(params['state']) : undefined;
  const error =
    state ??
    oauthErrors[code]?.error ??
    (has('grant_type', 'enum')
      ? 'unsupported_grant_type'
      : has('scope', 'not_allowed')
        ? 'invalid_scope'
        : has('resource', 'not_allowed')
          ? 'invalid_target'
          : 'invalid_request');
  const description = fix ?? details.map(({ path, code }) => `${path}: ${detailMessages[code]}`).join(' ');
  // RFC 6749 §5.2 allows only printable ASCII, without quotes and backslashes.
  const error_description = description.replace(/[^ !#-[\]-~]/g, "'");
  const challenge = code === 'UNAUTHENTICATED' ? { 'www-authenticate': 'Basic realm="token endpoint"' } : {};
  return bare(
    { error, ...(error_description ? { error_description } : {}) },
    { ...headers, ...challenge },
    oauthErrors[code]?.status ?? (state === undefined ? status : 400),
  );
}

/** A missing permission becomes an error of RFC 6750 §3.1, because RFC 6749 has none for it. */
export const errorOfIntrospection = (error: DoorwardError): BareReply =>
  error.code === 'FORBIDDEN'
    ? bare(
        { error: 'insufficient_scope', error_description: 'the key does not hold Token:Introspect' },
        headers,
        403,
      )
    : errorAsOauth(error);
