import { readSetting, writeSetting } from '../settings.ts';
import { sessionState } from './session.ts';

/**
 * The running impersonation of this operator. It contains the id that is needed to end it, but never the token. It is
 * in the storage of the browser, so that every tab shows it, even after the page is reloaded.
 */
interface RunningImpersonation {
  readonly id: string;
  /** The name of the impersonated user. */
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

/** Returns the stored text instead of an object, because React compares it with the previous one. */
export const storedImpersonation = (): string | null => readSetting('impersonation');

/** Parses the stored impersonation. Returns null if there is none, it has expired, or another operator started it. */
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
