/*
 * Reads the rows of a snapshot or of changes (packages §8.2). Unknown members are ignored. This is safe because a
 * service that adds a member on which decisions depend changes the `format`.
 */

import { rowSections } from '../snapshot-claims.ts';
import type {
  RowSection,
  SnapshotApp,
  SnapshotGroup,
  SnapshotKey,
  SnapshotPermission,
  SnapshotResource,
  SnapshotRole,
  SnapshotUser,
} from '../snapshot-claims.ts';
import {
  attributesAt,
  eachAt,
  flagAt,
  isAbsentAt,
  jsonAt,
  nullAt,
  numberAt,
  textAt,
  textsAt,
  type Members,
} from './members.ts';
import { SnapshotError } from './snapshot-error.ts';

/**
 * The limits that the service keeps to in a snapshot. A document beyond them is not from the service, so it is refused.
 */
export const limits = {
  users: 50_000,
  paths: 10_000,
  rows: 50_000,
  ids: 10_000,
  scopes: 1000,
  ended: 10_000,
} as const;

/** All rows of a snapshot, or the new and changed rows, by section. */
export interface Rows {
  readonly resources: readonly SnapshotResource[];
  readonly permissions: readonly PermissionRow[];
  readonly groups: readonly GroupRow[];
  readonly roles: readonly RoleRow[];
  readonly users: readonly SnapshotUser[];
  readonly keys: readonly SnapshotKey[];
  readonly apps: readonly SnapshotApp[];
}

/** The condition stays as it is, whatever its type: a condition that does not parse is never met. */
export type PermissionRow = Omit<SnapshotPermission, 'condition'> & { readonly condition: unknown };
export type GroupRow = Required<SnapshotGroup>;
export type RoleRow = Required<SnapshotRole>;

/** Reads all sections of a document. With `isPartial`, as for changes, a missing section counts as empty. */
export function rowsIn(document: Members, isPartial: boolean): Rows {
  const section = <T>(name: RowSection, read: (row: Members) => T): readonly T[] =>
    isPartial && isAbsentAt(document, name)
      ? []
      : eachAt(document, name, limits.rows, withUniqueId(name, read));
  return {
    resources: section('resources', resourceOf),
    permissions: section('permissions', createPermissionReader()),
    groups: section('groups', (row) => ({ ...sourceOf(row), permissionIds: idsAt(row, 'permissionIds') })),
    roles: section('roles', (row) => ({ ...sourceOf(row), groupIds: idsAt(row, 'groupIds') })),
    users: section('users', userOf),
    keys: section('keys', keyOf),
    apps: section('apps', appOf),
  };
}

/** Wraps `read` so that it refuses an id that an earlier row of the section has. */
function withUniqueId<T>(section: RowSection, read: (row: Members) => T): (row: Members) => T {
  const ids = new Set<string>();
  const name = rowSections[section];
  return (row) => {
    const id = textAt(row, name);
    if (ids.size === ids.add(id).size) throw new SnapshotError('SHAPE', name, 'is the id of an earlier row');
    return read(row);
  };
}

function resourceOf(row: Members): SnapshotResource {
  const resource = { id: textAt(row, 'id'), slug: textAt(row, 'slug'), isSystem: flagAt(row, 'isSystem') };
  // Questions are converted to lower case, so no question could match this resource.
  if (!resource.isSystem && resource.slug !== resource.slug.trim().toLowerCase())
    throw new SnapshotError('SHAPE', 'slug', 'is not in lower case');
  return resource;
}

/** Equal conditions become one object, which is compiled once: a project has few different conditions. */
function createPermissionReader(): (row: Members) => PermissionRow {
  const conditions = new Map<string, unknown>();
  return (row) => {
    if (isAbsentAt(row, 'condition')) throw new SnapshotError('SHAPE', 'condition', 'is missing');
    const copy = jsonAt(row, 'condition');
    const text = JSON.stringify(copy);
    const condition = conditions.get(text) ?? copy;
    conditions.set(text, condition);
    return {
      id: textAt(row, 'id'),
      name: textAt(row, 'name'),
      resourceId: textAt(row, 'resourceId'),
      action: textAt(row, 'action'),
      condition,
      createdAt: numberAt(row, 'createdAt'),
    };
  };
}

const none: Record<string, unknown> = Object.freeze({});

const sourceOf = (row: Members) => ({
  id: textAt(row, 'id'),
  name: textAt(row, 'name'),
  metadata: isAbsentAt(row, 'metadata') ? none : attributesAt(row, 'metadata'),
});

const userOf = (row: Members): SnapshotUser => ({
  id: textAt(row, 'id'),
  roleIds: idsAt(row, 'roleIds'),
  ...attributesOf(row),
});

const attributesOf = (row: Members) =>
  isAbsentAt(row, 'attributes') ? {} : { attributes: attributesAt(row, 'attributes') };

function keyOf(row: Members): SnapshotKey {
  const key = {
    id: textAt(row, 'id'),
    userId: textAt(row, 'userId'),
    ofUser: flagAt(row, 'ofUser'),
    roleId: nullAt(row, 'roleId') ? null : textAt(row, 'roleId'),
    expiresAt: nullAt(row, 'expiresAt') ? null : numberAt(row, 'expiresAt'),
    allowedCidrs: textsAt(row, 'allowedCidrs', limits.scopes),
    ...attributesOf(row),
  };
  if (key.ofUser && key.roleId !== null)
    throw new SnapshotError('SHAPE', 'roleId', 'is set, but the key has the rights of its user');
  return key;
}

const appOf = (row: Members): SnapshotApp => ({
  clientId: textAt(row, 'clientId'),
  scopes: nullAt(row, 'scopes') ? null : textsAt(row, 'scopes', limits.scopes),
  updatedAt: numberAt(row, 'updatedAt'),
});

/** The ids without duplicates. */
function idsAt(row: Members, name: string): readonly string[] {
  const ids = textsAt(row, name, limits.ids);
  return ids.length < 2 || new Set(ids).size === ids.length ? ids : Object.freeze([...new Set(ids)]);
}

/** The ids of the dropped rows, by section. */
export type DroppedIds = Readonly<Record<RowSection, readonly string[]>>;

export function droppedIn(document: Members): DroppedIds {
  const idsOf = (name: RowSection) =>
    isAbsentAt(document, name) ? [] : textsAt(document, name, limits.rows);
  return {
    resources: idsOf('resources'),
    permissions: idsOf('permissions'),
    groups: idsOf('groups'),
    roles: idsOf('roles'),
    users: idsOf('users'),
    keys: idsOf('keys'),
    apps: idsOf('apps'),
  };
}
