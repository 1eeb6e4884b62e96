import { randomInt } from 'node:crypto';
import type { ActAsSystem } from '../../events/system-act.ts';
import type { Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { Resolve, TargetGuard } from '../webhook-targets/target-guard.ts';
import { createPost, createResolve, type Post } from './outgoing.ts';
import { createProbe } from './probe.ts';
import { createClaim } from './queue.ts';
import { createSend } from './sender.ts';
import { createSettle, release, releaseAll } from './settle.ts';
import { createWorkers } from './workers.ts';

/**
 * Delivers what waits in `webhook_deliveries` (events §5), at least once: an event keeps its id through all attempts,
 * and an attempt whose end nobody wrote down is followed by another. Due times are those of the clock port.
 */
export interface WebhookDelivery {
  /** Starts what is due and resolves when it was looked for; never rejects. */
  readonly look: () => Promise<void>;
  /** For a process that is alone with its database: nobody else makes what was being sent when the last one ended. */
  readonly reclaim: () => Promise<void>;
  /** Asks receivers that were given up whether they are back. Never rejects. */
  readonly probe: () => Promise<void>;
  /** All of it, and resolves when nothing is due and nothing is being sent. */
  readonly flush: () => Promise<void>;
  /** Takes nothing more. What is being sent has a moment to end, then another process sends it again. */
  readonly stop: () => Promise<void>;
}

/** The world outside. */
export interface WebhookPorts {
  readonly resolve: Resolve;
  readonly post: Post;
  /** 0 ≤ random < 1 */
  readonly random: () => number;
}

export const webhookPorts = (): WebhookPorts => ({
  resolve: createResolve(),
  post: createPost(),
  random: () => randomInt(2 ** 32) / 2 ** 32,
});

export interface DeliveryOptions {
  readonly services: Pick<Services, 'config' | 'clock' | 'ids' | 'kek'>;
  readonly pool: Executor;
  readonly actAsSystem: ActAsSystem;
  readonly guard: TargetGuard;
  readonly ports: WebhookPorts;
  readonly log: (error: unknown, message: string) => void;
}

/** What an attempt may take beyond its time: writing down what came of it, on a machine that has much to do. */
const LEASE_MARGIN_MS = 30_000;
const LONGEST_GRACE_MS = 2000;

export function createWebhookDelivery(options: DeliveryOptions): WebhookDelivery {
  const { services, pool, actAsSystem, guard, ports, log } = options;
  const { clock, ids, kek, config } = services;
  const { timeoutMs, retryScheduleSeconds: waitsSeconds } = config.webhooks;
  const leaseMs = timeoutMs + LEASE_MARGIN_MS;
  const workers = createWorkers({
    claim: createClaim({ pool, kek, leaseMs, log }),
    send: createSend({ guard, post: ports.post, clock, timeoutMs }),
    settle: createSettle({ actAsSystem, clock, waitsSeconds, random: ports.random, log }),
    release: (attempt) => release(pool, attempt),
    clock,
    log,
  });
  // Within what the process has for all of its stopping.
  const graceMs = Math.min(LONGEST_GRACE_MS, config.http.shutdownGraceSeconds * 250);
  const probe = createProbe({ pool, kek, clock, ids, actAsSystem, leaseMs, run: workers.run, log });
  return {
    look: workers.look,
    probe,
    reclaim: () => releaseAll(pool),
    flush: () => probe().then(workers.idle),
    stop: () => workers.stop(graceMs),
  };
}
