import { describe, expect, it } from 'vitest';
import {
  actions,
  byName,
  every,
  expectedRole,
  groupsOf,
  idOf,
  letters,
  permissionsOfNoun,
  roleIndexes,
  roles,
  rows,
} from '../../test/decisions/built-in-table.ts';
import { ACCOUNT_OWNER, ORGANIZATION_OWNER } from '../schema/rights/built-in-ids.ts';
import { builtIns, type BuiltIns } from './built-in.ts';

it('the table has every noun, a cell for every role, and only declared actions', () => {
  expect(rows.map(([noun]) => noun)).toEqual(Object.keys(actions));
  for (const [noun = '', ...cells] of rows) {
    expect(cells, noun).toHaveLength(roles.length);
    for (const word of cells.flatMap((cell) => cell.split(' ')).filter((item) => !/^[●–]$/.test(item)))
      expect(permissionsOfNoun(noun), word).toContain(`${noun}:${letters[word] ?? word}`);
  }
});

describe('derived from declarations of everything', () => {
  // The order of declarations must not matter: it changes whenever a file is moved.
  const derived = builtIns([...every].reverse());

  it.each(roleIndexes)('%s', (_, index) => {
    const role = derived.roles[index];
    expect(role && { ...role, groupIds: undefined, groups: groupRows(derived, role.groupIds) }).toEqual({
      ...expectedRole(index, new Set(every)),
      groupIds: undefined,
    });
  });

  it('resources, permissions and groups, and no others', () => {
    const groups = roles.flatMap((_, index) => [...groupsOf(index, new Set(every)).keys()]);
    const sorted = (names: Iterable<string>) => [...new Set(names)].sort();
    expect(derived.roles).toHaveLength(roles.length);
    expect(derived.groups.map(({ name }) => name).sort()).toEqual(sorted(groups));
    expect(derived.resources.map(({ slug }) => slug).sort()).toEqual(sorted(Object.keys(actions)));
    expect(derived.permissions.map(({ name }) => name).sort()).toEqual(sorted(every));
    for (const { id, slug, actions: own } of derived.resources) {
      expect(id).toBe(idOf('resource', slug));
      expect(own.map((action) => `${slug}:${action}`)).toEqual(permissionsOfNoun(slug));
    }
    for (const { id, name, resourceId, action } of derived.permissions) {
      expect(id).toBe(idOf('permission', name));
      expect(name).toBe(
        `${derived.resources.find((resource) => resource.id === resourceId)?.slug}:${action}`,
      );
    }
  });
});

function groupRows(derived: BuiltIns, ids: readonly string[]) {
  const nameOf = new Map(derived.permissions.map(({ id, name }) => [id, name]));
  return derived.groups
    .filter(({ id }) => ids.includes(id))
    .map(({ id, name, permissionIds }) => ({
      id,
      name,
      permissions: permissionIds
        .map((permissionId) => ({ id: permissionId, name: nameOf.get(permissionId) ?? '' }))
        .sort(byName),
    }))
    .sort(byName);
}

describe('declarations that do not match the table are refused', () => {
  it('a noun without a line, an action without a place', () => {
    expect(() => builtIns(['Invoice:Query'])).toThrow('Invoice');
    expect(() => builtIns(['Role'])).toThrow('Role names no action');
  });

  it('undeclared permissions are in no group', () => {
    const { groups, roles: derived } = builtIns(['ApiKey:CreateForUser']);
    expect(groups.map(({ name }) => name)).toEqual(['ApiKey: CreateForUser']);
    const existing = new Set(groups.map(({ id }) => id));
    expect(derived.flatMap(({ groupIds }) => groupIds).every((id) => existing.has(id))).toBe(true);
    expect(derived.filter(({ groupIds }) => groupIds.length > 0).map(({ name }) => name)).toEqual([
      'Account Owner',
      'Organization Owner',
      'Organization Admin',
      'Project Admin',
    ]);
  });

  it('the roles of owners have constant ids', () => {
    expect([ACCOUNT_OWNER, ORGANIZATION_OWNER]).toEqual([
      idOf('role', 'Account Owner'),
      idOf('role', 'Organization Owner'),
    ]);
  });

  it('a permission that is declared twice counts once', () => {
    expect(builtIns(['Role:Query', 'Role:Create', 'Role:Query'])).toEqual(
      builtIns(['Role:Create', 'Role:Query']),
    );
  });
});
