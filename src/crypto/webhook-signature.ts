import { createHmac } from 'node:crypto';

/**
 * The headers of Standard Webhooks for one attempt: the id is that of the event, equal on every attempt, the time is
 * that of the attempt. Whoever holds one of the secrets can verify; during a rotation there are two, the newest first.
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
