import type { JsonSchema } from '../kernel/output/json-schema.ts';

/** An event type that the service delivers to webhooks. */
export interface SentEvent {
  readonly name: string;
  readonly description: string;
  /** Schema of `data`, or a reference to a definition. */
  readonly data: JsonSchema;
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** @example `api_key.created` → `onApiKeyCreated` */
const operationIdOf = (name: string): string => `on${name.split(/[._]/).map(capital).join('')}`;

const parameterTexts = {
  'webhook-id': 'Id of the event, the same on every attempt.',
  'webhook-timestamp': 'Seconds since 1970 at this attempt.',
  'webhook-signature':
    'By Standard Webhooks: `v1,` and the HMAC-SHA256 of id, time and body; two while a secret is rotated.',
};

export function describeWebhooks(events: readonly SentEvent[]) {
  const parameters = Object.entries(parameterTexts).map(([name, description]) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  }));
  const entries = events.map(({ name, description, data }) => {
    const narrowed = { type: 'object', properties: { type: { const: name }, data } };
    const schema = { allOf: [{ $ref: '#/$defs/Event' }, narrowed] };
    const post = {
      operationId: operationIdOf(name),
      summary: description,
      parameters,
      requestBody: { required: true, content: { 'application/json': { schema } } },
      responses: { '2XX': { $ref: '#/components/responses/WebhookReceived' } } as Record<string, object>,
    };
    return [name, { post }] as const;
  });
  return Object.fromEntries(entries);
}

export const webhookReceived = {
  description:
    'The receiver accepted the event. After any other status the delivery is retried for some days; 410 disables the subscription.',
};
