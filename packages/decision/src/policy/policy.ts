import type { EndedCredentials, SnapshotApp, SnapshotClaims, SnapshotKey } from '../snapshot-claims.ts';
import type { Graph } from './graph.ts';

/**
 * A snapshot that is ready for decisions. It never changes; `applyChanges` makes a new one. It holds the rights of every user
 * of the project, so do not print it or give it to a browser.
 *
 * @example policy.version // what to fetch changes since
 */
export interface Policy extends Pick<
  SnapshotClaims,
  'iss' | 'sub' | 'exp' | 'version' | 'sequence' | 'revision' | 'asOf'
> {
  /** Attributes of the project's scope for conditions. */
  readonly scope: Readonly<Record<string, unknown>>;
  /** Attributes of the organization that owns the project; undefined if no condition reads them. */
  readonly organization: Record<string, unknown> | undefined;
  /** Which users the policy lists. It contains nothing about other users. */
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

/** Credentials that ended while their tokens may still be unexpired. */
export interface Ended extends Pick<EndedCredentials, 'issuedBefore'> {
  readonly jti: ReadonlySet<string>;
  readonly kids: ReadonlySet<string>;
}

/** The roles of a holder: each once, sorted. */
export interface RoleSet {
  readonly ids: readonly string[];
  /** Equal for equal sets. */
  readonly key: string;
}

/** A user, or a key with a role of its own. */
export interface Holder {
  readonly roles: RoleSet;
  /** Attributes for conditions. */
  readonly user: Readonly<Record<string, unknown>>;
}

export interface PolicyKey extends Omit<SnapshotKey, 'attributes' | 'roleId'> {
  /** The key's own rights; null if it has those of its user. */
  readonly holder: Holder | null;
}
