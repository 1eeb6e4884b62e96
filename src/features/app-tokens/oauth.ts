import { z } from 'zod';
import { detailMessages, type Code, type DoorwardError } from '../../errors.ts';
import { bare, type BareReply } from '../../kernel/reply.ts';
import type { AppTokens } from './issue.ts';

/** How an OAuth client, which sends a form, is answered (RFC 6749 §5): without envelope, in the standard's own words. */

/** The forms of these answers, for the documents. */
export const OauthTokens = z
  .object({
    access_token: z.string().describe('Token for calls, in `Authorization: Bearer`.'),
    token_type: z.literal('Bearer').describe('How it is sent.'),
    expires_in: z.int().describe('Seconds until the access token ends.'),
    refresh_token: z.string().describe('Exchange it for the next tokens; it works once.'),
    scope: z
      .string()
      .optional()
      .describe('What the token may do, separated by spaces; absent: not restricted.'),
  })
  .meta({ id: 'OauthTokens', description: 'Tokens in the words of RFC 6749 §5.1.' });

export const OauthNothing = z
  .object({})
  .meta({ id: 'OauthNothing', description: 'Always empty: the status tells the result (RFC 7009).' });

export const OauthError = z
  .object({
    error: z.string().describe('A word of RFC 6749 §5.2, e.g. `invalid_grant`.'),
    error_description: z.string().optional().describe('What to do about it, in English.'),
  })
  .meta({ id: 'OauthError', description: 'A refusal in the words of RFC 6749 §5.2.' });

/** RFC 6749 §5.1 asks for `Pragma` beside `Cache-Control`, which every answer has. */
const headers = { pragma: 'no-cache' };

export const tokensAsOauth = (tokens: z.output<typeof AppTokens>): BareReply => {
  const { accessToken, tokenType, expiresIn, refreshToken, scope } = tokens;
  const restricted = scope === null ? {} : { scope };
  return bare(
    {
      access_token: accessToken,
      token_type: tokenType,
      expires_in: expiresIn,
      refresh_token: refreshToken,
      ...restricted,
    },
    headers,
  );
};

/** RFC 7009 §2.2: the status tells the result. Many clients parse every answer as JSON. */
export const nothing = (): BareReply => bare({}, headers, 200);

/** Codes not listed are faults of the request, and keep their status. */
const words: Partial<Record<Code, { readonly error: string; readonly status: number }>> = {
  UNAUTHENTICATED: { error: 'invalid_client', status: 401 },
  INVALID_TOKEN: { error: 'invalid_grant', status: 400 },
  // The project ended while its app was served.
  FORBIDDEN: { error: 'invalid_grant', status: 400 },
  RATE_LIMITED: { error: 'temporarily_unavailable', status: 429 },
  UNAVAILABLE: { error: 'temporarily_unavailable', status: 503 },
  INTERNAL_ERROR: { error: 'server_error', status: 500 },
};

export function refusalAsOauth({ code, status, extras }: DoorwardError): BareReply {
  const { details = [], fix } = extras;
  const has = (path: string, detail: string) =>
    details.some((one) => one.path === path && one.code === detail);
  const word =
    words[code]?.error ??
    (has('grant_type', 'enum')
      ? 'unsupported_grant_type'
      : has('scope', 'not_allowed')
        ? 'invalid_scope'
        : 'invalid_request');
  const described = fix ?? details.map(({ path, code }) => `${path}: ${detailMessages[code]}`).join(' ');
  // Of the answer's text, RFC 6749 §5.2 leaves out quotes and backslashes.
  const error_description = described.replace(/[^ !#-[\]-~]/g, "'");
  const challenge = code === 'UNAUTHENTICATED' ? { 'www-authenticate': 'Basic realm="token endpoint"' } : {};
  return bare(
    { error: word, ...(error_description ? { error_description } : {}) },
    { ...headers, ...challenge },
    words[code]?.status ?? status,
  );
}
