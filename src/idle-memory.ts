import { Session } from 'node:inspector';
import { getHeapStatistics } from 'node:v8';

/**
 * Gives memory back after work. V8 collects when something is allocated, so a process that falls silent keeps what its
 * last busy moment took: 32 MB for young objects alone, and garbage of half of what lives. Once it has been quiet for a
 * while, and holds a good deal more than after the last time, caches let go of what was not used of late, and
 * everything is collected. That stops it for about a tenth of a second where a hundred megabytes live, which is why it
 * does not happen while there is work.
 */
export interface IdleMemory {
  /** Looks once; to be called at even intervals. `requests`: how many the process has taken so far. */
  look(requests: number): void;
}

/** More than probes and a scrape of the metrics make in ten seconds, far less than work. */
const FEW = 20;
const QUIET_LOOKS = 3;
const GROWTH = 1.2;

export interface Heap {
  /** Bytes that V8 has from the system. */
  readonly held: () => number;
  /** Collects everything, then calls back. */
  readonly collect: (done: () => void) => void;
}

/** `letGo`: frees what can be had again. */
export function createIdleMemory(letGo: () => void, heap: Heap = v8Heap): IdleMemory {
  let seen = 0;
  let quiet = 0;
  let heldAfter = 0;
  return {
    look(requests) {
      quiet = requests - seen <= FEW ? quiet + 1 : 0;
      seen = requests;
      if (quiet < QUIET_LOOKS || heap.held() < heldAfter * GROWTH) return;
      quiet = 0;
      letGo();
      heap.collect(() => (heldAfter = heap.held()));
    },
  };
}

/** The debugger's way to collect: the only one that shrinks the space for young objects too, and it needs no flag. */
const v8Heap: Heap = {
  held: () => getHeapStatistics().total_heap_size,
  collect(done) {
    const session = new Session();
    session.connect();
    session.post('HeapProfiler.collectGarbage', () => {
      // Not from within its own answer: the process would never come back.
      setImmediate(() => session.disconnect());
      done();
    });
  },
};
