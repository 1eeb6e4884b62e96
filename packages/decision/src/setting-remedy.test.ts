import { describe, expect, it } from 'vitest';
import { indexPermissions, type HeldPermission } from './evaluate.ts';
import { searchLimits, settingRemedy, type SettingSearch } from './setting-remedy.ts';
import { unlimited, Work } from './work.ts';

const hold = (condition: unknown, roleId = 'r1', metadata: Record<string, unknown> = {}): HeldPermission => ({
  permission: { id: 'p', name: 'p', resource: 'invoice', action: 'read', managementPlane: false },
  condition,
  role: { id: roleId, name: roleId, metadata },
  group: { id: 'g1', name: 'g1', metadata: {} },
});

/** A search in which the decision after a change is `allows`; with the resources that it was asked about. */
function searching(held: readonly HeldPermission[], more: Partial<SettingSearch> = {}) {
  const resources: unknown[] = [];
  const setting = settingRemedy({
    grants: {
      membership: 'active',
      user: { id: 'u1', metadata: {} },
      scope: { tenant: 'organization' },
      held: indexPermissions([], new Set()),
    },
    question: { resource: 'invoice', action: 'read', attributes: {} },
    context: {
      held,
      roles: [],
      links: [],
      settable: { user: true, grantSources: new Set(['r1', 'r2', 'g1']) },
    },
    accepts: { resource: () => true, metadata: () => true },
    allows: (_, __, { attributes }) => {
      resources.push(attributes);
      return false;
    },
    work: unlimited,
    ...more,
  });
  return { setting, resources };
}
const kinds = (count: number) => Array.from({ length: count }, (_, at) => `k${at}`);
const oneOf = (count: number) => ({
  Or: kinds(count).map((kind) => ({ Equals: { 'resource.kind': kind } })),
});

describe('the search for an attribute', () => {
  it('asks for a decision about a proposal that meets a condition, and stops after so many', () => {
    expect(searching([hold(oneOf(3))]).resources).toEqual(kinds(3).map((kind) => ({ kind })));
    expect(searching([hold(oneOf(searchLimits.copies + 5))]).resources).toHaveLength(searchLimits.copies);
  });

  it('asks for none about a proposal that meets no condition', () => {
    const two = { Equals: { 'resource.a': 1, 'resource.b': 2 } };
    expect(searching([hold(two)]).resources).toEqual([]);
    const ofRole = { Equals: { 'role.metadata.a': 1, 'role.metadata.b': 2 } };
    const asked: unknown[] = [];
    const allows = () => asked.push(1) > 0;
    // What one role lacks, another has: its own condition is met, but not by a change of the first.
    expect(searching([hold(ofRole), hold(ofRole, 'r2', { a: 1 })], { allows }).setting).toMatchObject({
      shared: true,
      remedy: { roleId: 'r2', path: 'role.metadata.b', expected: 2 },
    });
    expect(asked).toHaveLength(1);
  });

  it('tries so many proposals of a path', () => {
    // Seven for each list, none of which suffices, and then the first that does.
    const after = (lists: number) => ({
      Or: [
        { And: kinds(lists).map((name) => ({ In: { [`resource.${name}`]: kinds(5) } })) },
        { Equals: { 'resource.z': 1 } },
      ],
    });
    expect(searching([hold(after(28))]).resources).toEqual([{ z: 1 }]);
    expect(searching([hold(after(29))]).resources).toEqual([]);
  });

  it('changes the metadata of one role or group, for all of its paths', () => {
    const seen: unknown[] = [];
    const allows: SettingSearch['allows'] = (held) => {
      seen.push(held.map(({ role, group }) => [role.metadata, group.metadata]));
      return false;
    };
    const condition = { Equals: { 'role.metadata.a': 1 } };
    searching([hold(condition), hold(condition), hold(condition, 'r2')], { allows });
    expect(seen[0]).toEqual([
      [{ a: 1 }, {}],
      [{ a: 1 }, {}],
      [{}, {}],
    ]);
    expect(searching([hold({ Equals: { 'scope.tenant': 'x' } })]).resources).toEqual([]);
    expect(searching([hold({ Equals: { 'user.metadata': 'x' } })]).resources).toEqual([]);
  });

  it('counts its work, at the request too', () => {
    const spentOn = (condition: object, attributes = {}): number => {
      const work = new Work(Infinity);
      const question = { resource: 'invoice', action: 'read', attributes };
      searching([hold(condition)], { work, question });
      return work.spent;
    };
    const [little, more] = [spentOn(oneOf(1)), spentOn(oneOf(10))];
    expect(little).toBeGreaterThan(0);
    expect(more).toBeGreaterThan(5 * little);
    const ofList = (count: number) =>
      spentOn(
        { And: [{ Contains: { 'resource.list': 'x' } }, { Equals: { 'resource.b': 1 } }] },
        { list: kinds(count) },
      );
    expect(ofList(100) - ofList(10)).toBeGreaterThanOrEqual(90);
  });

  it('ends without a remedy beyond its budget, and lets the decision stand', () => {
    const alternatives = kinds(60).map((name) => ({ In: { [`resource.${name}`]: kinds(5) } }));
    const expensive = { And: [{ Or: alternatives }, { Equals: { 'user.id': 'x' } }] };
    const lists = Array.from({ length: searchLimits.paths }, (_, at) => hold(expensive, `r${at}`));
    const work = new Work(Infinity);
    expect(searching(lists, { work }).setting).toBeUndefined();
    expect(work.spent).toBeGreaterThan(searchLimits.steps);
    const broken = new Work(0);
    expect(() => searching([hold(oneOf(2))], { work: broken })).toThrow(
      'More than 0 steps, most of them for proposals.',
    );
  });
});
