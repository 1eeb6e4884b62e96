import { setTimeout as sleep } from 'node:timers/promises';
import { sharedPass } from '../../events/shared-pass.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { Claim, Claimed } from './queue.ts';
import type { Outcome, Send } from './sender.ts';

/**
 * What delivers, one in each process: takes what is due, sends it outside of any transaction, and has written down what
 * came of it. Each subscription has a lane of its own. There is room for so many lanes, half of it for receivers that
 * have failed the last time: these can hang as long as they like, the others still get through.
 */
export interface Worker {
  /** Starts what is due and resolves when it was looked for; never rejects. */
  readonly look: () => Promise<void>;
  /** Resolves when nothing is due and nothing is being sent. */
  readonly idle: () => Promise<void>;
  /** Sends what was not claimed by `look`, in a lane beside the others; nothing once it was stopped. */
  readonly run: (claimed: Claimed) => Promise<void>;
  /** Takes nothing more, waits for what is being sent, and gives up what takes longer than that. */
  readonly stop: (graceMs: number) => Promise<void>;
}

export interface WorkerOptions {
  readonly claim: Claim;
  readonly send: Send;
  readonly settle: (attempt: Claimed, outcome: Outcome) => Promise<void>;
  readonly release: (attempt: Claimed) => Promise<void>;
  readonly clock: Clock;
  readonly log: (error: unknown, message: string) => void;
}

interface Lane {
  readonly subscriptionId: string;
  readonly failing: boolean;
  readonly ended: Promise<void>;
}

const LANES = 64;
const LANES_OF_FAILING = LANES / 2;

export function createWorker({ claim, send, settle, release, clock, log }: WorkerOptions): Worker {
  const stopping = new AbortController();
  let closed = false;
  const lanes = new Set<Lane>();

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
  function open(attempts: readonly [Claimed, ...Claimed[]]): Promise<void> {
    const [{ subscriptionId, failing }] = attempts;
    const ended = Promise.all(attempts.map(make)).then(() => {
      lanes.delete(lane);
      void look();
    });
    const lane = { subscriptionId, failing, ended };
    lanes.add(lane);
    return ended;
  }

  const look = sharedPass(
    async () => {
      const subscriptions = LANES - lanes.size;
      if (closed || subscriptions <= 0) return false;
      const failing = [...lanes].filter((lane) => lane.failing).length;
      const room = {
        busy: [...lanes].map(({ subscriptionId }) => subscriptionId),
        subscriptions,
        failing: Math.min(subscriptions, LANES_OF_FAILING - failing),
      };
      for (const attempts of bySubscription(await claim(room, clock.now()))) void open(attempts);
      return false;
    },
    (error) => log(error, 'webhooks could not be read from the database'),
  );

  const idle = async (): Promise<void> => {
    for (;;) {
      await look();
      if (lanes.size === 0) return;
      await Promise.race([...lanes].map(({ ended }) => ended));
    }
  };

  return {
    look,
    idle,
    run: (attempt) => (closed ? release(attempt) : open([attempt])),
    async stop(graceMs) {
      closed = true;
      const ended = Promise.all([...lanes].map((lane) => lane.ended));
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
