import type { Ids } from '../kernel/ports.ts';
import { createNotes, type Stages } from '../kernel/stages.ts';
import type { Actor, Recording } from '../kernel/event.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import type { Commit } from './commit.ts';

/** A job's transaction, with functions to record and invalidate. */
export interface SystemAct {
  readonly tx: Executor;
  record(recording: Recording & { readonly node: NonNullable<Recording['node']> }): void;
  invalidate(...topics: string[]): void;
}

/**
 * Runs the change of a background job like a mutation: one transaction with its audit entry and events, and cache
 * invalidation after the commit. The actor is the system. A job that changes something must record it.
 */
export type ActAsSystem = <T>(name: string, work: (act: SystemAct) => Promise<T>) => Promise<T>;

const system: Actor = { type: 'system', id: null, userId: null, name: null };

export function createSystemActs(options: {
  readonly transaction: Stages['transaction'];
  readonly commit: Commit;
  readonly ids: Ids;
}): ActAsSystem {
  const { transaction, commit, ids } = options;
  return (name, work) => {
    const call = { address: null, userAgent: null, requestId: `job-${ids.random()}` };
    const notes = createNotes();
    const by = { scope: undefined, principal: null, call };
    return commit(transaction, { name, permissionChange: 'none' }, by, notes, (tx) =>
      work({
        tx,
        record: (recording) => void notes.recordings.push({ actor: system, ...recording }),
        invalidate: (...topics) => topics.forEach((topic) => notes.topics.add(topic)),
      }),
    );
  };
}
