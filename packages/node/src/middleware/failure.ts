import { ApiError, ConnectionError, TokenError, type DoorwardError } from '../contracts/errors.ts';
import type { Answer, Refusals } from './answer.ts';

/** Statuses of temporary failures: too many requests, or a service that cannot respond now. */
const temporary = new Set([429, 502, 503, 504]);

/**
 * The response to the caller if the service made no decision. Null if the application is at fault, for example because
 * its key was revoked or lacks `Authorization:Check`. `byToken`: the question was about the caller's token.
 */
export function refusalOf(error: DoorwardError, byToken: boolean, refuse: Refusals): Answer | null {
  if (error instanceof TokenError)
    return refuse.unauthenticated(error.code === 'TOKEN_EXPIRED' ? 'expired' : 'invalid');
  if (error instanceof ConnectionError) return refuse.unavailable(error.retryAfterMs);
  if (!(error instanceof ApiError) || error.status === undefined) return null;
  if (temporary.has(error.status)) return refuse.unavailable(error.retryAfterMs);
  if (error.details?.some(({ path }) => path === 'minRevision')) return refuse.badRevision();
  // A 403 may be about the caller: for example, the session still needs its second factor.
  return byToken && error.status === 403 ? refuse.forbidden(error.reason, error.code, error.message) : null;
}
