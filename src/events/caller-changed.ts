import type { Recorded } from '../kernel/stages.ts';

/**
 * The mutation waited for a lock, and the rights of its caller may have changed meanwhile. The transaction has already
 * written, so it would not read the state that others see: it is rolled back, the caller is checked again, and the
 * mutation starts anew.
 */
export class CallerChanged extends Error {
  constructor() {
    super('the caller changed while the mutation waited');
  }
}

/** Call it when nothing waits any more before the commit. @throws CallerChanged */
export function assertSameCaller({ caller }: Pick<Recorded, 'caller'>): void {
  if (caller?.isDue()) throw new CallerChanged();
}
