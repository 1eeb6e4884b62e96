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
    const topics = new Set<string>();
    const committing = stages.transaction(async (tx) => {
      topics.clear();
      const notes: MutationNotes = {
        recordings: [],
        topics,
        afterCommit: [],
        changes: undefined,
        unchanged: false,
      };
      const result = await work({
        tx,
        record: (recording) => void notes.recordings.push({ actor: system, ...recording }),
        touch: (...names) => names.forEach((topic) => topics.add(topic)),
      });
      await stages.record(
        tx,
        { name, keepsRights: true },
        { scope: undefined, principal: null, call },
        notes,
      );
      if (topics.size > 0) await stages.announce(tx, topics);
      return result;
    });
    return committing.finally(() => stages.changed(topics));
  };
}
