import { composeDoorward, processPorts } from './doorward.ts';
import type { Doorward, DoorwardOptions } from './types.ts';

export * from './errors.ts';
export type * from './hooks.ts';
export type * from './types.ts';
export type {
  DoorwardEvent,
  EventOf,
  EventStream,
  EventType,
  OperationOptions,
} from './operations/operation-types.ts';
export type { components, operations, paths, webhooks } from './client/openapi.ts';
export type { Api } from './client/api.ts';
export type { Http } from './calls/plain-http.ts';
export { verifyWebhook, type WebhookBody, type WebhookHeaders } from './webhooks/verify-webhook.ts';
export {
  webhookHandler,
  type WebhookHandler,
  type WebhookHandlerOptions,
} from './webhooks/webhook-handler.ts';

/**
 * A client of the service at `url`. Options that are left out come from DOORWARD_URL, DOORWARD_CLIENT_ID,
 * DOORWARD_CLIENT_SECRET and DOORWARD_SCOPE.
 *
 * @example
 * const doorward = createDoorward();
 * if (await doorward.can({ userId }, 'order:read', { resource: order })) show(order);
 * @throws ConfigError that names options which are missing, unknown or out of bounds
 */
export const createDoorward = (options: DoorwardOptions = {}): Doorward =>
  composeDoorward(options, processPorts());
