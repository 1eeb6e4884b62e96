import {
  applyChanges,
  compileSnapshot,
  SnapshotError,
  type ChangesClaims,
  type Policy,
} from '@doorward/decision';
import { momentOf, sinceMs, type Moment } from '../calls/moment.ts';
import type { Clock } from '../calls/transport.ts';
import { RefusedDocument, type DocumentClaims } from './document.ts';

/**
 * A client's local policy and its age (packages §8.3). The age counts from sending the request whose response last
 * confirmed the policy, by the monotonic or the system clock, whichever shows more. So neither setting back the system
 * clock nor a sleeping machine makes old data look new.
 */
export class HeldPolicy {
  readonly #clock: Clock;
  readonly #maxBytes: number;
  #policy: Policy | null = null;
  /** When the request that last confirmed the policy was sent. */
  #freshAt: Moment = { monotonic: -Infinity, system: -Infinity };
  /** When the response to that request arrived. */
  #answeredAt: Moment = { monotonic: 0, system: 0 };
  #bytes = 0;
  #snapshotBytes = 0;

  constructor(clock: Clock, maxBytes: number) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
  }

  get policy(): Policy | null {
    return this.#policy;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get ageMs(): number {
    return sinceMs(this.#clock, this.#freshAt);
  }

  /**
   * Whether the changes since the snapshot exceed the size of the snapshot by more than 64 KB, so that a new snapshot
   * would free memory.
   */
  get isFragmented(): boolean {
    return this.#bytes > 2 * this.#snapshotBytes + 65_536;
  }

  /**
   * The service's time, which decides when keys and tokens expire: the system clock, but at least an estimate, and at
   * most two seconds more than it. The estimate is `asOf` plus the time since the response arrived, by the clock that
   * shows more. So nothing lives longer because the machine slept, and a wrong system clock cannot shift an expiry by
   * hours while the policy is fresh.
   */
  get serviceNow(): number {
    const estimate = (this.#policy?.asOf ?? 0) + sinceMs(this.#clock, this.#answeredAt);
    return Math.min(Math.max(this.#clock.now(), estimate), estimate + 2000);
  }

  /** Whether a document of this size fits into the policy's memory limit. */
  fits(bytes: number): boolean {
    return bytes * BYTES_PER_CHARACTER <= this.#maxBytes;
  }

  /**
   * Replaces the policy by a snapshot.
   *
   * @throws RefusedDocument; the policy then stays as it was
   */
  replace(claims: DocumentClaims, bytes: number, sentAt: Moment): void {
    const before = this.#policy;
    const policy = refusing(() => compileSnapshot(claims));
    if (before) assertNotOlder(before, policy);
    // A cache in between may have stored the first document, and only `asOf` shows its age.
    else if (policy.asOf < this.#clock.now() - OLDEST_MS) throw new RefusedDocument('OLDER_AS_OF');
    this.#policy = policy;
    this.#bytes = bytes;
    this.#snapshotBytes = bytes;
    if (!before || policy.asOf > before.asOf) this.#confirm(sentAt);
  }

  /**
   * Applies changes to the policy. Returns whether anything changed.
   *
   * @throws RefusedDocument; the policy then stays as it was
   */
  change(claims: ChangesClaims, bytes: number, sentAt: Moment): boolean {
    const before = this.#policy;
    if (!before) throw new RefusedDocument('NOT_NEXT');
    const policy = refusing(() => applyChanges(before, claims));
    assertNotOlder(before, policy);
    const isChanged = policy.version !== before.version;
    // A repeated response proves nothing new, so it must not keep old data alive.
    const isNew = isChanged || policy.asOf > before.asOf;
    this.#policy = policy;
    if (isChanged) this.#bytes += bytes;
    if (isNew) this.#confirm(sentAt);
    return isChanged;
  }

  #confirm(sentAt: Moment): void {
    this.#freshAt = sentAt;
    this.#answeredAt = momentOf(this.#clock);
  }
}

/** How far `asOf` of the first document, the service's time, may lag behind the system clock. */
const OLDEST_MS = 60_000;

/**
 * A compiled policy takes up to twice the size of its JSON, and reading a document also needs its text and claims for a
 * moment.
 */
const BYTES_PER_CHARACTER = 4;

function refusing<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof SnapshotError ? new RefusedDocument(error.code) : error;
  }
}

function assertNotOlder(held: Policy, next: Policy): void {
  if (next.sequence < held.sequence) throw new RefusedDocument('OLDER_SEQUENCE');
  if (next.asOf < held.asOf) throw new RefusedDocument('OLDER_AS_OF');
}
