import { randomInt } from 'node:crypto';
import type { ActAsSystem } from '../../events/system-act.ts';
import type { Services } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { Resolve, TargetGuard } from '../../outgoing/target-guard.ts';
import { createPost, createResolve, type Post } from '../../outgoing/outgoing.ts';
import { createProbe } from './probe.ts';
import { createClaim } from './queue.ts';
import { createSend } from './sender.ts';
import { createResultRecorder, release, releaseAll } from './record-results.ts';
import { createWorkers } from './workers.ts';

interface WebhookDelivery {
  /** Starts due deliveries. Resolves when the due ones have been looked up; never rejects. */
  readonly deliverDue: () => Promise<void>;
  /** Releases the leases of a process that has ended. Call it only if this process is the only one on the database. */
  readonly releaseLeases: () => Promise<void>;
  /** Pings receivers whose subscriptions were disabled because they failed. Never rejects. */
  readonly probe: () => Promise<void>;
  /** Probes and delivers. Resolves when nothing is due and nothing is being sent. */
  readonly flush: () => Promise<void>;
  /** Claims no more deliveries. Attempts under way get a moment to end; another process repeats those that do not. */
  readonly stop: () => Promise<void>;
}

/** Access to the network and to randomness; tests replace them. */
export interface WebhookPorts {
  readonly resolve: Resolve;
  readonly post: Post;
  /** 0 ≤ random < 1 */
  readonly random: () => number;
}

/** Creates the ports that use the real network and real randomness. */
export const webhookPorts = (): WebhookPorts => ({
  resolve: createResolve(),
  post: createPost(),
  random: () => randomInt(2 ** 32) / 2 ** 32,
});

interface DeliveryOptions {
  readonly services: Pick<Services, 'config' | 'clock' | 'ids' | 'kek'>;
  readonly pool: Executor;
  readonly actAsSystem: ActAsSystem;
  readonly guard: TargetGuard;
  readonly ports: WebhookPorts;
  readonly log: (error: unknown, message: string) => void;
}

/** Time in addition to that of the attempt itself, to record its result on a busy machine. */
const LEASE_MARGIN_MS = 30_000;
const MAX_GRACE_MS = 2000;

/**
 * Delivers the rows of `webhook_deliveries` (events §5), at least once: an event keeps its id through all attempts,
 * and an attempt without a recorded result is repeated. Due times follow the clock port.
 */
export function createWebhookDelivery(options: DeliveryOptions): WebhookDelivery {
  const { services, pool, actAsSystem, guard, ports, log } = options;
  const { clock, ids, kek, config } = services;
  const { timeoutMs, retryScheduleSeconds: waitsSeconds } = config.webhooks;
  const leaseMs = timeoutMs + LEASE_MARGIN_MS;
  const workers = createWorkers({
    claim: createClaim({ pool, kek, leaseMs, log }),
    send: createSend({ guard, post: ports.post, clock, timeoutMs }),
    settle: createResultRecorder({ actAsSystem, clock, waitsSeconds, random: ports.random, log }),
    release: (attempt) => release(pool, attempt),
    clock,
    log,
  });
  // At most a quarter of the time that the whole process has to shut down.
  const graceMs = Math.min(MAX_GRACE_MS, config.http.shutdownGraceSeconds * 250);
  const probe = createProbe({ pool, kek, clock, ids, actAsSystem, leaseMs, run: workers.run, log });
  return {
    deliverDue: workers.deliverDue,
    probe,
    releaseLeases: () => releaseAll(pool),
    flush: () => probe().then(workers.idle),
    stop: () => workers.stop(graceMs),
  };
}
