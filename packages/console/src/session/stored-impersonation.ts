/**
 * The running impersonation of this operator. It contains the id that is needed to end it, but never the token. It is
 * in the storage of the browser, so that every tab shows it, even after the page is reloaded.
 */
export interface RunningImpersonation {
  readonly id: string;
  /** The name of the impersonated user. */
  readonly name: string;
  readonly until: number;
  readonly operatorId: string | null;
}

/** Parses the stored impersonation. Returns null if there is none, it has expired, or another operator started it. */
export function impersonationOf(
  operatorId: string | null,
  stored: string | null,
  now: number,
): RunningImpersonation | null {
  const running = parsed(stored);
  return running && running.operatorId === operatorId && running.until > now ? running : null;
}

/** Other scripts of this origin can write to the storage too, and a banner must not break every page. */
function parsed(stored: string | null): RunningImpersonation | null {
  try {
    return stored === null ? null : (JSON.parse(stored) as RunningImpersonation | null);
  } catch {
    return null;
  }
}
