/**
 * Mutations of one tenant wait for each other before their transaction begins, and two of them are under way at a time: one
 * works while the other commits (docs/decisions/0026). They would wait anyway, for the lock of the tenant's node, but with
 * a transaction open, and as long as one is open PostgreSQL keeps all versions of the node's row that were made since.
 *
 * How many wait here is bounded by the slots of the queue in front of the database, which is fair between tenants.
 */
export interface TenantQueues {
  readonly run: <T>(nodeId: string, work: () => Promise<T>) => Promise<T>;
}

const AT_A_TIME = 2;

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
      // Who ends hands over to who waits longest, so that no newcomer slips in between.
      if (queue.running >= AT_A_TIME) await new Promise<void>((resolve) => queue.waiting.push(resolve));
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
