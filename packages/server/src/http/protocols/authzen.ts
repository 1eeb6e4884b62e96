import type { FastifyRequest } from 'fastify';
import { fail, type DoorwardError } from '../../errors.ts';

/* AuthZEN's requirements for its endpoints, beyond their input and output (authzen §5). */

const visibleText = /^[!-~]{1,255}$/;

/**
 * The request id for the response. AuthZEN clients get back the id that they sent, whatever its form; logs use our own
 * id (conventions §12).
 */
export function shownRequestId({ id, route, headers }: FastifyRequest): string {
  const requested = headers['x-request-id'];
  return route?.protocol === 'authzen' && typeof requested === 'string' && visibleText.test(requested)
    ? requested
    : id;
}

/** Replaces errors that a protocol does not have: AuthZEN has no 415, so another body type is a bad request. */
export function inProtocolOf({ route }: FastifyRequest, error: DoorwardError): DoorwardError {
  if (route?.protocol !== 'authzen' || error.code !== 'UNSUPPORTED_MEDIA_TYPE') return error;
  return fail('VALIDATION_ERROR', {
    details: [{ path: '', code: 'malformed_json' }],
    fix: 'Send a JSON object in UTF-8 with Content-Type: application/json.',
  });
}
