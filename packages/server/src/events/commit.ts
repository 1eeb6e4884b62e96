import type { Changes } from '../db/cache/changes.ts';
import type { Revisions } from '../db/cache/revisions.ts';
import { batched } from '../db/connection/group-commit.ts';
import { fail } from '../errors.ts';
import type { MutationNotes } from '../kernel/stages.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { CallerChanged } from './caller-changed.ts';
import {
  invalidateRights,
  type RecordedOperation,
  type Author,
  type Recorder,
  type MutationRecord,
} from './record.ts';
import type { TenantQueues } from './outbox/tenant-queues.ts';

/**
 * Commits a change of a mutation or a job: the change, its audit entry, its events and its invalidation topics are one
 * transaction. After the commit it invalidates the caches of this process and runs the `afterCommit` callbacks.
 */
export type Commit = <T>(
  /** Runs its work again after a serialization failure. */
  transaction: <R>(work: (tx: Executor) => Promise<R>) => Promise<R>,
  op: RecordedOperation,
  by: Author,
  notes: MutationNotes,
  work: (tx: Executor) => Promise<T>,
) => Promise<T>;

/**
 * Maximum attempts of a mutation whose caller changes while it waits for a lock. On a busy machine a caller whose
 * rights change often may run into a change at every attempt; after the last one the call gets 503.
 */
const ATTEMPTS = 20;

export function createCommit(options: {
  readonly record: Recorder;
  readonly changes: Pick<Changes, 'apply' | 'announcement'>;
  readonly revisions: Pick<Revisions, 'seal'>;
  readonly queues: TenantQueues;
  readonly log: (error: unknown, message: string, requestId: string) => void;
}): Commit {
  const { record, changes, revisions, queues, log } = options;

  /** Records all mutations of a group commit together. The number of statements depends only on that of the entries. */
  async function recordAll(tx: Executor, mutations: readonly MutationRecord[]): Promise<undefined[]> {
    const changed = mutations.filter(({ notes }) => !notes.unchanged);
    const columns = await changes.announcement(
      tx,
      new Set(mutations.flatMap(({ notes }) => [...notes.topics])),
    );
    const onTransaction = (transaction: number): void => {
      for (const { notes } of mutations) notes.revision = revisions.seal(transaction);
    };
    await record(tx, changed, { columns, onTransaction });
    return mutations.map(() => undefined);
  }

  return async (transaction, op, by, notes, work) => {
    const runWork = async (tx: Executor) => {
      // A retried transaction starts with empty notes.
      Object.assign(notes, { changes: undefined, unchanged: false, cookies: {} });
      notes.recordings.length = notes.afterCommit.length = 0;
      notes.topics.clear();
      const out = await work(tx);
      if (!notes.unchanged) invalidateRights(op, by, notes);
      await batched(tx, recordAll, { op, by, notes });
      return out;
    };
    const { scope, caller } = by;
    const attempt = async (attemptsLeft = ATTEMPTS): Promise<Awaited<ReturnType<typeof runWork>>> => {
      if (caller?.isDue()) await caller.checkAgain();
      try {
        return await transaction(runWork);
      } catch (error) {
        if (!(error instanceof CallerChanged)) throw error;
        if (attemptsLeft === 1) throw fail('UNAVAILABLE');
        return attempt(attemptsLeft - 1);
      }
    };
    const committing = scope ? queues.run(scope.nodeId, () => attempt()) : attempt();
    // A commit whose response was lost may have succeeded, so invalidate in any case.
    const out = await committing.finally(() => changes.apply(notes.topics));
    for (const callback of notes.afterCommit) {
      try {
        await callback();
      } catch (error) {
        log(error, 'work after commit failed', by.call.requestId);
      }
    }
    return out;
  };
}
