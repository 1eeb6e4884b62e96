import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DoorwardError } from '../../errors.ts';
import { evaluate, indexPermissions } from '@doorward/decision/evaluate';
import { assertNoEscalation, missingPermissions } from './escalation.ts';
import type { Holder, WantedPermission } from './escalation.ts';

const nouns = new Set(['Role', 'Permission', 'Project']);
const grantSource = { id: 'x', name: 'x', metadata: {} };
const isOwner = { Equals: { 'resource.ownerId': '{{scope.id}}', 'resource.open': true } };
const isOwnerToo = { Equals: { 'resource.open': true, 'resource.ownerId': { $ref: 'scope.id' } } };

function want(name: string, condition: unknown = null): WantedPermission {
  const [resource = '', action = ''] = name.split(':');
  return { resource, action, condition, managementPlane: /^[A-Z]/.test(resource) };
}

function holder(held: readonly WantedPermission[], more: Partial<Holder> = {}): Holder {
  const rows = held.map(({ condition, ...permission }) => ({
    permission: { id: 'x', name: 'x', ...permission },
    condition,
    role: grantSource,
    group: grantSource,
  }));
  return { membership: 'active', user: null, scope: {}, held: indexPermissions(rows, nouns), ...more };
}

const missing = (given: Holder, ...wanted: WantedPermission[]) => missingPermissions(given, wanted);

describe('a permission is held', () => {
  it('unconditionally: with any condition, or none', () => {
    const given = holder([want('invoice:read', isOwner), want('invoice:read', {})]);
    expect(
      missing(given, want('invoice:read'), want('invoice:read', {}), want('invoice:read', isOwner)),
    ).toEqual([]);
  });

  it('with a canonically equal condition only', () => {
    const given = holder([
      want('invoice:read', isOwner),
      want('invoice:read', { Equals: { 'resource.id': 'a' } }),
    ]);
    expect(missing(given, want('invoice:read', isOwnerToo))).toEqual([]);
    expect(missing(given, want('invoice:read', { Equals: { 'resource.id': 'b' } }))).toEqual([
      'invoice:read',
    ]);
    for (const none of [null, {}]) {
      expect(missing(given, want('invoice:read', none))).toEqual(['invoice:read']);
    }
  });

  it('only unconditionally, if the condition reads the role or group that grants it', () => {
    for (const path of ['role.metadata.region', 'group.name']) {
      const condition = { Equals: { 'resource.region': { $ref: path } } };
      const wanted = want('invoice:read', condition);
      expect(missing(holder([wanted]), wanted)).toEqual(['invoice:read']);
      expect(missing(holder([wanted, want('invoice:read')]), wanted)).toEqual([]);
    }
  });

  describe('where the condition reads the user', () => {
    const ifCleared = want('invoice:read', { Equals: { 'user.metadata.cleared': true } });
    const of = (metadata: object, ...more: WantedPermission[]) =>
      holder([ifCleared, ...more], { user: { id: 'ada', metadata } });
    const lacked = (given: Holder, grantee?: string) => missingPermissions(given, [ifCleared], grantee);

    it('by a holder who meets it and is the only grantee', () => {
      expect(lacked(of({ cleared: true }), 'ada')).toEqual([]);
    });

    it('not if it is not met, or for another grantee, or for several', () => {
      for (const metadata of [{}, { cleared: false }]) {
        expect(lacked(of(metadata), 'ada')).toEqual(['invoice:read']);
      }
      expect(lacked(of({ cleared: true }), 'bob')).toEqual(['invoice:read']);
      expect(lacked(of({ cleared: true }))).toEqual(['invoice:read']);
      expect(lacked(holder([ifCleared]))).toEqual(['invoice:read']);
    });

    it('by a holder who holds it unconditionally', () => {
      expect(lacked(of({}, want('invoice:read')))).toEqual([]);
      expect(lacked(of({}, want('invoice:read')), 'bob')).toEqual([]);
    });

    it('not if it also reads the resource or the role', () => {
      const own = want('invoice:read', { Equals: { 'resource.ownerId': '{{user.id}}' } });
      const both = want('invoice:read', { Equals: { 'user.id': 'ada', 'role.name': 'x' } });
      for (const wanted of [own, both]) {
        const given = holder([wanted], { user: { id: 'ada' } });
        expect(missingPermissions(given, [wanted], 'ada')).toEqual(['invoice:read']);
      }
    });

    it('if it also reads the scope, which is the same for both', () => {
      const here = want('invoice:read', { Equals: { 'user.metadata.home': '{{scope.id}}' } });
      const given = holder([here], { user: { id: 'ada', metadata: { home: 's1' } }, scope: { id: 's1' } });
      expect(missingPermissions(given, [here], 'ada')).toEqual([]);
    });
  });

  it('on its own plane', () => {
    expect(missing(holder([want('project:query')]), want('Project:Query'))).toEqual(['Project:Query']);
    expect(missing(holder([want('Project:Query')]), want('project:query'))).toEqual(['project:query']);
  });

  it('under a condition that does not parse, if it is equal', () => {
    const given = holder([want('invoice:read', { Bad: 1 })]);
    expect(missing(given, want('invoice:read', { Bad: 1 }))).toEqual([]);
    expect(missing(given, want('invoice:read', { Bad: 2 }))).toEqual(['invoice:read']);
    expect(missing(given, want('invoice:read'))).toEqual(['invoice:read']);
  });
});

describe('Permission:Create', () => {
  it('counts for every project-plane permission, with any condition', () => {
    const given = holder([want('Permission:Create')]);
    expect(missing(given, want('invoice:read'), want('project:query', isOwner))).toEqual([]);
    expect(missing(given, want('Role:Create'))).toEqual(['Role:Create']);
  });

  it('does not count when conditional, or on the project plane', () => {
    expect(missing(holder([want('Permission:Create', isOwner)]), want('a:b'))).toEqual(['a:b']);
    expect(missing(holder([want('permission:create')]), want('a:b'))).toEqual(['a:b']);
  });
});

describe('a holder', () => {
  const held = [want('invoice:read'), want('Role:Update'), want('Permission:Create')];

  it('that is not active holds nothing', () => {
    for (const membership of ['inactive', 'outside'] as const) {
      expect(missing(holder(held, { membership }), ...held)).toHaveLength(3);
    }
  });

  it('that is an app token holds no more than its scopes allow', () => {
    const restricted = holder(held, { consented: new Set(['Role:Update']) });
    expect(missing(restricted, ...held)).toEqual(['invoice:read', 'Permission:Create']);
    const unrestricted = holder(held, { projectPlaneOnly: true });
    expect(missing(unrestricted, ...held)).toEqual(['Role:Update', 'Permission:Create']);
  });
});

describe('what is missing', () => {
  it('is listed once each, in the order of `wanted`', () => {
    const wanted = [want('b:x'), want('a:x'), want('b:x', isOwner), want('c:x')];
    expect(missing(holder([want('a:x')]), ...wanted)).toEqual(['b:x', 'c:x']);
    expect(missing(holder([]))).toEqual([]);
  });

  it('is refused with twenty details at most', () => {
    const wanted = Array.from({ length: 30 }, (_, at) => want(`r${at}:x`));
    let caught: unknown;
    try {
      assertNoEscalation(holder([]), wanted);
    } catch (error) {
      caught = error;
    }
    if (!(caught instanceof DoorwardError)) throw new Error('not refused');
    expect(caught.code).toBe('PRIVILEGE_ESCALATION');
    expect(caught.extras.details).toHaveLength(20);
    expect(caught.extras.details?.[0]).toEqual({ path: 'r0:x', code: 'permission' });
    expect(() => assertNoEscalation(holder(wanted), wanted)).not.toThrow();
  });
});

describe('properties', () => {
  const names = ['invoice:read', 'invoice:pay', 'project:query', 'Project:Query', 'Role:Create'];
  const isOpen = { Equals: { 'resource.open': true } };
  // Each condition with an id for its meaning, so that the test compares conditions without canonicalCondition.
  const conditions = [null, {}, isOwner, isOwnerToo, isOpen] as const;
  const kindOf = (condition: unknown) =>
    condition === isOwnerToo
      ? isOwner
      : condition === null || Object.keys(condition as object).length === 0
        ? null
        : condition;

  const permission = fc
    .tuple(fc.constantFrom(...names, 'Permission:Create'), fc.constantFrom(...conditions))
    .map(([name, condition]) => want(name, condition));
  const permissions = fc.array(permission, { maxLength: 5 });
  /** Roles with groups and permissions, and the roles of the holder; the paths add up. */
  const graph = fc
    .tuple(
      fc.array(permissions, { minLength: 1, maxLength: 4 }),
      fc.array(fc.array(fc.nat(3), { maxLength: 3 }), { maxLength: 3 }),
    )
    .map(([groups, roles]) =>
      roles.flatMap((role) => role.flatMap((at) => groups[at % groups.length] ?? [])),
    );

  const always = (wantedPermission: WantedPermission) => kindOf(wantedPermission.condition) === null;
  const sameTarget = (a: WantedPermission, b: WantedPermission) =>
    a.resource === b.resource && a.action === b.action;
  const defines = (held: readonly WantedPermission[]) =>
    held.some((wantedPermission) => wantedPermission.resource === 'Permission' && always(wantedPermission));
  /** The rule of the contract, implemented without an index. */
  const contains = (held: readonly WantedPermission[], wantedPermission: WantedPermission): boolean =>
    (!wantedPermission.managementPlane && defines(held)) ||
    held.some(
      (own) =>
        sameTarget(own, wantedPermission) &&
        (always(own) || kindOf(own.condition) === kindOf(wantedPermission.condition)),
    );

  it('the holder lacks exactly the permissions that the grants do not contain', () => {
    fc.assert(
      fc.property(graph, permissions, (held, wanted) => {
        const lacking = wanted.filter((wantedPermission) => !contains(held, wantedPermission));
        const expected = new Set(lacking.map(({ resource, action }) => `${resource}:${action}`));
        expect(missing(holder(held), ...wanted)).toEqual([...expected]);
      }),
      { numRuns: 3000 },
    );
  });

  it('a grantee can do nothing with a granted permission that the granter cannot', () => {
    const attributes = fc.record({ ownerId: fc.constantFrom('u1', 'u2'), open: fc.boolean() });
    fc.assert(
      fc.property(graph, permissions, attributes, (held, wanted, resource) => {
        if (missing(holder(held), ...wanted).length > 0) return;
        const able = (some: readonly WantedPermission[], { resource: slug, action }: WantedPermission) =>
          evaluate(
            { membership: 'active', user: null, scope: { id: 'u1' }, held: holder(some).held },
            { resource: slug, action, attributes: resource },
          ).authorized;
        for (const wantedPermission of wanted) {
          if (!able(wanted, wantedPermission)) continue;
          expect(able(held, wantedPermission) || (!wantedPermission.managementPlane && defines(held))).toBe(
            true,
          );
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('a grantee of a permission with a condition on the user can do nothing that the granter cannot', () => {
    const onUser = { Equals: { 'user.metadata.level': 2 } };
    const below = { NumericLessThan: { 'user.metadata.level': { $ref: 'resource.level' } } };
    const user = fc.record({
      id: fc.constantFrom('ada', 'bob'),
      level: fc.constantFrom(1, 2),
    });
    const some = fc.array(
      fc.constantFrom(null, onUser, below, { Not: onUser }).map((condition) => want('a:b', condition)),
      { maxLength: 3 },
    );
    let given = 0;
    fc.assert(
      fc.property(some, some, user, user, fc.nat(3), (held, wanted, giver, other, level) => {
        const grantee = other.id === giver.id ? giver : other;
        const userOf = (item: typeof giver) => ({ id: item.id, metadata: { level: item.level } });
        const able = (rights: readonly WantedPermission[], item: typeof giver) =>
          evaluate(
            { membership: 'active', user: userOf(item), scope: {}, held: holder(rights).held },
            { resource: 'a', action: 'b', attributes: { level } },
          ).authorized;
        const lacking = missingPermissions(holder(held, { user: userOf(giver) }), wanted, grantee.id);
        if (lacking.length > 0 || !able(wanted, grantee)) return;
        given++;
        expect(able(held, giver)).toBe(true);
      }),
      { numRuns: 3000 },
    );
    expect(given, 'rights that were never given prove nothing').toBeGreaterThan(100);
  });

  it('what a grantee may grant, the granter could have granted', () => {
    fc.assert(
      fc.property(graph, permissions, permissions, (held, given, onward) => {
        if (missing(holder(held), ...given).length > 0 || missing(holder(given), ...onward).length > 0)
          return;
        expect(missing(holder(held), ...onward)).toEqual([]);
      }),
      { numRuns: 5000 },
    );
  });

  it('users who grant permissions to each other together hold no more than before', () => {
    const members = fc.array(graph, { minLength: 2, maxLength: 4 });
    const gift = fc.record({ from: fc.nat(3), to: fc.nat(3), what: permissions });
    let gifts = 0;
    fc.assert(
      fc.property(members, fc.array(gift, { maxLength: 12 }), (first, steps) => {
        const before = first.flat();
        const now = first.map((held) => [...held]);
        for (const { from, to, what } of steps) {
          const giver = now[from % now.length] ?? [];
          if (missing(holder(giver), ...what).length > 0) continue;
          now[to % now.length]?.push(...what);
          gifts += what.length;
        }
        expect(now.flat().filter((wantedPermission) => !contains(before, wantedPermission))).toEqual([]);
      }),
      { numRuns: 2000 },
    );
    expect(gifts, 'gifts that were never given prove nothing').toBeGreaterThan(100);
  });
});
