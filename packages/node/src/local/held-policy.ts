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
 * The policy of a client and how old it is (packages §8.3). Its age is the time since the request of the last
 * verified answer was sent, measured by the clock that shows the longer time, monotonic or system: neither a system
 * clock that is set back nor a machine that slept makes old data look new.
 */
export class HeldPolicy {
  readonly #clock: Clock;
  readonly #maxBytes: number;
  #policy: Policy | null = null;
  /** When the request was sent whose answer last confirmed the policy. */
  #freshAt: Moment = { monotonic: -Infinity, system: -Infinity };
  /** When that answer came. */
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

  /** Whether the changes since the snapshot are larger than the snapshot itself: a new one then frees memory. */
  get isFragmented(): boolean {
    return this.#bytes > 2 * this.#snapshotBytes + 65_536;
  }

  /**
   * The time of the service, by which keys and tokens expire. It goes on from `asOf` as the age does, so nothing lives
   * longer because the machine slept. The system clock itself counts only while it is close to this estimate: with a
   * wrong clock nothing must expire hours late or, while the policy is fresh, hours early.
   */
  get serviceNow(): number {
    const estimate = (this.#policy?.asOf ?? 0) + sinceMs(this.#clock, this.#answeredAt);
    return Math.min(Math.max(this.#clock.now(), estimate), estimate + 2000);
  }

  /** Whether a document of this size fits into the memory that the policy may take. */
  fits(bytes: number): boolean {
    return bytes * BYTES_PER_CHARACTER <= this.#maxBytes;
  }

  /** @throws RefusedDocument; the policy is then as before */
  replace(claims: DocumentClaims, bytes: number, sentAt: Moment): void {
    const before = this.#policy;
    const policy = refusing(() => compileSnapshot(claims));
    if (before) assertNotOlder(before, policy);
    // A cache on the way may have kept the first document, and only `asOf` shows its age.
    else if (policy.asOf < this.#clock.now() - OLDEST_MS) throw new RefusedDocument('OLDER_AS_OF');
    this.#policy = policy;
    this.#bytes = bytes;
    this.#snapshotBytes = bytes;
    if (!before || policy.asOf > before.asOf) this.#confirm(sentAt);
  }

  /** @returns whether anything changed. @throws RefusedDocument; the policy is then as before */
  change(claims: ChangesClaims, bytes: number, sentAt: Moment): boolean {
    const before = this.#policy;
    if (!before) throw new RefusedDocument('NOT_NEXT');
    const policy = refusing(() => applyChanges(before, claims));
    assertNotOlder(before, policy);
    const isChanged = policy.version !== before.version;
    // A repeated answer proves nothing new, and must not keep old data alive.
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

/** How far behind the system clock the first document may be; the clocks may differ. */
const OLDEST_MS = 60_000;

/** A compiled policy takes up to twice its JSON, and reading a document takes its text and its claims for a moment. */
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
