import { setImmediate as nextTick } from 'node:timers/promises';
import { Work, WorkExceeded, type Charged, type WorkKind } from '@doorward/decision/work';
import { fail } from '../errors.ts';

/**
 * Limits the decisions of one HTTP request, however many questions, documents or rows they are about. Each of the
 * request's other limits allows only a little, but their product could keep the process busy for minutes.
 */
export interface RequestWork extends Charged {
  /** Steps charged so far. */
  readonly spent: number;
  /**
   * Call it before an operation reads, because another operation of the request may have used up the budget.
   *
   * @throws QUERY_TOO_COMPLEX
   */
  assertNotExceeded(): void;
  /** Returns a pause in which other requests run, if this request has worked for about 50 ms since the last pause. */
  pause(): Promise<void> | undefined;
}

/** Less than a second of processor time. The largest single question needs less than a quarter of it. */
const MAX_STEPS = 4_000_000;
const STEPS_PER_TICK = 250_000;

const names: Readonly<Record<WorkKind, string>> = {
  comparisons: 'condition comparisons',
  items: 'list items',
  paths: 'role-to-permission paths',
  proposals: 'explanation proposals',
  cases: 'condition alternatives',
};

export function createRequestWork(): RequestWork {
  const work = new Work(MAX_STEPS);
  let atTick = 0;
  const charge: RequestWork['charge'] = (kind, steps) => {
    try {
      work.charge(kind, steps);
    } catch (error) {
      if (!(error instanceof WorkExceeded)) throw error;
      throw fail('QUERY_TOO_COMPLEX', {
        params: { limit: `more than ${MAX_STEPS} steps, mostly ${names[error.kind]}` },
        fix: 'Send fewer checks or tests per request, use fewer conditional permissions, or shorten the lists in the attributes.',
      });
    }
  };
  return {
    get spent() {
      return work.spent;
    },
    charge,
    // Once exceeded, a budget stays exceeded.
    assertNotExceeded: () => charge('comparisons', 0),
    pause() {
      if (work.spent - atTick < STEPS_PER_TICK) return undefined;
      atTick = work.spent;
      return nextTick();
    },
  };
}
