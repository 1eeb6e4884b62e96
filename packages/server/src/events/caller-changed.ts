import type { MutationOrigin } from '../kernel/stages.ts';

/**
 * Thrown if the caller's permissions may have changed while the mutation waited for a lock. The transaction cannot
 * check them itself, because it would see its own uncommitted writes. So it is rolled back, the caller is checked
 * again, and the mutation restarts.
 */
export class CallerChanged extends Error {
  constructor() {
    super('the caller changed while the mutation waited');
  }
}

/**
 * Call it before the commit, once the transaction holds its last lock.
 *
 * @throws CallerChanged if the check of the caller is outdated
 */
export function assertSameCaller({ caller }: Pick<MutationOrigin, 'caller'>): void {
  if (caller?.isDue()) throw new CallerChanged();
}
