import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { isInstallationPermission } from '../../src/access/installation-roles.ts';
import { declaredPermissions, operations } from '../../src/operations.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { storyTransports } from '../support/cases/breadth.ts';
import type { Person, Via } from '../support/app/client.ts';
import {
  byName,
  every,
  expectedRole,
  idOf,
  permissionsOfNoun,
  roleIndexes,
  roles,
} from './built-in-table.ts';

/** The built-in roles as the API returns them. */
describe('in the running service', () => {
  const declared = new Set(
    declaredPermissions(operations).filter((permission) => !isInstallationPermission(permission)),
  );
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

  it('every declared permission is in the table', () => {
    expect([...declared].filter((item) => !every.includes(item))).toEqual([]);
  });

  describe.each(storyTransports(import.meta))('over %s', (via) => {
    it.each(roleIndexes)('%s', async (name, index) => {
      const level = roles[index]?.[1] ?? '';
      const shown = await rolesShown(via, scopes[level] as ScopeRef);
      expect(shown.find((role) => role.name === name)).toEqual({
        ...expectedRole(index, declared),
        isSystem: true,
      });
    });

    it('each tenant kind lists its own roles only', async () => {
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

    it('resources and permissions are built-in, unconditional and exactly the declared ones', async () => {
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
        const existing = permissionsOfNoun(slug).filter((item) => declared.has(item));
        expect(own.map((action) => `${slug}:${action}`)).toEqual(existing);
      }
      expect(items.map(({ slug }) => slug).sort()).toEqual(
        [...new Set([...declared].map((item) => item.split(':')[0]))].sort(),
      );
    });
  });

  /** The built-in roles of a scope with everything in them. REST resolves one level of relations per call. */
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
        .map((group) => groups.find((item) => item.id === group.id) ?? group)
        .map((group) => {
          expect([
            group.isSystem,
            ...group.permissions.map((permission) => permission.isSystem),
          ]).not.toContain(false);
          const permissions = group.permissions
            .map((permission) => ({ id: permission.id, name: permission.name }))
            .sort(byName);
          return { id: group.id, name: group.name, permissions };
        })
        .sort(byName),
    }));
  }
});
