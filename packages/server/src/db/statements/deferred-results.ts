import type { Executor } from '../../kernel/scoped-db.ts';

/** Runs work in one transaction of the database. */
export type Transaction = <T>(work: (tx: Executor) => Promise<T>) => Promise<T>;

/**
 * Deferred results: results of statements that are not needed before the commit. The driver sends such statements
 * without waiting for the previous response (`pipeline`), and the transaction awaits all results together with its
 * commit. The last statement of a change and the commit are thus sent together, which shortens the lock on a tenant
 * node by one round trip.
 */
const deferred = new WeakMap<Executor, Promise<unknown>[]>();

/**
 * Defers a result to the end of the transaction. After a failed statement PostgreSQL rejects all later ones, so nothing
 * is committed, and the transaction throws the first failure. In a savepoint, which can fail without its transaction,
 * the result is awaited immediately.
 */
export async function deferToCommit(tx: Executor, answer: Promise<unknown>): Promise<void> {
  const results = deferred.get(tx);
  if (!results) return void (await answer);
  // Drizzle sends a statement each time it is awaited; this `then` sends it exactly once.
  const sent = answer.then((result) => result);
  // The transaction handles a failure at its end; until then Node.js must not report an unhandled rejection.
  sent.catch(() => undefined);
  results.push(sent);
}

/** Wraps a transaction function, so that it awaits deferred results before it resolves. */
export const withDeferredResults =
  (transaction: Transaction): Transaction =>
  async (work) => {
    const results: Promise<unknown>[] = [];
    try {
      const answer = await transaction((tx) => {
        deferred.set(tx, results);
        return work(tx);
      });
      // PostgreSQL responds to the commit of a failed transaction with a rollback, not with an error, so results are
      // checked here.
      await Promise.all(results);
      return answer;
    } catch (error) {
      const failed = (await Promise.allSettled(results)).find(({ status }) => status === 'rejected');
      // The first failure caused all later ones.
      throw failed?.status === 'rejected' ? failed.reason : error;
    }
  };
