import type { Changes } from '../../db/cache/changes.ts';
import { createEndedSessions } from './ended-sessions.ts';
import { createProjectWatch, watchId, type ProjectWatch, type WatchOptions } from './project-watch.ts';
import { createGate } from './shared-runs.ts';
import type { SnapshotScope } from './rows/snapshot-scope.ts';
import type { UserFilter } from '../../access/policy-snapshots.ts';

interface Watches {
  of(scope: SnapshotScope, filter: UserFilter): ProjectWatch;
  /** Whether this watch already exists. A new watch has to read all rows. */
  has(scope: SnapshotScope, filter: UserFilter): boolean;
  isStopped(): boolean;
  stop(): void;
}

interface Entry {
  readonly watch: ProjectWatch;
  readonly usedAt: number;
}

const IDLE_MS = 60_000;
/** The maximum of the estimated memory for the content of all watches together. */
const MAX_BYTES = 128 * 1024 * 1024;
/** How many reads run at the same time. More would take connections that requests need. */
const MAX_READS = 2;
const SESSION_PREFIX = 'session:';

/** Creates the watches of all projects and user filters that were used in the last minute, within a memory limit. */
export function createWatches(
  options: Omit<WatchOptions, 'gate' | 'endedSessionsSettled'> & { readonly changes: Changes },
): Watches {
  const { database, changes } = options;
  /** Ordered by last use. */
  const entries = new Map<string, Entry>();
  let isStopped = false;

  const endedSessions = createEndedSessions(database.pool, (projectIds) => {
    for (const { watch } of entries.values())
      if (projectIds === null || projectIds.includes(watch.scope.projectId)) watch.onEndedSession();
  });
  const watchOptions: WatchOptions = {
    ...options,
    gate: createGate(database.mode === 'embedded' ? 1 : MAX_READS),
    endedSessionsSettled: () => endedSessions.settled(),
  };
  const removeListener = changes.onChange((topics) => {
    if (entries.size === 0) return;
    for (const { watch } of entries.values()) watch.onChange(topics);
    const sessions = (topics ?? []).filter((topic) => topic.startsWith(SESSION_PREFIX));
    endedSessions.add(sessions.map((topic) => topic.slice(SESSION_PREFIX.length)));
  });

  /** Removes unused watches. Beyond the memory limit, also frees the content of the least recently used watches. */
  function tidy(now: number): void {
    let bytes = 0;
    for (const { watch } of entries.values()) bytes += watch.bytes;
    for (const [id, { watch, usedAt }] of entries) {
      const isUnused = !watch.isWaiting() && usedAt < now - IDLE_MS;
      if (!isUnused && bytes <= MAX_BYTES) continue;
      bytes -= watch.bytes;
      if (isUnused) entries.delete(id);
      else watch.forget();
    }
  }
  const timer = setInterval(() => tidy(performance.now()), IDLE_MS / 6).unref();

  return {
    of(scope, filter) {
      const id = watchId(scope, filter);
      const existing = entries.get(id)?.watch;
      const watch = existing ?? createProjectWatch(watchOptions, scope, filter);
      entries.delete(id);
      entries.set(id, { watch, usedAt: performance.now() });
      if (!existing) tidy(performance.now());
      return watch;
    },
    has: (scope, filter) => entries.has(watchId(scope, filter)),
    isStopped: () => isStopped,
    stop() {
      isStopped = true;
      clearInterval(timer);
      removeListener();
      for (const { watch } of entries.values()) watch.stop();
    },
  };
}
