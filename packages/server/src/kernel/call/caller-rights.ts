import type { Grants } from '@doorward/decision/evaluate';

/** The relation of a subject to a scope, without permissions. */
export interface SubjectStatus {
  readonly user: {
    readonly id: string;
    readonly name: string;
    readonly email: string | null;
    readonly emailVerified: boolean;
    readonly metadata: Record<string, unknown>;
  } | null;
  readonly alive: boolean;
  /** A service user, which can never own an organization. */
  readonly isService: boolean;
  /**
   * The role of the subject's membership in the scope's organization, which may be the project's owner. For a service
   * user of an account, its role in the account.
   */
  readonly memberRoleId: string | null;
  readonly projectRoleIds: readonly string[];
  readonly ownsAccount: boolean;
  /** Whether the subject is the owner, a member, or a user of the project. */
  readonly related: boolean;
}

/** The rights of the caller in the resolved scope, for rules that compare rights. */
export interface CallerRights {
  readonly grants: Grants;
  readonly subject: SubjectStatus;
  /** If the caller is an API key of a project: the key's role. Keys that it creates get this role by default. */
  readonly keyRoleId: string | null;
  /** In the projectUser scope of another user: the caller's rights in the project. */
  readonly projectGrants?: Grants;
  /** Set if the organization admits this person only through its own identity provider. */
  readonly mustConnect?: true;
  /** Set if the caller, as the project's owner, asks about a granted scope in which they have no role. */
  readonly asOwner?: true;
  /** In a suspended organization, the grants as they were before, for operations that admit suspended members. */
  readonly beforeSuspension?: Grants | null;
}
