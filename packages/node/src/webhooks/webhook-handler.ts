import type { IncomingMessage, ServerResponse } from 'node:http';
import { WebhookError } from '../contracts/errors.ts';
import type { DoorwardEvent, EventOf, EventType } from '../client/operation-types.ts';
import {
  assertWebhookSecrets,
  verifyWebhook,
  type WebhookBody,
  type WebhookHeaders,
} from './verify-webhook.ts';

export interface WebhookHandlerOptions {
  /** The secret of the subscription; during a rotation, a list of both secrets. */
  readonly secret: string | readonly string[];
  /**
   * Functions by event type. `'*'` gets every event without a function of its own. Other events are acknowledged and
   * ignored.
   */
  readonly on: { readonly [T in EventType]?: (event: EventOf<T>) => unknown } & {
    readonly '*'?: (event: DoorwardEvent) => unknown;
  };
  /** Returns whether an event was processed before: every event can arrive more than once, with the same id. */
  readonly seen?: ((id: string) => boolean | Promise<boolean>) | undefined;
  /** Called with the error when a request is refused or fails, for logs. Not called if the body is too large. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Handles `fetch` requests (Hono, Next.js) and Node requests (http, Express). */
export interface WebhookHandler {
  (request: Request): Promise<Response>;
  (request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** Requests with larger bodies are refused. Events are smaller than 20 KB. */
const MAX_BYTES = 65_536;

/**
 * Creates a handler that verifies the requests of a webhook subscription and calls the function for the event's type.
 * If that function throws, the handler responds with 500, so that the service sends the event again.
 *
 * @throws ConfigError if a secret does not have the form `whsec_…`
 * @example
 * app.post('/hooks', webhookHandler({ secret, on: { 'api_key.revoked': ({ data }) => forget(data.id) } }));
 */
export function webhookHandler(options: WebhookHandlerOptions): WebhookHandler {
  assertWebhookSecrets(options.secret);
  const handle = async (
    request: IncomingMessage | Request,
    response?: ServerResponse,
  ): Promise<Response | void> => {
    const read = response
      ? () => bodyOfNode(request as IncomingMessage)
      : () => bodyOfFetch(request as Request);
    const status = await statusOf(options, request.headers, read);
    if (!response) return new Response(null, { status });
    response.statusCode = status;
    response.end();
  };
  return handle as WebhookHandler;
}

async function statusOf(
  { secret, on, seen, onError }: WebhookHandlerOptions,
  headers: WebhookHeaders,
  read: () => Promise<WebhookBody | null>,
): Promise<number> {
  try {
    const body = await read();
    if (body === null) return 413;
    const event = verifyWebhook(body, headers, secret);
    if (await seen?.(event.id)) return 200;
    const own = Object.hasOwn(on, event.type) ? on[event.type] : on['*'];
    await (own as ((event: DoorwardEvent) => unknown) | undefined)?.(event);
    return 200;
  } catch (error) {
    report(onError, error);
    // `BODY` usually means a mistake in this server: a parser read the body first. After a 500 the service sends the
    // event again, so it isn't lost.
    return error instanceof WebhookError && error.code !== 'BODY' ? 400 : 500;
  }
}

function report(onError: WebhookHandlerOptions['onError'], error: unknown): void {
  try {
    onError?.(error);
  } catch {
    // A broken log must not change the response.
  }
}

/** Returns the body that a parser has already read, else reads the stream. */
async function bodyOfNode(request: IncomingMessage & { body?: unknown }): Promise<WebhookBody | null> {
  if (request.body !== undefined) return request.body as WebhookBody;
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Uint8Array>) {
    size += part.length;
    if (size > MAX_BYTES) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

async function bodyOfFetch(request: Request): Promise<WebhookBody | null> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = request.body?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    size += (part.value as Uint8Array).length;
    if (size > MAX_BYTES) {
      await reader?.cancel();
      return null;
    }
    parts.push(part.value as Uint8Array);
  }
  return Buffer.concat(parts);
}
