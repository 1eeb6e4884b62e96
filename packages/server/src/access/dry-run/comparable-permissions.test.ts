import fc from 'fast-check';
import { expect, it } from 'vitest';
import { indexPermissions, type Grants, type HeldPermission } from '@doorward/decision/evaluate';
import { effectivePermissions } from '../grants/effective.ts';
import { comparablePermissions } from './comparable-permissions.ts';
import { difference } from './impact.ts';

const nouns = new Set(['Project']);
const conditions = [
  null,
  'broken',
  { Equals: { 'resource.ownerId': '{{user.id}}' } },
  { Equals: { 'resource.ownerId': { $ref: 'user.id' } } },
  { Equals: { 'role.metadata.region': '{{user.metadata.region}}' } },
  { Equals: { 'group.metadata.region': 'eu' } },
  { Contains: { 'user.metadata.list': 'a' }, Equals: { 'scope.id': 'p1' } },
  { Equals: { 'organization.metadata.region': '{{group.metadata.region}}' } },
];
const metadata = fc.constantFrom<Record<string, unknown>>({}, { region: 'eu' }, { region: ['eu'] });
const source = (prefix: string) =>
  fc.tuple(fc.constantFrom('1', '2'), metadata).map(([id, attributes]) => ({
    id: prefix + id,
    name: prefix,
    metadata: attributes,
  }));
const path = fc
  .record({
    action: fc.constantFrom('read', 'write'),
    condition: fc.constantFrom(...conditions),
    role: source('r'),
    group: source('g'),
  })
  .map(({ action, condition, ...sources }): HeldPermission => {
    const id = `${action} ${JSON.stringify(condition)}`;
    return {
      ...sources,
      condition,
      permission: { id, name: id, resource: 'order', action, managementPlane: false },
    };
  });
const subject = fc.record({
  user: fc.constantFrom<Record<string, unknown>>(
    { id: 'u1', metadata: { region: 'eu' } },
    { id: 'u1', metadata: { list: ['a'] } },
    { id: 'u1', metadata: { list: ['b'] } },
    { id: 'u2', metadata: {} },
  ),
  organization: fc.constantFrom<Record<string, unknown> | undefined>(undefined, {
    metadata: { region: 'eu' },
  }),
  scope: fc.constantFrom<Record<string, unknown>>({ id: 'p1' }, { id: 'p2' }),
});
const state = fc.tuple(fc.array(path, { maxLength: 6 }), subject);
const grantsOf = ([held, attributes]: readonly [HeldPermission[], Omit<Grants, 'held' | 'membership'>]) =>
  ({ membership: 'active', ...attributes, held: indexPermissions(held, nouns) }) satisfies Grants;

it('differs exactly as the lists of effective permissions do', () => {
  fc.assert(
    fc.property(state, state, fc.boolean(), ([paths, who], [otherPaths, other], isSame) => {
      const before = grantsOf([paths, who]);
      const after = isSame ? { ...before, ...other } : grantsOf([otherPaths, other]);
      const expected = difference(effectivePermissions(before), effectivePermissions(after));
      expect(difference(comparablePermissions()(before), comparablePermissions()(after))).toEqual(expected);
      const shared = comparablePermissions();
      expect(difference(shared(before), shared(after))).toEqual(expected);
    }),
    { numRuns: 2000 },
  );
});

it('reads the roles and groups once for all subjects with the same roles', () => {
  let reads = 0;
  const group = {
    id: 'g',
    name: 'G',
    get metadata() {
      reads++;
      return { region: 'eu' };
    },
  };
  const held = [...Array(100).keys()].map((at): HeldPermission => ({
    permission: { id: `${at}`, name: 'P', resource: 'order', action: 'read', managementPlane: false },
    condition: { Equals: { 'group.metadata.region': `{{user.metadata.region${at}}}` } },
    role: { id: 'r', name: 'R', metadata: {} },
    group,
  }));
  const shared = grantsOf([held, { user: { id: 'u1' }, scope: {} }]);
  const list = comparablePermissions();
  list(shared);
  const readsOfFirst = reads;
  const second = list({ ...shared, user: { id: 'u2', metadata: { region1: 'eu' } } });
  expect(reads).toBe(readsOfFirst);
  expect(second[0]?.terms).not.toBe(list(shared)[0]?.terms);
});
