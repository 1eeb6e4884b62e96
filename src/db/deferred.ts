import type { Executor } from '../kernel/scoped-db.ts';

/** Runs work in one transaction of the database. */
export type Transaction = <T>(work: (tx: Executor) => Promise<T>) => Promise<T>;

/**
 * Deferred results: statements whose answer nobody needs before the commit. On PostgreSQL they are sent without waiting
 * for the answer to the one before, which the driver does by itself (`pipeline`); the transaction waits for all of them
 * together with its commit. So the last statement of a change and its commit leave at once, and the lock of a tenant's
 * node is held for one round trip less.
 */
const deferred = new WeakMap<Executor, Promise<unknown>[]>();

/**
 * Goes on without the answer where the transaction waits for it at its end. A statement that fails makes PostgreSQL
 * refuse everything behind it, so nothing is committed without it, and the transaction throws this failure. In a
 * savepoint, which can fail without its transaction, and on the embedded database the answer is awaited here.
 */
export async function deferToCommit(tx: Executor, answer: Promise<unknown>): Promise<void> {
  const results = deferred.get(tx);
  if (!results) return void (await answer);
  // The query builder sends a statement each time that somebody waits for it: `then` here sends it, once.
  const sent = answer.then((result) => result);
  // The transaction looks at a failure at its end; until then it must not count as unhandled.
  sent.catch(() => undefined);
  results.push(sent);
}

/** Transactions that wait for their deferred results before they are done. */
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
      // What came after the first failure was refused for that reason alone.
      throw failed?.status === 'rejected' ? failed.reason : error;
    }
  };
