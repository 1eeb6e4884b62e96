import { v5 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtIns, type BuiltIns } from '../../src/access/built-in.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { declaredPermissions, operations } from '../../src/operations.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { transports, type Person, type Via } from '../support/client.ts';

/**
 * The built-in roles (authorization §4), written out once more as the contract has them: what the service derives from
 * its declarations, and what it shows of itself, hold exactly this and nothing else.
 */
const actions: Readonly<Record<string, string>> = {
  Organization: 'Query, Create, Update, Delete',
  OrganizationInvitation: 'Query, Create, ResendEmail, Renew, Revoke',
  OrganizationMember: 'Query, Update, Remove',
  Project: 'Query, Create, Update, Delete',
  User: 'Query, Create, Update, Delete',
  Role: 'Query, Create, Update, Delete',
  Group: 'Query, Create, Update, Delete',
  Permission: 'Query, Create, Update, Delete',
  Resource: 'Query, Create, Update, Delete',
  Tag: 'Query, Create, Update, Delete',
  ApiKey: 'Query, Create, Revoke, Delete, Rotate, CreateForUser',
  ProjectApp: 'Query, Create, Update, Delete, RotateSecret',
  SigningKey: 'Query, Rotate',
  WebhookSubscription: 'Query, Create, Update, Delete, RotateSecret, Test',
  WebhookDelivery: 'Query, Replay',
  AuditLog: 'Query',
  Event: 'Query',
  Authorization: 'Check, Explain',
};

const roles = [
  ['Account Owner', 'account'],
  ['Organization Owner', 'organization'],
  ['Organization Admin', 'organization'],
  ['Organization Developer', 'organization'],
  ['Organization Viewer', 'organization'],
  ['Project Admin', 'project'],
  ['Project Viewer', 'project'],
] as const;

/** ● all actions of the noun, – none, else the letters Q C U D or names; a column for each role. */
const table = `
  Organization           | Q C | Q U D | Q U | Q                     | Q | –   | –
  OrganizationInvitation | –   | ●     | ●   | Q                     | Q | –   | –
  OrganizationMember     | –   | ●     | ●   | Q                     | Q | –   | –
  Project                | ●   | ●     | ●   | Q C U                 | Q | Q U | Q
  User                   | ●   | ●     | ●   | Q C U                 | Q | ●   | Q
  Role                   | ●   | ●     | ●   | ●                     | Q | ●   | Q
  Group                  | ●   | ●     | ●   | ●                     | Q | ●   | Q
  Permission             | ●   | ●     | ●   | ●                     | Q | ●   | Q
  Resource               | ●   | ●     | ●   | ●                     | Q | ●   | Q
  Tag                    | ●   | ●     | ●   | ●                     | Q | ●   | Q
  ApiKey                 | ●   | ●     | ●   | Q C Rotate Revoke D   | Q | ●   | Q
  ProjectApp             | ●   | ●     | ●   | ●                     | Q | ●   | Q
  SigningKey             | ●   | ●     | ●   | Q                     | Q | ●   | Q
  WebhookSubscription    | ●   | ●     | ●   | ●                     | Q | ●   | Q
  WebhookDelivery        | ●   | ●     | ●   | ●                     | – | ●   | –
  AuditLog               | ●   | ●     | ●   | –                     | – | ●   | –
  Event                  | ●   | ●     | ●   | ●                     | – | ●   | –
  Authorization          | ●   | ●     | ●   | ●                     | – | ●   | –
`;

const letters: Readonly<Record<string, string>> = { Q: 'Query', C: 'Create', U: 'Update', D: 'Delete' };
const rows = table
  .trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()));

const permissionsOfNoun = (noun: string): string[] =>
  (actions[noun] ?? '').split(', ').map((action) => `${noun}:${action}`);
const every = Object.keys(actions).flatMap(permissionsOfNoun);

/** Groups of a role, by name, with the permissions in them, as far as these are declared. */
function groupsOf(role: number, declared: ReadonlySet<string>): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [noun = '', ...cells] of rows) {
    const cell = cells[role] ?? '';
    const named = cell.split(' ').map((word) => `${noun}:${letters[word] ?? word}`);
    const held = permissionsOfNoun(noun).filter(
      (one) => declared.has(one) && (cell === '●' || named.includes(one)),
    );
    const names = held.map((one) => one.slice(noun.length + 1));
    if (held.length > 0) groups.set(`${noun}: ${names.join(', ')}`, held);
  }
  return groups;
}

const idOf = (kind: string, name: string): string => v5(`doorward:${kind}:${name}`, v5.URL);

/** A built-in role as it should be, with its ids. */
const expectedRole = (index: number, declared: ReadonlySet<string>) => {
  const [name = '', level = ''] = roles[index] ?? [];
  const groups = [...groupsOf(index, declared)].map(([group, permissions]) => ({
    id: idOf('group', group),
    name: group,
    permissions: permissions.map((one) => ({ id: idOf('permission', one), name: one })).sort(byName),
  }));
  return { id: idOf('role', name), name, level, groups: groups.sort(byName) };
};
const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
const roleIndexes = roles.map(([name], index) => [name, index] as const);

it('the table names every noun, a cell for every role, and no action that there is not', () => {
  expect(rows.map(([noun]) => noun)).toEqual(Object.keys(actions));
  for (const [noun = '', ...cells] of rows) {
    expect(cells, noun).toHaveLength(roles.length);
    for (const word of cells.flatMap((cell) => cell.split(' ')).filter((one) => !/^[●–]$/.test(one)))
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

  it('nothing else: resources, permissions and groups', () => {
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
      expect(name).toBe(`${derived.resources.find((one) => one.id === resourceId)?.slug}:${action}`);
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
      permissions: permissionIds.map((one) => ({ id: one, name: nameOf.get(one) ?? '' })).sort(byName),
    }))
    .sort(byName);
}

describe('in the running service', () => {
  const declared = new Set(declaredPermissions(operations));
  let app: TestApp;
  let owner: Person;
  let scopes: Record<string, ScopeRef>;

  beforeAll(async () => {
    app = await startApp();
    owner = await app.person({ type: 'organization' });
    const as = { token: owner.token };
    const { id } = await app.must('createOrganization', { scope: owner.account, name: 'A' }, as);
    const organization: ScopeRef = { tenant: 'organization', id };
    const project = await app.must('createProject', { scope: organization, name: 'A' }, as);
    scopes = { account: owner.account, organization, project: project.scope };
  });
  afterAll(() => app.close());

  it('no permission is declared that the table does not have', () => {
    expect([...declared].filter((one) => !every.includes(one))).toEqual([]);
  });

  describe.each(transports)('over %s', (via) => {
    it.each(roleIndexes)('%s', async (name, index) => {
      const level = roles[index]?.[1] ?? '';
      const shown = await rolesShown(via, scopes[level] as ScopeRef);
      expect(shown.find((role) => role.name === name)).toEqual({
        ...expectedRole(index, declared),
        isSystem: true,
      });
    });

    it('each level shows its own roles', async () => {
      for (const [level, scope] of Object.entries(scopes)) {
        const names = (await rolesShown(via, scope)).map(({ name }) => name).sort();
        expect(names).toEqual(
          roles
            .filter(([, of]) => of === level)
            .map(([name]) => name)
            .sort(),
        );
      }
    });

    it('resources and permissions are built-in, unconditional and no more than declared', async () => {
      const as = { token: owner.token, via };
      const scope = scopes['project'] as ScopeRef;
      const permissions = await app.must('permissions', { scope, limit: 100, isSystem: true }, as);
      expect(permissions.hasNextPage).toBe(false);
      expect(permissions.items.map(({ name }) => name).sort()).toEqual([...declared].sort());
      for (const { id, name, action, resource, condition, isSystem } of permissions.items) {
        expect([id, name, condition, isSystem]).toEqual([
          idOf('permission', name),
          `${resource.slug}:${action}`,
          null,
          true,
        ]);
        expect(resource).toMatchObject({ id: idOf('resource', resource.slug), isSystem: true });
      }
      const { items } = await app.must('resources', { scope, limit: 100, isSystem: true }, as);
      for (const { slug, actions: own, isActive } of items) {
        expect(isActive).toBe(true);
        const known = permissionsOfNoun(slug).filter((one) => declared.has(one));
        expect(own.map((action) => `${slug}:${action}`)).toEqual(known);
      }
      expect(items.map(({ slug }) => slug).sort()).toEqual(
        [...new Set([...declared].map((one) => one.split(':')[0]))].sort(),
      );
    });
  });

  /** The built-in roles of a scope with all that is in them. REST follows relations one step a call. */
  async function rolesShown(via: Via, scope: ScopeRef) {
    type Row = { id: string; name: string };
    type Group = Row & { isSystem: boolean; permissions: (Row & { isSystem: boolean })[] };
    type Role = Row & { level: string; isSystem: boolean; groups: Group[] };
    const as = { token: owner.token, via };
    const list = async <R>(name: string, input: object, select: string): Promise<R[]> => {
      const { ok, data, body } = await app.raw(
        name,
        { scope, limit: 100, isSystem: true, ...input },
        { ...as, select },
      );
      expect(ok, body).toBe(true);
      const page = data as { items: R[]; hasNextPage: boolean };
      expect(page.hasNextPage).toBe(false);
      return page.items;
    };
    const row = 'id name isSystem';
    const select = `{ items { ${row} level groups { ${row} permissions { ${row} } } } hasNextPage }`;
    const shown = await list<Role>('roles', via === 'rest' ? { relations: ['groups'] } : {}, select);
    const groups = via === 'rest' ? await list<Group>('groups', { relations: ['permissions'] }, '') : [];
    return shown.map(({ id, name, level, isSystem, groups: own }) => ({
      id,
      name,
      level,
      isSystem,
      groups: own
        .map((group) => groups.find((one) => one.id === group.id) ?? group)
        .map((group) => {
          expect([group.isSystem, ...group.permissions.map((one) => one.isSystem)]).not.toContain(false);
          const permissions = group.permissions.map((one) => ({ id: one.id, name: one.name })).sort(byName);
          return { id: group.id, name: group.name, permissions };
        })
        .sort(byName),
    }));
  }
});
