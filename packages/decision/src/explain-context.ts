import type { Attributes } from './conditions-eval.ts';
import type { GrantSource, Grants, HeldPermission, Question } from './evaluate.ts';

/** What an explanation reads in addition to the decision, and the changes that its remedies may propose. */
export interface ExplainContext {
  /**
   * Every path from the subject's roles to the resource and action of the question, in the order in which decisions try
   * them.
   */
  readonly held: readonly HeldPermission[];
  /**
   * Roles that an administrator could assign to the subject, least privilege first, with their paths to the resource
   * and action.
   */
  readonly roles: readonly { readonly roleId: string; readonly paths: readonly HeldPermission[] }[];
  /**
   * Permissions that an administrator could add to one of the subject's groups, least privilege first, with the new
   * paths.
   */
  readonly links: readonly Link[];
  readonly settable: {
    /** Whether the subject's metadata in the scope can be changed. */
    readonly user: boolean;
    /** Ids of the subject's roles and groups with editable metadata. */
    readonly grantSources: ReadonlySet<string>;
  };
}

/** A permission that could be added to a group. */
export interface Link {
  readonly groupId: string;
  readonly permissionId: string;
  readonly paths: readonly HeldPermission[];
}

/** Whether the API would accept changed attributes. These functions check the limits of its inputs. */
export interface Accepts {
  readonly resource: (value: Record<string, unknown>) => boolean;
  readonly metadata: (value: Record<string, unknown>) => boolean;
}

/** The attributes that the condition on a path can read. */
export const conditionAttributes = (
  { role, group }: Pick<HeldPermission, 'role' | 'group'>,
  { user, organization, scope }: Pick<Grants, 'user' | 'organization' | 'scope'>,
  { attributes: resource }: Pick<Question, 'attributes'>,
): Attributes => ({
  user,
  role: sourceAttributes(role),
  group: sourceAttributes(group),
  organization,
  scope,
  resource,
});

const sourceAttributes = ({ id, name, metadata }: GrantSource): GrantSource => ({ id, name, metadata });
