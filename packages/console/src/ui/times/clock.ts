import { useSyncExternalStore } from 'react';

const EVERY_MS = 10_000;

const listeners = new Set<() => void>();
let ticks = 0;
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    if (document.hidden) return;
    ticks++;
    for (const each of listeners) each();
  }, EVERY_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Renders again every ten seconds, so that relative times stay correct. All components share one timer. */
export const useTicks = (): number => useSyncExternalStore(subscribe, () => ticks);
