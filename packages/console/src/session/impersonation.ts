import { sessionState } from './session.ts';

/**
 * For whom this operator has a token now, as long as it lives: its id, by which it can be ended, never the token. It is in
 * the storage of the browser, so that every tab shows it, also after the page was loaded again.
 */
export interface RunningImpersonation {
  readonly id: string;
  /** Of the user. */
  readonly name: string;
  readonly until: number;
  readonly operatorId: string;
}

const KEY = 'doorward.console.impersonation';
const listeners = new Set<() => void>();
const notify = (): void => listeners.forEach((listener) => listener());

const operatorId = (): string | null => {
  const state = sessionState();
  return state.kind === 'signedIn' ? state.userId : null;
};

export function noteImpersonation({
  id,
  name,
  seconds,
}: {
  readonly id: string;
  readonly name: string;
  readonly seconds: number;
}): void {
  const until = Date.now() + seconds * 1000;
  try {
    localStorage.setItem(KEY, JSON.stringify({ id, name, until, operatorId: operatorId() }));
  } catch {
    // Storage may be forbidden; the token still ends by itself.
  }
  notify();
}

export function forgetImpersonation(): void {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // See noteImpersonation.
  }
  notify();
}

/** The stored text, which stays the same object for React as long as nothing changes. */
export function storedImpersonation(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** That of the signed-in operator; null if there is none, or it has run out. */
export function runningImpersonation(stored: string | null, now: number): RunningImpersonation | null {
  if (stored === null) return null;
  const running = JSON.parse(stored) as RunningImpersonation;
  return running.operatorId === operatorId() && running.until > now ? running : null;
}

export function onImpersonationChange(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('storage', listener);
  };
}
