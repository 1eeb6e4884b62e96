import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { v7 } from 'uuid';
import type { Outgoing, Post } from '../../../src/outgoing/outgoing.ts';
import { webhookDeliveries } from '../../../src/schema/webhooks/webhook-delivery.ts';
import { webhookSecrets, webhookSubscriptions } from '../../../src/schema/webhooks/webhook-subscription.ts';
import type { TestApp } from '../app/app.ts';

/** A receiver without a network: a function decides what a host responds, and every request to it is recorded. */
export type Reaction =
  | number
  | { readonly status: number; readonly retryAfter: string }
  | 'hang'
  /** Responds when this resolves. */
  | Promise<number>
  | Error;

export interface Receivers {
  readonly post: Post;
  readonly received: (Outgoing & { readonly at: Date })[];
  /** By host; a host without an entry responds 204. */
  readonly reactions: Map<string, Reaction>;
  /** Ids that a host received, in order. */
  idsAt(host: string): string[];
}

export function createReceivers(now: () => Date): Receivers {
  const received: Receivers['received'] = [];
  const reactions: Receivers['reactions'] = new Map();
  return {
    received,
    reactions,
    idsAt: (host) =>
      received.filter(({ url }) => url.hostname === host).map(({ headers }) => headers['webhook-id'] ?? ''),
    async post(request, signal) {
      received.push({ ...request, at: now() });
      const reaction = await (reactions.get(request.url.hostname) ?? 204);
      if (reaction instanceof Error) throw reaction;
      if (reaction === 'hang') {
        return new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
        );
      }
      const { status, retryAfter } =
        typeof reaction === 'number' ? { status: reaction, retryAfter: null } : reaction;
      return { status, retryAfter, body: Buffer.from('heard') };
    },
  };
}

export interface Subscribed {
  readonly id: string;
  readonly projectId: string;
  readonly secret: string;
}

/** A subscription as a row, for tests of deliveries. */
export async function subscribe(app: TestApp, projectId: string, url: string): Promise<Subscribed> {
  const [id, secretId, secret] = [v7(), v7(), randomBytes(32)];
  const { pool } = app.database;
  const owner = { tenantId: projectId, createdAt: app.clock.now() };
  await pool
    .insert(webhookSubscriptions)
    .values({ ...owner, id, url, eventTypes: ['role.created'], createdBy: v7() });
  const sealed = app.app.kek.seal(secret, `webhook_secrets:${secretId}`);
  await pool.insert(webhookSecrets).values({ ...owner, id: secretId, subscriptionId: id, sealed });
  return { id, projectId, secret: `whsec_${secret.toString('base64')}` };
}

/** Deliveries that are due now; returns the ids of their events. */
export async function enqueue(
  app: TestApp,
  { id: subscriptionId, projectId: tenantId }: Subscribed,
  count = 1,
): Promise<string[]> {
  const now = app.clock.now();
  const rows = Array.from({ length: count }, (_, index) => {
    const eventId = `evt_${v7()}`;
    const body = JSON.stringify({ id: eventId, data: { index, name: 'Zoë' } });
    const at = { nextAttemptAt: now, createdAt: now, updatedAt: now };
    return {
      id: v7(),
      tenantId,
      subscriptionId,
      eventId,
      body,
      eventType: 'role.created',
      kind: 'event' as const,
      ...at,
    };
  });
  await app.database.pool.insert(webhookDeliveries).values(rows);
  return rows.map(({ eventId }) => eventId);
}

/** Reads a request as a receiver does: verified by the library of Standard Webhooks, at the time of the attempt. */
export function verified(
  { secret }: Pick<Subscribed, 'secret'>,
  { body, headers }: Outgoing,
): { id: string } {
  // The library reads the real clock, and tests move the clock of the service.
  return new Webhook(secret).verify(body, headers) as { id: string };
}
