import { setTimeout as pause } from 'node:timers/promises';
import { changesBetween } from '@doorward/decision/changes-between';
import type { Changes } from '../../db/cache/changes.ts';
import type { Database } from '../../db/connection/open.ts';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import type { Clock } from '../../kernel/ports.ts';
import { loadContent, withEnded, type Content } from './content.ts';
import { endedChangesAt, readEnded } from './rows/ended.ts';
import { createHistory, type Difference } from './history.ts';
import { createSharedRuns, type Gate } from './shared-runs.ts';
import { createStaleness } from './staleness.ts';
import type { SnapshotScope } from './rows/snapshot-scope.ts';
import type { UserFilter } from '../../access/policy-snapshots.ts';

/**
 * Keeps the content of one project's snapshot current while clients poll. Changes are announced by topics
 * (`db/cache/changes.ts`). Changes that may affect the content make it stale, and it is read again: immediately if a
 * poll waits, else at the next request. All callers share the reads, whose rate is limited.
 */
export interface ProjectWatch {
  /** Identifies the project and the user filter. */
  readonly id: string;
  readonly scope: SnapshotScope;
  /** Returns the content, at least as new as this call. @throws SNAPSHOT_TOO_LARGE */
  current(): Promise<CurrentContent>;
  /** The version of the content that was read last; null before the first read. */
  version(): string | null;
  /** When that version was first read (`performance.now()`). */
  changedAt(): number;
  differenceSince(version: string): Difference | null;
  /** Resolves when the version differs from `version`, after the time-out, or when the returned `end` is called. */
  untilChanged(
    version: string,
    timeoutMs: number,
  ): { readonly changed: Promise<void>; readonly end: () => void };
  /**
   * Called regularly while a poll waits. Reads the content again if it has changed by time alone, or if the change
   * channel is silent.
   */
  poll(): void;
  isWaiting(): boolean;
  /** Receives the topics of changes; null if some may have been missed. */
  onChange(topics: readonly string[] | null): void;
  onEndedSession(): void;
  /** The estimated memory of the content. */
  readonly bytes: number;
  /** Frees the memory. The content is read again when it is needed. */
  forget(): void;
  /** Ends all waiting. From now on `current` returns the last content without a check. */
  stop(): void;
}

export interface CurrentContent {
  readonly content: Content;
  /** The content contains every transaction with a lower number. */
  readonly below: number;
  /** The content is at least as new as this time, in milliseconds. */
  readonly asOf: number;
}

export interface WatchOptions {
  readonly database: Database;
  readonly changes: Pick<Changes, 'confirm' | 'isTrusted'>;
  readonly clock: Clock;
  /** Slugs of the built-in resources, sorted. */
  readonly nouns: readonly string[];
  readonly tokenMs: number;
  /** Limits the reads of all projects together. */
  readonly gate: Gate;
  /**
   * Resolves when `onEndedSession` has been called for every session that an announcement named; undefined if it has.
   */
  readonly endedSessionsSettled: () => Promise<void> | undefined;
}

const MIN_INTERVAL_MS = 250;
/**
 * After a read, the pause is this multiple of its duration, so that reads of one project take at most a third of the
 * time.
 */
const PAUSE_FACTOR = 2;
/** An object takes several times the memory of its JSON text. */
const MEMORY_PER_BYTE = 4;

export const watchId = ({ projectId }: SnapshotScope, filter: UserFilter): string =>
  `${projectId} ${typeof filter === 'string' ? filter : filter.join()}`;

export function createProjectWatch(
  options: WatchOptions,
  scope: SnapshotScope,
  filter: UserFilter,
): ProjectWatch {
  const { database, changes, clock, nouns, tokenMs, gate, endedSessionsSettled } = options;
  const history = createHistory();
  const waiters = new Set<{ readonly version: string; readonly resolve: () => void }>();
  let content: Content | null = null;
  let lastVersion: string | null = null;
  let lastCurrent: CurrentContent | null = null;
  let changedAt = 0;
  /** `rows`: whether the content except the ended credentials is stale. `ended`: whether the ended credentials are. */
  const rows = createStaleness();
  const ended = createStaleness();
  let reading: Promise<Content> | null = null;
  let nextReadAt = 0;
  let isStopped = false;

  /** Waits for the rate limit and the gate, then calls `begin` (see `createSharedRuns`) and reads. */
  async function readAgain(begin: () => void): Promise<Content> {
    const wait = nextReadAt - performance.now();
    if (wait > 0) await pause(wait);
    return gate(scope.ownerId, () => {
      begin();
      return (reading = readNow()).finally(() => (reading = null));
    });
  }

  /** Reads the content. A change during the read makes it stale again. */
  async function readNow(): Promise<Content> {
    const startedAt = performance.now();
    const base = rows.isStale() ? null : content;
    const ends = [...(base ? [] : [rows.begin()]), ended.begin()];
    const endReads = (hasSucceeded: boolean) => ends.forEach((end) => end(hasSucceeded));
    let next: Content;
    try {
      next = await (base ? readEndedOf(base) : readAll());
    } catch (error) {
      endReads(false);
      throw error;
    } finally {
      const endedAt = performance.now();
      nextReadAt = Math.max(startedAt + MIN_INTERVAL_MS, endedAt + PAUSE_FACTOR * (endedAt - startedAt));
    }
    endReads(true);
    return store(next);
  }

  const readAll = () => loadContent(database, { scope, filter, now: clock.now().getTime(), tokenMs }, nouns);

  async function readEndedOf(base: Content): Promise<Content> {
    const now = clock.now().getTime();
    const credentials = await readEnded(database.pool, scope, { now, tokenMs });
    return withEnded(base, credentials, endedChangesAt(credentials, now));
  }

  function store(next: Content): Content {
    if (content && content.version !== next.version) {
      // Every response lists all ended credentials, so a difference does not contain them.
      const isEqual = content.digest === next.digest;
      const difference = isEqual ? { put: {}, drop: {} } : changesBetween(content.rows, next.rows);
      history.add(content.version, difference, content.rows);
    }
    if (next.version !== lastVersion) changedAt = performance.now();
    content = next;
    lastVersion = next.version;
    wake(({ version }) => version !== next.version);
    return next;
  }

  function wake(which: (waiter: { readonly version: string }) => boolean): void {
    for (const waiter of waiters) if (which(waiter)) waiter.resolve();
  }

  const refresh = createSharedRuns(readAgain);
  const refreshForWaiters = (): void => {
    const isNeeded = rows.needsRead() || ended.needsRead();
    if (isNeeded && waiters.size > 0 && !isStopped) refresh().catch(() => undefined);
  };

  function noteTime(now: number): void {
    if (content === null) return;
    const isDue = (at: number | null) => at !== null && at <= now;
    if (isDue(content.rowsChangeAt) && !rows.isStale()) rows.mark();
    if (isDue(content.endedChangesAt) && !ended.isStale()) ended.mark();
  }

  async function currentOf(asOf: number): Promise<CurrentContent> {
    noteTime(asOf);
    const confirmed = await changes.confirm();
    if (confirmed === null) rows.mark();
    const lookingUp = endedSessionsSettled();
    if (lookingUp) await lookingUp;
    const areRowsCurrent = content !== null && !rows.isStale();
    const kept = areRowsCurrent && !ended.isStale() ? content : null;
    // If nothing has changed since the running read began, its result is new enough for this call.
    const underWay = rows.needsRead() || ended.needsRead() ? null : reading;
    const next = kept ?? (await (underWay ?? refresh()));
    // Rows that are current contain every transaction that `confirm` included, even those after the last read.
    const confirmedBelow = areRowsCurrent ? (confirmed?.below ?? 0) : 0;
    return { content: next, below: Math.max(next.below, confirmedBelow), asOf };
  }

  function concerns(topic: string): boolean {
    const [kind = '', id = ''] = topic.split(':');
    switch (kind) {
      case 'node':
        return id === scope.projectId || id === scope.ownerId || id === SYSTEM_NODE;
      case 'keys':
      case 'apps':
        return id === scope.projectId;
      case 'user':
      case 'credential':
        return content === null || content.watchedIds.has(id);
      default:
        return false;
    }
  }

  return {
    id: watchId(scope, filter),
    scope,

    async current() {
      if (isStopped && lastCurrent) return lastCurrent;
      return (lastCurrent = await currentOf(Math.max(clock.now().getTime(), lastCurrent?.asOf ?? 0)));
    },

    version: () => lastVersion,
    changedAt: () => changedAt,
    differenceSince: (version) => history.since(version),

    untilChanged(version, timeoutMs) {
      let end = (): void => undefined;
      const changed = new Promise<void>((resolve) => {
        const timer = setTimeout(() => end(), timeoutMs);
        const waiter = { version, resolve: () => end() };
        end = () => {
          clearTimeout(timer);
          waiters.delete(waiter);
          resolve();
        };
        waiters.add(waiter);
      });
      if (isStopped || lastVersion !== version) end();
      else refreshForWaiters();
      return { changed, end: () => end() };
    },

    poll() {
      noteTime(clock.now().getTime());
      if (!changes.isTrusted()) rows.mark();
      refreshForWaiters();
    },

    isWaiting: () => waiters.size > 0,

    onChange(topics) {
      if (topics !== null && !topics.some(concerns)) return;
      rows.mark();
      refreshForWaiters();
    },

    onEndedSession() {
      ended.mark();
      refreshForWaiters();
    },

    get bytes() {
      return MEMORY_PER_BYTE * (content?.bytes ?? 0) + history.bytes;
    },

    forget() {
      content = null;
      lastCurrent = null;
      rows.mark();
      history.clear();
    },

    stop() {
      isStopped = true;
      wake(() => true);
    },
  };
}
