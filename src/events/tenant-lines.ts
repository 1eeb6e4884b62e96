import { fail } from '../errors.ts';

/**
 * Mutations of one tenant stand in line before their transaction begins, and two of them are under way at a time: one
 * works while the other commits (decision 0026). They would wait for each other anyway, for the lock of the tenant's
 * node, but with a transaction open, and as long as one is PostgreSQL keeps all versions of the node's row that were
 * made since.
 */
const AT_A_TIME = 2;
/** So many in one line are a flood. Few may wait for one that is slow, which says nothing of the load. */
const MANY = 8;

export interface TenantLines {
  /** @throws UNAVAILABLE when the turn did not come in time; nothing was done then */
  readonly stand: <T>(nodeId: string, work: () => Promise<T>) => Promise<T>;
  /** Milliseconds for which the next of the longest-standing flood has waited. */
  readonly wait: () => number;
}

interface Waiting {
  readonly since: number;
  readonly go: () => void;
}

interface Line {
  underWay: number;
  readonly waiting: Waiting[];
}

export function createTenantLines(
  mayWaitMs: number,
  now: () => number = () => performance.now(),
): TenantLines {
  const lines = new Map<string, Line>();

  const turnIn = ({ waiting }: Line): Promise<void> =>
    new Promise((resolve, reject) => {
      const one: Waiting = {
        since: now(),
        go() {
          clearTimeout(timer);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(one), 1);
        reject(fail('UNAVAILABLE', { headers: { 'Retry-After': '1' } }));
      }, mayWaitMs);
      waiting.push(one);
    });

  return {
    async stand(nodeId, work) {
      const line = lines.get(nodeId) ?? { underWay: 0, waiting: [] };
      lines.set(nodeId, line);
      // Whoever leaves hands his place over, so that nobody who just came is faster.
      if (line.underWay >= AT_A_TIME) await turnIn(line);
      else line.underWay++;
      try {
        return await work();
      } finally {
        const next = line.waiting.shift();
        if (next) next.go();
        else if (--line.underWay === 0) lines.delete(nodeId);
      }
    },

    wait() {
      const at = now();
      let longest = 0;
      for (const { waiting } of lines.values()) {
        const [first] = waiting;
        if (first && waiting.length >= MANY) longest = Math.max(longest, at - first.since);
      }
      return longest;
    },
  };
}
