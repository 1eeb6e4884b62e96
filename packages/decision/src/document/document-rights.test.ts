import { describe, expect, it } from 'vitest';
import { Work, WorkExceeded } from '../work.ts';
import { runTests } from './decide-test.ts';
import { withDefaults } from './defaults.ts';
import { DocumentRights } from './document-rights.ts';

const document = withDefaults({
  version: 1,
  resources: { order: { actions: ['read', 'write'] }, off: { actions: ['read'], isActive: false } },
  permissions: {
    'order:read': {},
    Own: {
      resource: 'order',
      action: 'read',
      condition: { Equals: { 'role.metadata.of': '{{group.name}}' } },
    },
    'off:read': {},
  },
  groups: {
    Readers: { permissions: ['order:read', 'Role:Query'] },
    Owners: { permissions: ['Own', 'off:read'], metadata: { is: 'group' } },
    Off: { permissions: ['off:read'] },
    None: {},
  },
  roles: {
    Reader: { groups: ['Readers', 'None'] },
    Owner: { groups: ['Owners'], metadata: { of: 'Owners' } },
    Nothing: { groups: ['Off', 'None'] },
    BuiltIn: { groups: ['Project: Query, Update'] },
  },
  tests: [
    {
      name: 'a',
      permission: 'order:read',
      subject: { roles: ['Owner', 'Owner'] },
      expect: { authorized: true },
    },
    { name: 'b', permission: ' ORDER :READ', subject: { roles: ['Reader'] }, expect: { authorized: true } },
    {
      name: 'c',
      permission: 'Project:update',
      subject: { roles: ['BuiltIn'] },
      expect: { authorized: true },
    },
    {
      name: 'd',
      permission: 'project:update',
      subject: { roles: ['BuiltIn'] },
      expect: { authorized: false },
    },
    {
      name: 'e',
      permission: 'off:read',
      subject: { roles: ['Owner', 'Nothing'] },
      expect: { authorized: false },
    },
    { name: 'f', permission: 'order:read', subject: { roles: ['Lost'] }, expect: { authorized: false } },
  ],
});

describe('the rights of a document', () => {
  const rights = new DocumentRights(document);

  it('lead to a pair on each path, in the order of the document', () => {
    const paths = rights.pathsTo(['Owner', 'Reader'], 'order', 'READ');
    expect(paths.map(({ permission, role, group }) => [permission.id, role.id, group.id])).toEqual([
      ['Own', 'Owner', 'Owners'],
      ['order:read', 'Reader', 'Readers'],
    ]);
    expect(paths[0]?.role.metadata).toEqual({ of: 'Owners' });
    expect(paths[0]?.group.metadata).toEqual({ is: 'group' });
    expect(rights.pathsTo(['Owner'], 'order', 'write')).toEqual([]);
  });

  it.each([
    ['Reader', false],
    ['Owner', false],
    ['Nothing', true],
    ['BuiltIn', false],
    ['Lost', true],
  ])('of %s are empty: %s', (role, expected) => {
    expect(rights.isEmpty(role)).toBe(expected);
  });

  it('contain built-in permissions by their names', () => {
    expect(rights.grants('BuiltIn', 'Project', 'Update')).toBe(true);
    expect(rights.grants('BuiltIn', 'Project', 'Delete')).toBe(false);
    expect(rights.grants('BuiltIn', 'project', 'Update')).toBe(false);
    expect(rights.grants('Reader', 'Role', 'Query')).toBe(true);
  });

  it('decide the tests of the document', () => {
    expect([...runTests(document)].filter(({ passed }) => !passed)).toEqual([]);
  });

  it('decide a capitalized slug as the service does', () => {
    const questions = ['Order:read', 'Project:Update', 'Role:Query'].map((permission) => ({
      ...{ name: permission, permission, subject: { roles: ['Reader', 'BuiltIn'] } },
      expect: { authorized: true },
    }));
    const asked = { ...document, tests: questions };
    const nouns = new Set(['Project', 'Role']);
    expect([...runTests(asked, {}, undefined, nouns)].map(({ passed }) => passed)).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('count a role once, however often a test names it', () => {
    const work = new Work(Infinity);
    const spentOn = (roles: string[]) => {
      const before = work.spent;
      expect([...runTests({ ...document, tests: [{ ...test, subject: { roles } }] }, {}, work)]).toHaveLength(
        1,
      );
      return work.spent - before;
    };
    const test = { name: 't', permission: 'order:read', expect: { authorized: true } };
    expect(spentOn(Array.from({ length: 100 }, () => 'Owner'))).toBe(spentOn(['Owner']));
    expect(spentOn(['Owner', 'Reader'])).toBeGreaterThan(spentOn(['Owner']));
    expect(() => [...runTests(document, {}, new Work(20))]).toThrow(WorkExceeded);
  });
});
