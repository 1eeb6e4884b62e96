import { Webhook } from 'standardwebhooks';
import { ConfigError, WebhookError } from '../contracts/errors.ts';
import type { DoorwardEvent } from '../client/operation-types.ts';

/** The body exactly as it arrived, as a string or bytes. */
export type WebhookBody = string | Uint8Array | ArrayBuffer;
/** Headers of the request, in the form of Node, Express or `fetch`. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

/**
 * Returns the event of a webhook request, if the service signed it with one of the secrets and its timestamp is within
 * five minutes of now (events §5).
 *
 * @example const event = verifyWebhook(await request.text(), request.headers, process.env.WEBHOOK_SECRET);
 * @throws WebhookError if the request is not from the service, or its body was already parsed
 * @throws ConfigError if a secret does not have the form `whsec_…`
 */
export function verifyWebhook(
  rawBody: WebhookBody,
  headers: WebhookHeaders,
  secret: string | readonly string[],
): DoorwardEvent {
  const keys = keysOf(secret);
  const body = textOf(rawBody);
  const signed = Object.fromEntries(names.map((name) => [name, headerOf(headers, name)]));
  // The library would also accept a text that merely begins with a number.
  if (!/^\d{1,12}$/.test(signed['webhook-timestamp'] ?? '')) throw refused('TIMESTAMP');
  let cause: unknown;
  for (const key of keys) {
    try {
      key.verify(body, signed as Record<string, string>, { jsonParse: false });
      return eventOf(body);
    } catch (error) {
      if (error instanceof WebhookError) throw error;
      cause = error;
    }
  }
  throw refused(/timestamp/i.test((cause as Error).message) ? 'TIMESTAMP' : 'SIGNATURE');
}

function keysOf(secret: string | readonly string[]): Webhook[] {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  const isSecret = (text: unknown): text is string =>
    typeof text === 'string' && /^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(text);
  if (!Array.isArray(secrets) || secrets.length === 0 || !secrets.every(isSecret))
    throw new ConfigError(
      'The secret of a webhook begins with `whsec_`.',
      ['secret'],
      'It is in the answer of createWebhookSubscription.',
    );
  return secrets.map((text) => new Webhook(text));
}

/** Checks the form of the secrets. @throws ConfigError if a secret does not have the form `whsec_…` */
export const assertWebhookSecrets = (secret: string | readonly string[]): void => void keysOf(secret);

function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array || body instanceof ArrayBuffer) return new TextDecoder().decode(body);
  throw new WebhookError('BODY', 'The body was parsed before, but the signature needs its exact bytes.', {
    fix: 'Give the bytes of the request, in Express with express.raw({ type: "application/json" }) on this route.',
  });
}

/** The value of a header; undefined if it is missing or has several values (`Headers` joins them instead). */
function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const match = Object.entries(headers).filter(([key]) => key.toLowerCase() === name);
  const value = match.length === 1 ? match[0]?.[1] : undefined;
  return typeof value === 'string' ? value : undefined;
}

function eventOf(body: string): DoorwardEvent {
  const event = parsed(body) as { id?: unknown; type?: unknown } | undefined;
  if (typeof event?.id !== 'string' || typeof event.type !== 'string')
    throw new WebhookError('BODY', 'The body is not an event.');
  return event as DoorwardEvent;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

const refused = (code: 'SIGNATURE' | 'TIMESTAMP'): WebhookError =>
  new WebhookError(
    code,
    code === 'SIGNATURE'
      ? 'The signature is not that of the service.'
      : 'The timestamp is missing, or not within five minutes of now.',
    { status: 400 },
  );
