import type { Changes } from '../db/changes.ts';
import type { Database } from '../db/open.ts';
import type { Revisions } from '../db/revisions.ts';
import { together } from '../db/shared-commit.ts';
import { fail } from '../errors.ts';
import type { MutationNotes } from '../kernel/stages.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { CallerChanged } from './caller-changed.ts';
import { noteStaleRights, type Act, type Author, type Recorder, type Written } from './record.ts';
import type { TenantQueues } from './tenant-queues.ts';

/**
 * The end of every change, whoever asked for it: what it did, its audit entry and events and the topics that it made
 * stale are one transaction; the caches of this process are told after commit, and then comes what waits for it.
 */
export type Commit = <T>(
  /** Runs its work again after a serialization failure. */
  transaction: <R>(work: (tx: Executor) => Promise<R>) => Promise<R>,
  op: Act,
  by: Author,
  notes: MutationNotes,
  work: (tx: Executor) => Promise<T>,
) => Promise<T>;

/** The most attempts of a mutation whose caller changed while it waited for a lock. */
const ATTEMPTS = 5;

export function createCommit(options: {
  readonly record: Recorder;
  readonly changes: Pick<Changes, 'apply' | 'announcing'>;
  readonly revisions: Pick<Revisions, 'seal'>;
  /** Of operations that share their commits with others of their kind. */
  readonly shared: Database['transaction'];
  readonly queues: TenantQueues;
  readonly log: (error: unknown, message: string, requestId: string) => void;
}): Commit {
  const { record, changes, revisions, shared, queues, log } = options;

  /** Of mutations that share a commit, in the statements of one: for each of them, or for a thousand entries. */
  async function leaveBehind(tx: Executor, acts: readonly Written[]): Promise<undefined[]> {
    const changed = acts.filter(({ notes }) => !notes.unchanged);
    const columns = await changes.announcing(tx, new Set(acts.flatMap(({ notes }) => [...notes.topics])));
    const heard = (transaction: number): void => {
      for (const { notes } of acts) notes.revision = revisions.seal(transaction);
    };
    await record(tx, changed, { columns, heard });
    return acts.map(() => undefined);
  }

  return async (transaction, op, by, notes, work) => {
    const changing = async (tx: Executor) => {
      // A retried transaction starts with nothing noted.
      Object.assign(notes, { changes: undefined, unchanged: false });
      notes.recordings.length = notes.afterCommit.length = 0;
      notes.topics.clear();
      const out = await work(tx);
      if (!notes.unchanged) noteStaleRights(op, by, notes);
      await together(tx, leaveBehind, { op, by, notes });
      return out;
    };
    const { scope, caller } = by;
    const attempt = async (left = ATTEMPTS): Promise<Awaited<ReturnType<typeof changing>>> => {
      if (caller?.isDue()) await caller.askAgain();
      try {
        return await transaction(changing);
      } catch (error) {
        if (!(error instanceof CallerChanged)) throw error;
        if (left === 1) throw fail('UNAVAILABLE');
        return attempt(left - 1);
      }
    };
    const committing = op.sharesCommit
      ? shared(changing)
      : scope
        ? queues.run(scope.nodeId, () => attempt())
        : attempt();
    // A commit whose answer got lost may have happened: what it touched is stale either way.
    const out = await committing.finally(() => changes.apply(notes.topics));
    for (const after of notes.afterCommit) {
      try {
        await after();
      } catch (error) {
        log(error, 'work after commit failed', by.call.requestId);
      }
    }
    return out;
  };
}
