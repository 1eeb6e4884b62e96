import { setTimeout as sleep } from 'node:timers/promises';
import { createSharedPass } from '../../events/outbox/shared-pass.ts';
import type { Clock } from '../../kernel/ports.ts';
import { SLOW_MS } from './health.ts';
import type { Claim, Claimed } from './queue.ts';
import type { Outcome, Send } from './sender.ts';

interface Workers {
  /** Starts due deliveries. Resolves when the due ones have been looked up; never rejects. */
  readonly deliverDue: () => Promise<void>;
  /** Resolves when nothing is due and nothing is being sent. */
  readonly idle: () => Promise<void>;
  /** Sends a delivery that the caller has claimed, in an additional worker. After `stop` it only releases the lease. */
  readonly run: (claimed: Claimed) => Promise<void>;
  /** Claims nothing more, waits for attempts under way, and aborts those that take longer than `graceMs`. */
  readonly stop: (graceMs: number) => Promise<void>;
}

interface WorkersOptions {
  readonly claim: Claim;
  readonly send: Send;
  readonly settle: (attempt: Claimed, outcome: Outcome) => Promise<void>;
  readonly release: (attempt: Claimed) => Promise<void>;
  readonly clock: Clock;
  readonly log: (error: unknown, message: string) => void;
}

interface Worker {
  readonly subscriptionId: string;
  readonly tenantId: string;
  unreliable: boolean;
  readonly ended: Promise<void>;
}

const RELIABLE_WORKERS = 64;
const UNRELIABLE_WORKERS = 32;
/** Maximum number of workers, including those that became unreliable; it bounds sockets, and bodies in memory. */
const MAX_WORKERS = 512;

/**
 * Creates the workers of one process. Each claims the due deliveries of one subscription, sends them outside of any
 * transaction, and then records the results. Most workers are for reliable receivers. A worker whose receiver has not
 * responded within a second counts as unreliable from then on, which frees its slot, so receivers that hang do not
 * delay the others.
 */
export function createWorkers({ claim, send, settle, release, clock, log }: WorkersOptions): Workers {
  const stopping = new AbortController();
  let closed = false;
  const workers = new Set<Worker>();

  /** Makes one attempt. Never rejects: an attempt without a recorded result is repeated after its lease. */
  async function attemptDelivery(attempt: Claimed): Promise<void> {
    try {
      const outcome = await send(attempt, stopping.signal);
      await settle(attempt, outcome);
    } catch (error) {
      if (!stopping.signal.aborted)
        return log(error, 'a webhook could not be delivered and will be tried again');
      await release(attempt).catch((cause: unknown) => log(cause, 'a webhook could not be given back'));
    }
  }

  /** Runs a worker. Resolves when all its attempts have ended and their results are recorded. */
  function startWorker(attempts: readonly [Claimed, ...Claimed[]]): Promise<void> {
    const [{ subscriptionId, tenantId, unreliable }] = attempts;
    const slowTimer = setTimeout(() => {
      worker.unreliable = true;
      void deliverDue();
    }, SLOW_MS).unref();
    const ended = Promise.all(attempts.map(attemptDelivery)).then(() => {
      clearTimeout(slowTimer);
      workers.delete(worker);
      void deliverDue();
    });
    const worker = { subscriptionId, tenantId, unreliable, ended };
    workers.add(worker);
    return ended;
  }

  /** Returns how many more workers of a kind may start. */
  function freeWorkers(unreliable: boolean): number {
    const ofKind = [...workers].filter((worker) => worker.unreliable === unreliable).length;
    return Math.max(
      0,
      Math.min((unreliable ? UNRELIABLE_WORKERS : RELIABLE_WORKERS) - ofKind, MAX_WORKERS - workers.size),
    );
  }

  const deliverDue = createSharedPass(
    async () => {
      const busy = [...workers].map(({ ended: _, ...worker }) => worker);
      const capacity = { busy, reliable: freeWorkers(false), unreliable: freeWorkers(true) };
      if (closed || capacity.reliable + capacity.unreliable === 0) return false;
      for (const attempts of bySubscription(await claim(capacity, clock.now()))) void startWorker(attempts);
      return false;
    },
    (error) => log(error, 'webhooks could not be read from the database'),
  );

  const idle = async (): Promise<void> => {
    for (;;) {
      await deliverDue();
      if (workers.size === 0) return;
      await Promise.race([...workers].map(({ ended }) => ended));
    }
  };

  return {
    deliverDue,
    idle,
    run: (attempt) => (closed ? release(attempt) : startWorker([attempt])),
    async stop(graceMs) {
      closed = true;
      const ended = Promise.all([...workers].map((worker) => worker.ended));
      const grace = new AbortController();
      await Promise.race([ended, sleep(graceMs, undefined, { signal: grace.signal }).catch(() => undefined)]);
      grace.abort();
      stopping.abort(new Error('the process stops'));
      await ended;
    },
  };
}

function bySubscription(claimed: readonly Claimed[]): Iterable<[Claimed, ...Claimed[]]> {
  const groups = new Map<string, [Claimed, ...Claimed[]]>();
  for (const attempt of claimed) {
    const group = groups.get(attempt.subscriptionId);
    if (group) group.push(attempt);
    else groups.set(attempt.subscriptionId, [attempt]);
  }
  return groups.values();
}
