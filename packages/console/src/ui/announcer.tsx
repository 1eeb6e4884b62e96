import { useEffect, useId, useSyncExternalStore } from 'react';

/**
 * Live regions for the results of actions, which screen readers read and others see for a while. A dialog makes all that is
 * outside of it inert, so each dialog has a region too, and only the topmost shows the text. When a dialog closes, its text
 * goes on to the region below, which reads it then.
 */
const SHOWN_MS = 6000;
let text = '';
let timer: ReturnType<typeof setTimeout> | undefined;
let regions: readonly string[] = [];
const listeners = new Set<() => void>();

function notify(): void {
  for (const listener of listeners) listener();
}

export function announce(result: string): void {
  text = result;
  notify();
  clearTimeout(timer);
  timer = setTimeout(() => {
    text = '';
    notify();
  }, SHOWN_MS);
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export function Announcer() {
  const id = useId();
  useEffect(() => {
    regions = [...regions, id];
    notify();
    return () => {
      regions = regions.filter((other) => other !== id);
      notify();
    };
  }, [id]);
  const current = useSyncExternalStore(subscribe, () => (regions.at(-1) === id ? text : ''));
  return (
    <div role="status" className={current ? 'toast' : 'toast empty'}>
      {current}
    </div>
  );
}
