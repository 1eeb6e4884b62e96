import type { ResolvedScope } from '../kernel/scope.ts';

/** The users that a snapshot lists. Ids are sorted and unique. */
export type UserFilter = 'all' | 'none' | readonly string[];

/**
 * Policy snapshots of projects, and their changes (packages §8): everything that a customer's process needs to decide
 * by itself. A poll that waits here for a change holds no connection and no request slot.
 */
export interface PolicySnapshots {
  /**
   * Returns the version of a snapshot without building the document, because its text and signature are most of the
   * cost.
   *
   * @throws SNAPSHOT_TOO_LARGE
   */
  version(scope: ResolvedScope, filter: UserFilter): Promise<string>;
  /** @throws SNAPSHOT_TOO_LARGE */
  snapshot(scope: ResolvedScope, filter: UserFilter): Promise<SignedSnapshot>;
  /**
   * Returns the changes since a version. If the version is current, it first waits for a change or the time-out.
   *
   * @throws SNAPSHOT_TOO_LARGE
   */
  changes(scope: ResolvedScope, filter: UserFilter, poll: Poll): Promise<Buffer>;
  /** Ends all polls immediately, including later ones. */
  stop(): void;
}

export interface SignedSnapshot {
  readonly version: string;
  readonly document: Buffer;
}

export interface Poll {
  readonly since: string;
  readonly timeoutMs: number;
  /** The credential that polls; its waiting polls are counted together. */
  readonly credential: string;
  /**
   * Checks whether the caller still has the permission and the credential. @throws the error that ends the poll, if not
   */
  readonly assertPermitted: () => Promise<void>;
  /**
   * Called if this poll makes the service read all rows, which costs as much as a snapshot.
   *
   * @throws RATE_LIMITED
   */
  readonly chargeRead: () => unknown;
  /** Calls the listener when the client disconnects; returns a function that removes it. As in `RequestSlot`. */
  readonly onGone: (listener: () => void) => () => void;
}
