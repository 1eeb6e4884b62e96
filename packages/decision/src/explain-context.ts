import type { Attributes } from './conditions-eval.ts';
import type { GrantSource, Grants, HeldPermission, Question } from './evaluate.ts';

/** What an explanation reads besides the decision, and which changes its remedies may propose. */
export interface ExplainContext {
  /** Every path of the subject's roles to the resource and action in question, in the order of the index. */
  readonly held: readonly HeldPermission[];
  /** Roles that an administrator could assign to the subject, least privilege first, with their paths to the pair. */
  readonly roles: readonly { readonly roleId: string; readonly paths: readonly HeldPermission[] }[];
  /** Permissions that an administrator could add to a group of the subject, least privilege first, with the new paths. */
  readonly links: readonly Link[];
  readonly settable: {
    /** Whether the subject's metadata in the scope can be changed. */
    readonly user: boolean;
    /** Ids of the subject's roles and groups whose metadata can be changed. */
    readonly grantSources: ReadonlySet<string>;
  };
}

export interface Link {
  readonly groupId: string;
  readonly permissionId: string;
  readonly paths: readonly HeldPermission[];
}

/** Whether the API would accept a changed attribute: the limits of the inputs. */
export interface Accepts {
  readonly resource: (value: Record<string, unknown>) => boolean;
  readonly metadata: (value: Record<string, unknown>) => boolean;
}

/** What the condition of a path reads. */
export const attributesAt = (
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
