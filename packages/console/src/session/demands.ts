import { DoorwardError } from '@doorward/node/client';

/** What the service may demand before it carries out a change. A dialog lets the user satisfy the demand. */
export type Demand = 'STEP_UP_REQUIRED' | 'MFA_REQUIRED' | 'EMAIL_VERIFICATION_REQUIRED';

export interface OpenDemand {
  readonly code: Demand;
  /** Closes the demand. `isSatisfied` is false if the user closed the dialog. */
  readonly settle: (isSatisfied: boolean) => void;
}

const demands: readonly string[] = ['STEP_UP_REQUIRED', 'MFA_REQUIRED', 'EMAIL_VERIFICATION_REQUIRED'];
let open: OpenDemand | null = null;
const listeners = new Set<() => void>();

export const openDemand = (): OpenDemand | null => open;
export const onDemandChange = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

function set(next: OpenDemand | null): void {
  open = next;
  for (const listener of listeners) listener();
}

/** Opens the dialog for a demand. Resolves to whether the user satisfied the demand. */
export const askFor = (code: Demand): Promise<boolean> =>
  new Promise((resolve) => {
    open?.settle(false);
    const demand: OpenDemand = {
      code,
      settle: (isSatisfied) => {
        // When an earlier demand is settled late, the dialog of a later demand must stay open.
        if (open === demand) set(null);
        resolve(isSatisfied);
      },
    };
    set(demand);
  });

/** Whether an error means that the service demands something first. */
export const isDemand = (error: unknown): boolean =>
  error instanceof DoorwardError && demands.includes(error.code);

/** Makes a call. If the service demands something first and the user satisfies it, makes the call once more. */
export async function withDemands<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!isDemand(error) || !(await askFor((error as DoorwardError).code as Demand))) throw error;
    return call();
  }
}
