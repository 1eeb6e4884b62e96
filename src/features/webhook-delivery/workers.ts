import { setTimeout as sleep } from 'node:timers/promises';
import { sharedPass } from '../../events/shared-pass.ts';
import type { Clock } from '../../kernel/ports.ts';
import { SLOW_MS } from './health.ts';
import type { Claim, Claimed } from './queue.ts';
import type { Outcome, Send } from './sender.ts';

/**
 * The workers of one process: each takes what is due for one subscription, sends it outside of any transaction, and
 * then records the result. Most are for receivers that answer in time. A worker whose receiver has not answered within
 * a second counts as one for slow receivers from then on, and its slot is free for another. So receivers that hang do
 * not hold up the others.
 */
export interface Workers {
  /** Starts what is due and resolves when it was looked for; never rejects. */
  readonly look: () => Promise<void>;
  /** Resolves when nothing is due and nothing is being sent. */
  readonly idle: () => Promise<void>;
  /** Sends what was not claimed by `look`, by one more worker; nothing once they were stopped. */
  readonly run: (claimed: Claimed) => Promise<void>;
  /** Takes nothing more, waits for what is being sent, and gives up what takes longer than that. */
  readonly stop: (graceMs: number) => Promise<void>;
}

export interface WorkersOptions {
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

const RELIABLE = 64;
const UNRELIABLE = 32;
/** The limit with those that have become unreliable: it bounds sockets, and bodies in memory. */
const MOST = 512;

export function createWorkers({ claim, send, settle, release, clock, log }: WorkersOptions): Workers {
  const stopping = new AbortController();
  let closed = false;
  const workers = new Set<Worker>();

  /** Never rejects. An attempt of which nothing was written down is made again after its lease. */
  async function make(attempt: Claimed): Promise<void> {
    try {
      const outcome = await send(attempt, stopping.signal);
      await settle(attempt, outcome);
    } catch (error) {
      if (!stopping.signal.aborted)
        return log(error, 'a webhook could not be delivered and will be tried again');
      await release(attempt).catch((cause: unknown) => log(cause, 'a webhook could not be given back'));
    }
  }

  /** Resolves when all of it are settled. */
  function employ(attempts: readonly [Claimed, ...Claimed[]]): Promise<void> {
    const [{ subscriptionId, tenantId, unreliable }] = attempts;
    const late = setTimeout(() => {
      worker.unreliable = true;
      void look();
    }, SLOW_MS).unref();
    const ended = Promise.all(attempts.map(make)).then(() => {
      clearTimeout(late);
      workers.delete(worker);
      void look();
    });
    const worker = { subscriptionId, tenantId, unreliable, ended };
    workers.add(worker);
    return ended;
  }

  /** How many more of a kind may begin. */
  function free(unreliable: boolean): number {
    const ofKind = [...workers].filter((worker) => worker.unreliable === unreliable).length;
    return Math.max(0, Math.min((unreliable ? UNRELIABLE : RELIABLE) - ofKind, MOST - workers.size));
  }

  const look = sharedPass(
    async () => {
      const busy = [...workers].map(({ ended: _, ...worker }) => worker);
      const room = { busy, reliable: free(false), unreliable: free(true) };
      if (closed || room.reliable + room.unreliable === 0) return false;
      for (const attempts of bySubscription(await claim(room, clock.now()))) void employ(attempts);
      return false;
    },
    (error) => log(error, 'webhooks could not be read from the database'),
  );

  const idle = async (): Promise<void> => {
    for (;;) {
      await look();
      if (workers.size === 0) return;
      await Promise.race([...workers].map(({ ended }) => ended));
    }
  };

  return {
    look,
    idle,
    run: (attempt) => (closed ? release(attempt) : employ([attempt])),
    async stop(graceMs) {
      closed = true;
      const ended = Promise.all([...workers].map((worker) => worker.ended));
      const patience = new AbortController();
      await Promise.race([
        ended,
        sleep(graceMs, undefined, { signal: patience.signal }).catch(() => undefined),
      ]);
      patience.abort();
      stopping.abort(new Error('the process stops'));
      await ended;
    },
  };
}

function bySubscription(claimed: readonly Claimed[]): Iterable<[Claimed, ...Claimed[]]> {
  const groups = new Map<string, [Claimed, ...Claimed[]]>();
  for (const one of claimed) {
    const group = groups.get(one.subscriptionId);
    if (group) group.push(one);
    else groups.set(one.subscriptionId, [one]);
  }
  return groups.values();
}
