import { delay } from '../calls/wait.ts';
import type { HookList } from '../calls/hook-list.ts';
import { ApiError, DoorwardError } from '../contracts/errors.ts';
import type { SnapshotEvent } from '../contracts/hooks.ts';
import { RefusedDocument } from './document.ts';
import type { HeldPolicy } from './held-policy.ts';
import type { PolicyReader } from './policy-reader.ts';

/** The dependencies and settings of a synchronization. */
interface SynchronizationSettings {
  readonly reader: PolicyReader;
  readonly held: HeldPolicy;
  readonly hooks: HookList;
  readonly monotonic: () => number;
  readonly random: () => number;
  /** The revision of this client's last change, which the policy must contain. */
  readonly ownRevision: () => string | null;
  /** The pause between polls if the service does not wait for changes. */
  readonly pauseMs: number;
}

/** The pause after a refusal, because a missing permission or the size of a policy rarely changes. */
const OFF_MS = 60_000;
const LONGEST_WAIT_MS = 5000;
const SHORTEST_ROUND_MS = 100;

/**
 * Keeps a policy up to date until closed: reads a snapshot, then waits for changes (packages §8.3). After a failure or
 * a refused document the policy stays as it is, and becomes stale with time.
 */
export class Synchronization {
  readonly #settings: SynchronizationSettings;
  readonly #closed = new AbortController();
  #poll = new AbortController();
  #coveredRevision: string | null = null;
  #isOff = false;
  #isWaiting = false;
  #needsSnapshot = true;
  #failures = 0;
  #firstResult: ((error: Error | null) => void) | null = null;
  /** Resolves with the first snapshot. Rejects if an earlier read fails and retrying cannot help, or at `close()`. */
  readonly first: Promise<void>;

  constructor(settings: SynchronizationSettings) {
    this.#settings = settings;
    this.first = new Promise((resolve, reject) => {
      this.#firstResult = (error) => (error === null ? resolve() : reject(error));
    });
    this.first.catch(() => undefined);
  }

  /** Whether the service refuses snapshots, or the policy is too large for this process. */
  get isOff(): boolean {
    return this.#isOff;
  }

  /** Whether the policy is known to contain the change with this revision. False for every change of another client. */
  covers(revision: string): boolean {
    return this.#coveredRevision === revision;
  }

  start(): void {
    void this.#run();
  }

  /**
   * Reads changes now, because this client has made one. Interrupts only a waiting poll; other reads end soon anyway.
   */
  refresh(): void {
    if (this.#isWaiting) this.#poll.abort();
  }

  close(): void {
    this.#closed.abort();
    this.#poll.abort();
    this.#settle(new DoorwardError('ABORTED', 'The client was closed.'));
  }

  async #run(): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      const waitMs = await this.#round();
      if (waitMs > 0) await delay(waitMs, signal, true);
    }
  }

  /** Reads once. Returns how many milliseconds to wait before the next read. */
  async #round(): Promise<number> {
    const { held, ownRevision, monotonic } = this.#settings;
    if (this.#poll.signal.aborted && !this.#closed.signal.aborted) this.#poll = new AbortController();
    const startedAt = monotonic();
    const revision = ownRevision();
    const minRevision = revision !== null && revision !== this.#coveredRevision ? revision : undefined;
    try {
      const event = this.#needsSnapshot
        ? await this.#readSnapshot(minRevision)
        : await this.#readChanges(minRevision);
      this.#failures = 0;
      this.#isOff = false;
      this.#coveredRevision = revision;
      const durationMs = monotonic() - startedAt;
      this.#report({ ...event, durationMs, bytes: held.bytes });
      this.#settle(null);
      if (event.kind === 'loaded' || this.#needsSnapshot) return 0;
      // A policy that changes often, or a server that does not wait, must not keep this process busy.
      return Math.max(this.#settings.pauseMs, SHORTEST_ROUND_MS - durationMs);
    } catch (error) {
      return this.#failed(error, monotonic() - startedAt);
    }
  }

  async #readSnapshot(minRevision: string | undefined): Promise<Pick<SnapshotEvent, 'kind' | 'sequence'>> {
    const { reader, held } = this.#settings;
    const options = { signal: this.#poll.signal, minRevision };
    const { claims, bytes, sentAt } = await reader.snapshot(options, (size) => {
      if (!held.fits(size)) throw new RefusedDocument('TOO_LARGE');
    });
    held.replace(claims, bytes, sentAt);
    this.#needsSnapshot = false;
    return { kind: 'loaded', sequence: claims.sequence };
  }

  async #readChanges(minRevision: string | undefined): Promise<Pick<SnapshotEvent, 'kind' | 'sequence'>> {
    const { reader, held } = this.#settings;
    const since = held.policy?.version ?? '';
    const options = { signal: this.#poll.signal, minRevision };
    this.#isWaiting = minRevision === undefined;
    const { claims, bytes, sentAt } = await reader
      .changes(since, this.#isWaiting, options)
      .finally(() => (this.#isWaiting = false));
    if (claims.full) {
      this.#needsSnapshot = true;
      return this.#readSnapshot(minRevision);
    }
    const isChanged = held.change(claims, bytes, sentAt);
    this.#needsSnapshot = held.isFragmented;
    return { kind: isChanged ? 'changed' : 'unchanged', sequence: claims.sequence };
  }

  /** Handles a failed read. Returns how many milliseconds to wait before the next read. */
  #failed(error: unknown, durationMs: number): number {
    // The read was interrupted by a change of this client or by `close()`.
    if (this.#poll.signal.aborted) return 0;
    const { random } = this.#settings;
    this.#failures += 1;
    const isTooLarge = error instanceof RefusedDocument && error.why === 'TOO_LARGE';
    const isRefusal = error instanceof ApiError && !error.retryable;
    const why = whyOf(error);
    // These changes cannot be applied, so the next read is a whole snapshot.
    if (error instanceof RefusedDocument && /^(?:NOT_NEXT|SHAPE)$/.test(error.why))
      this.#needsSnapshot = true;
    if (isTooLarge || isRefusal) {
      this.#isOff = true;
      this.#report({ kind: 'off', durationMs, why });
      this.#settle(
        isTooLarge
          ? new DoorwardError('CONFIG', 'The policy is larger than local.maxMemoryMb allows.')
          : error,
      );
      return OFF_MS;
    }
    this.#report({ kind: error instanceof RefusedDocument ? 'refused' : 'failed', durationMs, why });
    const waitMs = random() * Math.min(LONGEST_WAIT_MS, 200 * 2 ** Math.min(this.#failures, 10));
    return Math.max(
      waitMs,
      SHORTEST_ROUND_MS,
      error instanceof DoorwardError ? Math.min(error.retryAfterMs ?? 0, OFF_MS) : 0,
    );
  }

  #report(event: SnapshotEvent): void {
    this.#settings.hooks.emit('onSnapshot', event);
  }

  #settle(error: Error | null): void {
    this.#firstResult?.(error);
    this.#firstResult = null;
  }
}

const whyOf = (error: unknown): string => {
  if (error instanceof RefusedDocument) return error.why;
  return error instanceof DoorwardError ? error.code : 'ERROR';
};
