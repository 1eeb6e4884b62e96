import type { Ids } from '../kernel/ports.ts';
import type { MutationNotes, Stages } from '../kernel/invoke.ts';
import type { Actor, Recording } from '../kernel/event.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import type { Recorder } from './record.ts';

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

export function createSystemActs(
  stages: Pick<Stages, 'transaction' | 'announce' | 'changed'> & {
    readonly record: Recorder;
    readonly ids: Ids;
  },
): ActAsSystem {
  return async (name, work) => {
    const call = { address: null, userAgent: null, requestId: `job-${stages.ids.random()}` };
    const notes: MutationNotes = { recordings: [], topics: new Set(), afterCommit: [] };
    const committing = stages.transaction(async (tx) => {
      // A retried transaction starts with nothing noted.
      notes.recordings.length = notes.afterCommit.length = 0;
      notes.topics.clear();
      const result = await work({
        tx,
        record: (recording) => void notes.recordings.push({ actor: system, ...recording }),
        touch: (...topics) => topics.forEach((topic) => notes.topics.add(topic)),
      });
      const by = { scope: undefined, principal: null, call };
      await stages.record(tx, { name, keepsRights: true }, by, notes);
      if (notes.topics.size > 0) await stages.announce(tx, notes.topics);
      return result;
    });
    const result = await committing.finally(() => stages.changed(notes.topics));
    for (const after of notes.afterCommit) await after();
    return result;
  };
}
