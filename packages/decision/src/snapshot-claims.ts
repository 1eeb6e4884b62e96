/**
 * The content of a policy snapshot of one project (docs/spec/packages.md §8.2): everything that decisions about the
 * project read, so that a customer's process can decide by itself. The service signs these claims, and
 * `compileSnapshot` reads them.
 *
 * Rows are listed once and refer to each other by id. The order of rows has no meaning: a policy sorts paths as the
 * service does, by the creation time of the permission, then by the ids of permission, role and group.
 */
export interface SnapshotClaims extends SnapshotRows {
  /** Issuer of the project. */
  readonly iss: string;
  readonly aud: 'doorward-snapshot';
  /** Id of the project. */
  readonly sub: string;
  /** Seconds since 1970, like `exp`. */
  readonly iat: number;
  readonly exp: number;
  readonly format: 1;
  /** Opaque, at most 64 characters. Snapshots with equal content have equal versions, whichever process made them. */
  readonly version: string;
  /** Never decreases between successive snapshots of the project. */
  readonly sequence: number;
  /** The value of `X-Doorward-Revision`: the snapshot contains every change up to this revision. */
  readonly revision: string;
  /** Milliseconds since 1970. The rows are at most a second older than this time. */
  readonly asOf: number;
  /** Attributes of the scope for conditions. Members that do not apply are missing. */
  readonly scope: {
    readonly tenant: string;
    readonly id: string;
    readonly accountId?: string;
    readonly organizationId?: string;
    readonly projectId: string;
  };
  /** Attributes of the organization that owns the project; missing if no condition reads them. */
  readonly organization?: Readonly<Record<string, unknown>>;
  /** Which users `users` lists: all active users of the project, none, or the active users with these ids. */
  readonly userFilter: 'all' | 'none' | readonly string[];
  /** Names of the built-in resources, such as `User`. */
  readonly nouns: readonly string[];
}

/**
 * The rows of a snapshot, by section. Of roles, groups, permissions and resources, it contains only the rows that a
 * user or key refers to, directly or indirectly.
 */
export interface SnapshotRows {
  readonly resources: readonly SnapshotResource[];
  readonly permissions: readonly SnapshotPermission[];
  readonly groups: readonly SnapshotGroup[];
  readonly roles: readonly SnapshotRole[];
  readonly users: readonly SnapshotUser[];
  readonly keys: readonly SnapshotKey[];
  readonly apps: readonly SnapshotApp[];
  readonly ended: EndedCredentials;
}

/** The resource that one or more of the listed permissions are for. Inactive resources are left out. */
export interface SnapshotResource {
  readonly id: string;
  readonly slug: string;
  readonly isSystem: boolean;
}

export interface SnapshotPermission {
  readonly id: string;
  readonly name: string;
  readonly resourceId: string;
  readonly action: string;
  readonly condition: Record<string, unknown> | null;
  /** Microseconds since 1970; permissions are tried in this order. */
  readonly createdAt: number;
}

/** `metadata` is present only if a condition on a path through the group reads it. */
export interface SnapshotGroup {
  readonly id: string;
  readonly name: string;
  readonly metadata?: Record<string, unknown>;
  readonly permissionIds: readonly string[];
}

/** `metadata` is present only if a condition on a path through the role reads it. */
export interface SnapshotRole {
  readonly id: string;
  readonly name: string;
  readonly metadata?: Record<string, unknown>;
  readonly groupIds: readonly string[];
}

/**
 * An active user of the project, with all their roles that count there: roles of the project, its organization and its
 * account.
 */
export interface SnapshotUser {
  readonly id: string;
  readonly roleIds: readonly string[];
  /** The attributes under `user` that any condition of the snapshot reads, as nested objects, without `id`. */
  readonly attributes?: Record<string, unknown>;
}

/** A live API key of the project. Its `id` is the `jti` of its tokens. */
export interface SnapshotKey {
  readonly id: string;
  /** The user who created the key, or for a ProjectUser key the user whose rights it has. */
  readonly userId: string;
  /** True for a ProjectUser key, which has the rights of its user. */
  readonly ofUser: boolean;
  /** Null for a ProjectUser key, and for a key whose role was deleted. */
  readonly roleId: string | null;
  /**
   * When the key expires, or when it will be refused because its owner has not verified an address, in milliseconds
   * since 1970. Null if neither will happen.
   */
  readonly expiresAt: number | null;
  readonly allowedCidrs: readonly string[];
  /** Attributes of the key's user, as in `SnapshotUser`. They are here because the user may have left the project. */
  readonly attributes?: Record<string, unknown>;
}

/** An app of the project. */
export interface SnapshotApp {
  readonly clientId: string;
  /** The permissions that the app may use; null if it is not restricted. */
  readonly scopes: readonly string[] | null;
  /**
   * Seconds since 1970, rounded up. Ask the service about tokens issued before this time, because the app may have lost
   * some of their scopes since.
   */
  readonly updatedAt: number;
}

/** Ended credentials whose tokens may not have expired yet. */
export interface EndedCredentials {
  /** `jti` of tokens, which are ids of app sessions and of API keys. */
  readonly jti: readonly string[];
  /**
   * Seconds since 1970; set if more credentials have ended than are listed. Ask the service about tokens issued before
   * this time.
   */
  readonly issuedBefore: number | null;
  /** Key ids of revoked signing keys. */
  readonly kids: readonly string[];
}

/** The sections that both snapshots and changes contain, each with the member that identifies a row. */
export const rowSections = {
  resources: 'id',
  permissions: 'id',
  groups: 'id',
  roles: 'id',
  users: 'id',
  keys: 'id',
  apps: 'clientId',
} as const;
export type RowSection = keyof typeof rowSections;

/** The changes between two versions. If nothing changed, `from` equals `to`, and `put` and `drop` are empty. */
export interface ChangesClaims {
  readonly iss: string;
  readonly aud: 'doorward-snapshot';
  readonly sub: string;
  readonly iat: number;
  readonly exp: number;
  readonly format: 1;
  readonly from: string;
  readonly to: string;
  readonly sequence: number;
  readonly revision: string;
  readonly asOf: number;
  /**
   * True if the service cannot list the changes, or if there are too many. In that case `put` and `drop` are empty:
   * fetch a whole snapshot.
   */
  readonly full: boolean;
  /** The organization's attributes in full, as in the snapshot, whether or not they changed. */
  readonly organization?: Readonly<Record<string, unknown>>;
  /** New and changed rows in full. */
  readonly put: { readonly [S in RowSection]?: SnapshotRows[S] };
  /** Ids of deleted rows. */
  readonly drop: { readonly [S in RowSection]?: readonly string[] };
  /** The ended credentials in full, whether or not they changed. */
  readonly ended: EndedCredentials;
}
