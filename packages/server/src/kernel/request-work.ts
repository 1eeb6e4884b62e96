import { setImmediate as nextTick } from 'node:timers/promises';
import { Work, WorkExceeded, type Charged, type WorkKind } from '@doorward/decision/work';
import { fail } from '../errors.ts';

/**
 * Limits the decisions of one HTTP request, however many questions, documents or rows they are about: each of its limits
 * alone allows little, and their product could keep the process busy for minutes.
 */
export interface RequestWork extends Charged {
  /** Steps so far. */
  readonly spent: number;
  /** Lets other requests run, if this one has kept them waiting for about 50 ms. */
  pause(): Promise<void> | undefined;
}

/** Less than a second of processor time. The largest single question takes a sixth of it. */
const MAX_STEPS = 4_000_000;
const STEPS_PER_TICK = 250_000;

const names: Readonly<Record<WorkKind, string>> = {
  comparisons: 'comparisons of conditions',
  items: 'items of lists',
  paths: 'paths from roles to permissions',
  proposals: 'proposals of an explanation',
  cases: 'cases of conditions',
};

export function createRequestWork(): RequestWork {
  const work = new Work(MAX_STEPS);
  let atTick = 0;
  return {
    get spent() {
      return work.spent;
    },
    charge(kind, steps) {
      try {
        work.charge(kind, steps);
      } catch (error) {
        if (!(error instanceof WorkExceeded)) throw error;
        throw fail('QUERY_TOO_COMPLEX', {
          params: { limit: `steps > ${MAX_STEPS}, most of them for ${names[error.kind]}` },
          fix: 'Ask fewer questions at once, or give the roles fewer permissions with conditions, and the attributes shorter lists.',
        });
      }
    },
    pause() {
      if (work.spent - atTick < STEPS_PER_TICK) return undefined;
      atTick = work.spent;
      return nextTick();
    },
  };
}
