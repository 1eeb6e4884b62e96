import type { Executor } from '../../kernel/scoped-db.ts';

/** Runs work in one transaction of the database. */
export type Transaction = <T>(work: (tx: Executor) => Promise<T>) => Promise<T>;

/**
 * Deferred results: statements whose answer is not needed before the commit. The driver sends them without waiting
 * for the previous answer (`pipeline`), and the transaction awaits all of them together with its commit. The
 * last statement of a change and its commit are sent at once, which shortens the lock on a tenant's node by one round
 * trip.
 */
const deferred = new WeakMap<Executor, Promise<unknown>[]>();

/**
 * Defers an answer to the end of the transaction. After a failed statement PostgreSQL rejects every later one, so
 * nothing is committed, and the transaction throws the first failure. Awaits the answer at once in a savepoint, which
 * can fail without its transaction.
 */
export async function deferToCommit(tx: Executor, answer: Promise<unknown>): Promise<void> {
  const results = deferred.get(tx);
  if (!results) return void (await answer);
  // Drizzle sends a statement each time that it is awaited; this `then` sends it exactly once.
  const sent = answer.then((result) => result);
  // The transaction handles the failure at its end; until then Node.js must not report an unhandled rejection.
  sent.catch(() => undefined);
  results.push(sent);
}

/** A transaction function that awaits deferred results before it resolves. */
export const withDeferredResults =
  (transaction: Transaction): Transaction =>
  async (work) => {
    const results: Promise<unknown>[] = [];
    try {
      const answer = await transaction((tx) => {
        deferred.set(tx, results);
        return work(tx);
      });
      // PostgreSQL answers the commit of a failed transaction with a rollback, and not with an error.
      await Promise.all(results);
      return answer;
    } catch (error) {
      const failed = (await Promise.allSettled(results)).find(({ status }) => status === 'rejected');
      // The first failure is the cause of all later ones.
      throw failed?.status === 'rejected' ? failed.reason : error;
    }
  };
