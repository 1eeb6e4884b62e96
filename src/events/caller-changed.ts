import type { Recorded } from '../kernel/stages.ts';

/**
 * The mutation waited for a lock, and its caller may not be who they were. It has written, so what it would read of them
 * now is not what others see: the transaction is taken back, they are asked about again, and it begins anew.
 */
export class CallerChanged extends Error {
  constructor() {
    super('the caller changed while the mutation waited');
  }
}

/** To be asked when no further wait can come before the commit. @throws CallerChanged */
export function assertSameCaller({ caller }: Pick<Recorded, 'caller'>): void {
  if (caller?.isDue()) throw new CallerChanged();
}
