import { composeDoorward, processPorts } from './doorward.ts';
import type { Doorward } from './client/doorward.ts';
import type { DoorwardOptions } from './contracts/types.ts';

export * from './contracts/errors.ts';
export type * from './contracts/hooks.ts';
export type * from './contracts/types.ts';
export type {
  DoorwardEvent,
  EventOf,
  EventStream,
  EventType,
  OperationOptions,
} from './client/operation-types.ts';
export type { components, operations, paths, webhooks } from './client/generated/openapi.ts';
export type { Api } from './client/generated/api.ts';
export type { Http } from './client/http.ts';
export type { Doorward } from './client/doorward.ts';
export { verifyWebhook, type WebhookBody, type WebhookHeaders } from './webhooks/verify-webhook.ts';
export {
  webhookHandler,
  type WebhookHandler,
  type WebhookHandlerOptions,
} from './webhooks/webhook-handler.ts';

/**
 * Creates a client of the service at `url`. Missing options come from DOORWARD_URL, DOORWARD_CLIENT_ID,
 * DOORWARD_CLIENT_SECRET and DOORWARD_SCOPE.
 *
 * @example
 * const doorward = createDoorward();
 * if (await doorward.can({ userId }, 'order:read', { resource: order })) show(order);
 * @throws ConfigError that names the options that are missing, unknown or out of bounds
 */
export const createDoorward = (options: DoorwardOptions = {}): Doorward =>
  composeDoorward(options, processPorts());
