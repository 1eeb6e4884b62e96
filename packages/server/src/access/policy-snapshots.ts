import type { ResolvedScope } from '../kernel/scope.ts';

/** Which users a snapshot lists. Ids are sorted, each once. */
export type UserFilter = 'all' | 'none' | readonly string[];

/**
 * Policy snapshots of projects, and their changes (packages §8): everything that a process of a customer needs to
 * decide by itself. While a poll waits here for a change, it holds no connection and no request slot.
 */
export interface PolicySnapshots {
  /** The version of a snapshot, without the document, whose text and signature are most of its cost. @throws SNAPSHOT_TOO_LARGE */
  version(scope: ResolvedScope, filter: UserFilter): Promise<string>;
  /** @throws SNAPSHOT_TOO_LARGE */
  snapshot(scope: ResolvedScope, filter: UserFilter): Promise<SignedSnapshot>;
  /**
   * What changed since a version. Answers at once if the version is not current, else at the first change, else
   * after the time-out.
   * @throws SNAPSHOT_TOO_LARGE
   */
  changes(scope: ResolvedScope, filter: UserFilter, poll: Poll): Promise<Buffer>;
  /** Answers all polls at once, also those that come later. */
  stop(): void;
}

export interface SignedSnapshot {
  readonly version: string;
  readonly document: Buffer;
}

export interface Poll {
  readonly since: string;
  readonly timeoutMs: number;
  /** Whose waiting polls are counted together. */
  readonly credential: string;
  /** @throws the error with which the poll ends, if its caller has lost the right or the credential */
  readonly assertPermitted: () => Promise<void>;
  /**
   * Called if this poll makes the service read all rows, which costs as much as a snapshot.
   * @throws RATE_LIMITED
   */
  readonly chargeRead: () => unknown;
  /** Calls the listener when the client goes away; returns the function that removes it. As in `RequestSlot`. */
  readonly onGone: (listener: () => void) => () => void;
}
