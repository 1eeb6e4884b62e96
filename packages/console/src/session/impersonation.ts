import { readSetting, writeSetting } from '../settings.ts';
import { sessionState } from './session.ts';

/**
 * For whom this operator has a token now, as long as it lives: its id, by which it can be ended, never the token. It is in
 * the storage of the browser, so that every tab shows it, also after the page was loaded again.
 */
interface RunningImpersonation {
  readonly id: string;
  /** Of the user. */
  readonly name: string;
  readonly until: number;
  readonly operatorId: string;
}

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
  writeSetting('impersonation', JSON.stringify({ id, name, until, operatorId: operatorId() }));
  notify();
}

export function forgetImpersonation(): void {
  writeSetting('impersonation', null);
  notify();
}

/** The stored text, which stays the same object for React as long as nothing changes. */
export const storedImpersonation = (): string | null => readSetting('impersonation');

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
