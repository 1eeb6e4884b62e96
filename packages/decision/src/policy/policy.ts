import type { EndedCredentials, SnapshotApp, SnapshotClaims, SnapshotKey } from '../snapshot-claims.ts';
import type { Graph } from './graph.ts';

/**
 * A snapshot that is ready for decisions. It is immutable; `applyChanges` creates a new one. It contains the rights of
 * every user of the project, so do not log it or send it to a browser.
 *
 * @example policy.version // the version to fetch changes since
 */
export interface Policy extends Pick<
  SnapshotClaims,
  'iss' | 'sub' | 'exp' | 'version' | 'sequence' | 'revision' | 'asOf'
> {
  /** Attributes of the project's scope for conditions. */
  readonly scope: Readonly<Record<string, unknown>>;
  /** Attributes of the organization that owns the project; undefined if no condition reads them. */
  readonly organization: Record<string, unknown> | undefined;
  /** The users that `users` can contain: all active users of the project, none, or the active users with these ids. */
  readonly userFilter: 'all' | 'none' | ReadonlySet<string>;
  readonly ended: Ended;
  /** Active users by id. */
  readonly users: ReadonlyMap<string, Holder>;
  /** Live API keys by id. */
  readonly keys: ReadonlyMap<string, PolicyKey>;
  /** Apps by client id. */
  readonly apps: ReadonlyMap<string, SnapshotApp>;
  /**
   * Roles, groups, permissions and resources by id.
   *
   * @internal
   */
  readonly graph: Graph;
}

/** Ended credentials whose tokens may not have expired yet. */
export interface Ended extends Pick<EndedCredentials, 'issuedBefore'> {
  readonly jti: ReadonlySet<string>;
  readonly kids: ReadonlySet<string>;
}

/** The roles of a holder, without duplicates, sorted. */
export interface RoleSet {
  readonly ids: readonly string[];
  /** A text that is equal for equal sets. */
  readonly key: string;
}

/** A user, or a key with a role of its own. */
export interface Holder {
  readonly roles: RoleSet;
  /** Attributes for conditions. */
  readonly user: Readonly<Record<string, unknown>>;
}

export interface PolicyKey extends Omit<SnapshotKey, 'attributes' | 'roleId'> {
  /** The rights of the key itself; null if it has the rights of its user. */
  readonly holder: Holder | null;
}
