import { useEffect, useId, useSyncExternalStore } from 'react';

const SHOWN_MS = 6000;
let text = '';
let timer: ReturnType<typeof setTimeout> | undefined;
let regions: readonly string[] = [];
const listeners = new Set<() => void>();

function notify(): void {
  for (const listener of listeners) listener();
}

/** Shows the result of an action in the topmost region for a few seconds. */
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

/**
 * A live region for the results of actions. Screen readers read the result aloud, and others see it for a few
 * seconds. A dialog makes everything outside it inert, so each dialog has its own region, and only the topmost region
 * shows the text. When a dialog closes, its text moves to the region below, which then reads it.
 */
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
