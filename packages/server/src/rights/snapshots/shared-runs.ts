/*
 * Work that many callers need at the same time. A caller gets the result of work that began after the call, so it
 * contains every change made before the call. A caller may also accept the result of work that began a little earlier.
 */

interface Run<T> {
  /** When the work began (`performance.now()`); Infinity until then. */
  startedAt: number;
  result: Promise<T>;
  isSettled: boolean;
  /** The run after this one, which all callers that arrive in the meantime share. */
  next: Promise<T> | null;
}

/** Work that calls `begin` before it reads anything; it may wait before that. */
type Work<T> = (begin: () => void) => Promise<T>;

/** Runs work one at a time. Callers share the next run that begins after their call. */
export function createSharedRuns<T>(work: Work<T>): () => Promise<T> {
  const runs = createSharedResults<T>(0);
  return () => runs.get('', performance.now(), work);
}

interface SharedResults<T> {
  /** Returns the result of a run for the key that began at `notBefore` or later. */
  get(key: string, notBefore: number, work: Work<T>): Promise<T>;
}

/** `keepMs`: how long a result is kept for callers that accept earlier results. */
export function createSharedResults<T>(keepMs: number): SharedResults<T> {
  const runs = new Map<string, Run<T>>();

  function start(key: string, work: Work<T>): Promise<T> {
    const begin = (): void => void (run.startedAt = performance.now());
    const run: Run<T> = { startedAt: Infinity, result: never, isSettled: false, next: null };
    runs.set(key, run);
    run.result = work(begin);
    const settle = (): void => {
      run.isSettled = true;
      run.startedAt = Math.min(run.startedAt, performance.now());
      if (keepMs === 0 && runs.get(key) === run && !run.next) runs.delete(key);
    };
    run.result.then(settle, settle);
    return run.result;
  }

  function removeOld(now: number): void {
    for (const [key, { startedAt, isSettled, next }] of runs)
      if (isSettled && !next && startedAt < now - keepMs) runs.delete(key);
  }

  return {
    get(key, notBefore, work) {
      removeOld(performance.now());
      const run = runs.get(key);
      if (run && run.startedAt >= notBefore) return run.result;
      if (!run || (run.isSettled && !run.next)) return start(key, work);
      const begin = (): Promise<T> => start(key, work);
      return (run.next ??= run.result.then(begin, begin));
    },
  };
}

const never = new Promise<never>(() => undefined);

/**
 * Limits how much work runs at the same time. Further work waits in one queue per tenant. The queues alternate, so that
 * no tenant waits for all the work of another.
 */
export type Gate = <T>(tenant: string, work: () => Promise<T>) => Promise<T>;

/** Creates a gate for at most `limit` concurrent runs. */
export function createGate(limit: number): Gate {
  /** Waiting work by tenant. The first tenant in the map is next. */
  const waiting = new Map<string, (() => void)[]>();
  let free = limit;

  function enter(tenant: string): Promise<void> | undefined {
    if (free > 0) {
      free--;
      return undefined;
    }
    return new Promise((resolve) => {
      const queue = waiting.get(tenant) ?? [];
      waiting.set(tenant, queue);
      queue.push(resolve);
    });
  }

  function leave(): void {
    const [first] = waiting;
    if (!first) {
      free++;
      return;
    }
    const [tenant, [next, ...others]] = first;
    waiting.delete(tenant);
    if (others.length > 0) waiting.set(tenant, others);
    next?.();
  }

  return async (tenant, work) => {
    await enter(tenant);
    try {
      return await work();
    } finally {
      leave();
    }
  };
}
