/**
 * Queues mutations of one tenant before their transactions begin. Two run at a time, so that one works while the other
 * commits (decision 0026). Without the queue they would wait for the lock of the tenant node inside an open
 * transaction, and an open transaction prevents PostgreSQL from removing dead versions of the node's row.
 *
 * The admission queue in front of the database, which is fair between tenants, limits how many wait here.
 */
export interface TenantQueues {
  readonly run: <T>(nodeId: string, work: () => Promise<T>) => Promise<T>;
}

const CONCURRENCY = 2;

interface Queue {
  running: number;
  readonly waiting: (() => void)[];
}

export function createTenantQueues(): TenantQueues {
  const queues = new Map<string, Queue>();
  return {
    async run(nodeId, work) {
      const queue = queues.get(nodeId) ?? { running: 0, waiting: [] };
      queues.set(nodeId, queue);
      // A finished mutation hands its slot to the one that has waited longest, so that no new mutation overtakes it.
      if (queue.running >= CONCURRENCY) await new Promise<void>((resolve) => queue.waiting.push(resolve));
      else queue.running++;
      try {
        return await work();
      } finally {
        const next = queue.waiting.shift();
        if (next) next();
        else if (--queue.running === 0) queues.delete(nodeId);
      }
    },
  };
}
