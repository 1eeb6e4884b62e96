import { readSetting, writeSetting } from '../settings.ts';
import { sessionState } from './session.ts';
import { impersonationOf, type RunningImpersonation } from './stored-impersonation.ts';

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

/** Returns null if nothing is stored, or what is stored has expired, or another operator started it. */
export const runningImpersonation = (stored: string | null, now: number): RunningImpersonation | null =>
  impersonationOf(operatorId(), stored, now);

export function onImpersonationChange(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('storage', listener);
  };
}
