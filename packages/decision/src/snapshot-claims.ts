/**
 * What a policy snapshot of one project says (docs/spec/packages.md §8.2): everything that decisions about the project read, so
 * that a process of a customer can decide by itself. The service signs these claims, and `compileSnapshot` reads them.
 *
 * Rows are listed once and refer to each other by id. Their order has no meaning: a policy sorts paths as the service does,
 * by the creation of the permission, then by the ids of permission, role and group.
 */
export interface SnapshotClaims extends SnapshotRows {
  /** Issuer of the project. */
  readonly iss: string;
  readonly aud: 'doorward-snapshot';
  /** Id of the project. */
  readonly sub: string;
  /** Seconds. */
  readonly iat: number;
  readonly exp: number;
  readonly format: 1;
  /** Opaque, at most 64 characters; equal for equal rows, whichever process made the snapshot. */
  readonly version: string;
  /** Never falls from one snapshot of the project to a later one. */
  readonly sequence: number;
  /** As `X-Doorward-Revision`: the snapshot contains every change up to it. */
  readonly revision: string;
  /** Milliseconds; the rows are at most a second older. */
  readonly asOf: number;
  /** Attributes of the scope for conditions; members that do not apply are missing. */
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
  /** Slugs of the built-in resources. */
  readonly nouns: readonly string[];
}

/** The rows, which changes replace by their ids; only those that assigned roles and keys lead to. */
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

/** Only active resources. */
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

/** `metadata` only if a condition on a path through the group reads it. */
export interface SnapshotGroup {
  readonly id: string;
  readonly name: string;
  readonly metadata?: Record<string, unknown>;
  readonly permissionIds: readonly string[];
}

/** `metadata` only if a condition on a path through the role reads it. */
export interface SnapshotRole {
  readonly id: string;
  readonly name: string;
  readonly metadata?: Record<string, unknown>;
  readonly groupIds: readonly string[];
}

/** An active user of the project, with every role that they have there: of the project, its organization or its account. */
export interface SnapshotUser {
  readonly id: string;
  readonly roleIds: readonly string[];
  /** The tree of the `user.*` attributes that any condition of the snapshot reads, without `id`. */
  readonly attributes?: Record<string, unknown>;
}

/** A live API key of the project, by the `jti` of its tokens. */
export interface SnapshotKey {
  readonly id: string;
  /** Who made it, or whose rights it has. */
  readonly userId: string;
  /** True for a ProjectUser key, which has the rights of its user. */
  readonly ofUser: boolean;
  /** Null for a ProjectUser key, and for a key whose role is gone. */
  readonly roleId: string | null;
  /** Milliseconds: when it expires, or is refused because its owner has not verified an address; null: never. */
  readonly expiresAt: number | null;
  readonly allowedCidrs: readonly string[];
  /** As in `SnapshotUser`: conditions of a key read its user, who may have left. */
  readonly attributes?: Record<string, unknown>;
}

/** An app of the project. */
export interface SnapshotApp {
  readonly clientId: string;
  /** Null: not restricted. */
  readonly scopes: readonly string[] | null;
  /** Seconds, rounded up. A token that was issued before this time may state scopes that no longer hold: ask the service. */
  readonly updatedAt: number;
}

/** What ended while its tokens may still be unexpired. */
export interface EndedCredentials {
  /** `jti` of tokens: ids of sessions of apps, and of keys. */
  readonly jti: readonly string[];
  /** Seconds. If more have ended than are listed: tokens issued before this time are for the service to judge. */
  readonly issuedBefore: number | null;
  /** Revoked signing keys. */
  readonly kids: readonly string[];
}

/** The sections of a snapshot whose rows changes can replace, with the member that identifies a row. */
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

/** What changed between two versions. Without a change `from` equals `to`, and only `asOf` is new. */
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
  /** True: the service cannot name the changes, or they are many. Fetch a whole snapshot; there is nothing in `put` and `drop`. */
  readonly full: boolean;
  /** As in the snapshot: whole, whether changed or not. */
  readonly organization?: Readonly<Record<string, unknown>>;
  /** New and changed rows, whole. */
  readonly put: { readonly [S in RowSection]?: SnapshotRows[S] };
  /** Ids of rows that are gone. */
  readonly drop: { readonly [S in RowSection]?: readonly string[] };
  /** Whole, whether changed or not. */
  readonly ended: EndedCredentials;
}
