import { createHmac } from 'node:crypto';

/**
 * The Standard Webhooks headers of a delivery attempt: the id of the event (the same for all attempts), the time of the
 * attempt, and one signature per secret. During a rotation there are two secrets, the newest first, and a receiver
 * verifies with either.
 */
export function signedHeaders(
  { id, body }: { readonly id: string; readonly body: string },
  secrets: readonly Buffer[],
  at: Date,
): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1000);
  const signatures = secrets.map(
    (secret) => `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  );
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
