import type { Ids } from '../kernel/ports.ts';
import { noNotes, type Stages } from '../kernel/stages.ts';
import type { Actor, Recording } from '../kernel/event.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import type { Commit } from './commit.ts';

/** What a job changes, with the means to say so. */
export interface SystemAct {
  readonly tx: Executor;
  record(recording: Recording & { readonly node: NonNullable<Recording['node']> }): void;
  touch(...topics: string[]): void;
}

/**
 * Runs what nobody asked for, a job's change, as a mutation runs: one transaction with its audit entry and events,
 * caches told after commit. The actor is the system. An act that records nothing has changed nothing.
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
    const notes = noNotes();
    const by = { scope: undefined, principal: null, call };
    return commit(transaction, { name, keepsRights: true }, by, notes, (tx) =>
      work({
        tx,
        record: (recording) => void notes.recordings.push({ actor: system, ...recording }),
        touch: (...topics) => topics.forEach((topic) => notes.topics.add(topic)),
      }),
    );
  };
}
