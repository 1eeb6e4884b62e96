import { sql } from 'drizzle-orm';
import type { Executor } from '../../kernel/scoped-db.ts';
import { deferToCommit, type Transaction } from '../statements/deferred-results.ts';
import { wasRolledBack } from '../statements/pg-error.ts';

interface QueuedWork {
  readonly work: (tx: Executor) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Limits the size of statements, and the work that has to be repeated after a failure. */
const MAX_WORKS = 64;
/** Short, so that one locked row does not delay the works that do not need it. */
const LOCK_TIMEOUT = '250ms';

/**
 * Creates a group commit: work that arrives while a transaction runs shares the next transaction, and each caller gets
 * its result after the common commit. One flush to disk then serves up to `MAX_WORKS` callers.
 *
 * Inside the transaction the works run in lockstep: they query the database only through `batched`, and equal queries
 * of all works become one statement. If one work fails, the transaction is rolled back, and each work runs again in a
 * separate transaction, so that a failure affects only its own caller.
 */
export function createGroupCommit(transaction: Transaction): Transaction {
  const waiting: QueuedWork[] = [];
  let running = false;

  /** Commits groups until the queue is empty. */
  async function run(): Promise<void> {
    if (running) return;
    running = true;
    while (waiting.length > 0) await commit(waiting.splice(0, MAX_WORKS));
    running = false;
  }

  const runAlone = ({ work, resolve, reject }: QueuedWork): Promise<void> =>
    transaction(work).then(resolve, reject);

  async function commit(works: readonly QueuedWork[]): Promise<void> {
    const [first] = works;
    if (first && works.length === 1) return runAlone(first);
    let answers: readonly unknown[] = [];
    let done = false;
    try {
      await transaction(async (tx) => {
        done = false;
        await deferToCommit(tx, tx.execute(sql.raw(`set local lock_timeout = '${LOCK_TIMEOUT}'`)));
        answers = await lockstep(tx, works);
        done = true;
      });
      works.forEach(({ resolve }, index) => resolve(answers[index]));
    } catch (error) {
      // All works succeeded, so the commit itself failed. It may have taken effect, and running the works again could
      // apply them twice; that is safe only after a definite rollback.
      if (done && !wasRolledBack(error)) works.forEach(({ reject }) => reject(error));
      else await Promise.all(works.map(runAlone));
    }
  }

  return <T>(work: (tx: Executor) => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
      void run();
    });
}

/**
 * Runs the works in lockstep. Waits for all of them even after a failure, because none may use the transaction after
 * its end.
 */
async function lockstep(tx: Executor, works: readonly QueuedWork[]): Promise<unknown[]> {
  const step = createLockstep(tx, works.length);
  locksteps.set(tx, step);
  const outcomes = await Promise.allSettled(works.map(({ work }) => work(tx).finally(step.leave)));
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

/** Runs one query for all items, and returns the results in the order of the items. */
type BatchQuery<I, O> = (tx: Executor, items: readonly I[]) => Promise<readonly O[]>;

/**
 * Runs `ask` for this item, together with all works of the same group commit that call the same `ask`. Outside a group
 * commit it runs immediately.
 */
export async function batched<I, O>(tx: Executor, ask: BatchQuery<I, O>, item: I): Promise<O> {
  const step = locksteps.get(tx);
  if (step) return step.enqueue(ask, item);
  const [answer] = await ask(tx, [item]);
  return answer as O;
}

/** Makes a batch query that runs one statement per item, for queries that only few works need. */
export const sequentially =
  <I, O>(ask: (tx: Executor, item: I) => Promise<O>): BatchQuery<I, O> =>
  async (tx, items) => {
    const answers: O[] = [];
    for (const item of items) answers.push(await ask(tx, item));
    return answers;
  };

interface QueuedItem {
  readonly item: unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Lockstep {
  readonly enqueue: <I, O>(ask: BatchQuery<I, O>, item: I) => Promise<O>;
  readonly leave: () => void;
}

const locksteps = new WeakMap<Executor, Lockstep>();

/**
 * Creates a lockstep for several works. It runs the queued queries once all works that are still active wait for a
 * query. Every work soon queries or ends, so none waits long.
 */
function createLockstep(tx: Executor, works: number): Lockstep {
  const queued = new Map<BatchQuery<unknown, unknown>, QueuedItem[]>();
  let waiting = 0;
  let active = works;
  /** Runs batches one after the other, because the transaction has one connection. */
  let tail = Promise.resolve();

  function runWhenAllWait(): void {
    if (waiting === 0 || waiting < active) return;
    const batches = [...queued];
    queued.clear();
    waiting = 0;
    for (const [ask, items] of batches) tail = tail.then(() => runBatch(ask, items));
  }

  /** Never rejects. */
  function runBatch(ask: BatchQuery<unknown, unknown>, items: readonly QueuedItem[]): Promise<void> {
    return ask(
      tx,
      items.map(({ item }) => item),
    ).then(
      (answers) => items.forEach(({ resolve }, index) => resolve(answers[index])),
      (error: unknown) => items.forEach(({ reject }) => reject(error)),
    );
  }

  return {
    enqueue: <I, O>(ask: BatchQuery<I, O>, item: I) =>
      new Promise<O>((resolve, reject) => {
        // `ask` is only called with the items that were queued for it, so the cast is safe.
        const asked = ask as BatchQuery<unknown, unknown>;
        const items = queued.get(asked) ?? [];
        items.push({ item, resolve: resolve as (value: unknown) => void, reject });
        queued.set(asked, items);
        waiting++;
        runWhenAllWait();
      }),
    leave() {
      active--;
      runWhenAllWait();
    },
  };
}
