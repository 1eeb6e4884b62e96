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
   * The role of the membership in the organization of the scope, which may be the owner of the project. For a service user
   * of an account: its role in the account.
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
  /** The role of a project-level key, which is the default role of keys that it creates. */
  readonly keyRoleId: string | null;
  /** In another user's projectUser scope: the rights of the caller in the project. */
  readonly projectGrants?: Grants;
  /** The organization lets this person in only through its own identity provider. */
  readonly mustConnect?: true;
  /** The caller asks about a granted scope of their project, and belongs to none of it. */
  readonly asOwner?: true;
  /** In a suspended organization: the grants without the suspension, for operations that admit suspended members. */
  readonly beforeSuspension?: Grants | null;
}
