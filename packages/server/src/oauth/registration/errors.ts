import { detailMessages, fail, type Code, type DoorwardError } from '../../errors.ts';
import { bare, type BareReply } from '../../kernel/output/reply.ts';

const errors: Partial<Record<Code, { readonly error: string; readonly status: number }>> = {
  UNAUTHENTICATED: { error: 'invalid_token', status: 401 },
  FORBIDDEN: { error: 'insufficient_scope', status: 403 },
  IMPERSONATION_NOT_ALLOWED: { error: 'access_denied', status: 403 },
  // Registration is disabled in the installation.
  NOT_FOUND: { error: 'access_denied', status: 404 },
  // Registration is disabled in the project.
  INVALID_STATE: { error: 'access_denied', status: 403 },
  // The project has reached its limit of registered apps.
  CONFLICT: { error: 'access_denied', status: 409 },
  RATE_LIMITED: { error: 'temporarily_unavailable', status: 429 },
  UNAVAILABLE: { error: 'temporarily_unavailable', status: 503 },
  INTERNAL_ERROR: { error: 'server_error', status: 500 },
};

/** Converts an error to the formats of RFC 7591 §3.2.2 and RFC 6750 §3.1. */
export function registrationError({ code, status, extras }: DoorwardError): BareReply {
  const { details = [], fix } = extras;
  const isRedirect = details.some(({ path }) => /^(?:post_logout_)?redirect_uris\b/.test(path));
  const error = errors[code]?.error ?? (isRedirect ? 'invalid_redirect_uri' : 'invalid_client_metadata');
  const description =
    fix ?? details.map(({ path, code }) => `${path}: ${detailMessages[code]}`.trim()).join(' ');
  // RFC 6749 §5.2 allows only printable ASCII, without quotes and backslashes.
  const error_description = description.replace(/[^ !#-[\]-~]/g, "'");
  return bare(
    { error, ...(error_description !== '' && { error_description }) },
    { pragma: 'no-cache' },
    errors[code]?.status ?? status,
  );
}

/**
 * The error for a token that never existed, has ended, or belongs to another client; it is the same for all of them.
 */
export const invalidRegistrationToken = (): DoorwardError =>
  fail('UNAUTHENTICATED', { headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' } });
