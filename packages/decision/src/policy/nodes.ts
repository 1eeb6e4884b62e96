import { indexPermissions, type HeldPermission, type PermissionIndex } from '../evaluate.ts';
import type { SnapshotResource } from '../snapshot-claims.ts';
import { hasEffectInProject } from './organization-nouns.ts';
import type { GroupRow, PermissionRow, RoleRow } from './rows.ts';
import { compareTexts } from './text-order.ts';

export interface PermissionNode {
  readonly row: PermissionRow;
  readonly resource: SnapshotResource;
  readonly held: HeldPermission['permission'];
}

export interface GroupNode {
  readonly row: GroupRow;
  readonly permissions: readonly PermissionNode[];
}

/** A path from a role to a permission. `createdAt` is when the permission was created and sorts the paths. */
export interface Path extends HeldPermission {
  readonly createdAt: number;
}

/** A role with the index of its permissions, which is built at the first question about the role. */
export class RoleNode {
  readonly row: RoleRow;
  readonly groups: readonly GroupNode[];
  readonly #nouns: ReadonlySet<string>;
  #index: PermissionIndex | undefined;

  constructor(row: RoleRow, groups: readonly GroupNode[], nouns: ReadonlySet<string>) {
    this.row = row;
    this.groups = groups;
    this.#nouns = nouns;
  }

  get index(): PermissionIndex {
    return (this.#index ??= indexPermissions(pathsOf([this]), this.#nouns));
  }

  get pathCount(): number {
    return this.groups.reduce((sum, { permissions }) => sum + permissions.length, 0);
  }
}

/** Every path from the roles to a permission that has effect in a project, in the order in which decisions try them. */
export const pathsOf = (roles: readonly RoleNode[]): readonly Path[] =>
  roles
    .flatMap(({ row: role, groups }) =>
      groups.flatMap(({ row: group, permissions }) =>
        permissions
          .filter(({ held }) => hasEffectInProject(held))
          .map(({ row: { condition, createdAt }, held: permission }) => ({
            permission,
            condition,
            createdAt,
            role,
            group,
          })),
      ),
    )
    .sort(inOrder);

/** Orders by the creation time and id of the permission, then by the ids of role and group. */
const inOrder = (a: Path, b: Path): number => a.createdAt - b.createdAt || comparePaths(a, b);

type Ids = { readonly [K in 'permission' | 'role' | 'group']: { readonly id: string } };

/** Orders paths to permissions that were created at the same time. */
export const comparePaths = (a: Ids, b: Ids): number =>
  compareTexts(a.permission.id, b.permission.id) ||
  compareTexts(a.role.id, b.role.id) ||
  compareTexts(a.group.id, b.group.id);
