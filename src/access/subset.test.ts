import { describe, expect, it } from 'vitest';
import { DoorwardError } from '../errors.ts';
import { indexPermissions } from './evaluate.ts';
import { assertHolds, missingPermissions } from './subset.ts';
import type { Holder, WantedPermission } from './subset.ts';

const nouns = new Set(['Role', 'Permission', 'Project']);
const carrier = { id: 'x', name: 'x', metadata: {} };
const isOwner = { Equals: { 'resource.ownerId': '{{user.id}}', 'resource.open': true } };
const isOwnerToo = { Equals: { 'resource.open': true, 'resource.ownerId': { $ref: 'user.id' } } };

function want(name: string, condition: unknown = null): WantedPermission {
  const [resource = '', action = ''] = name.split(':');
  return { resource, action, condition, managementPlane: /^[A-Z]/.test(resource) };
}

function holder(held: readonly WantedPermission[], more: Partial<Holder> = {}): Holder {
  const rows = held.map(({ condition, ...permission }) => ({
    permission: { id: 'x', name: 'x', ...permission },
    condition,
    role: carrier,
    group: carrier,
  }));
  return { standing: 'active', held: indexPermissions(rows, nouns), ...more };
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
      want('invoice:read', { Equals: { 'user.id': 'a' } }),
    ]);
    expect(missing(given, want('invoice:read', isOwnerToo))).toEqual([]);
    expect(missing(given, want('invoice:read', { Equals: { 'user.id': 'b' } }))).toEqual(['invoice:read']);
    for (const none of [null, {}]) {
      expect(missing(given, want('invoice:read', none))).toEqual(['invoice:read']);
    }
  });

  it('on its own plane', () => {
    expect(missing(holder([want('project:query')]), want('Project:Query'))).toEqual(['Project:Query']);
    expect(missing(holder([want('Project:Query')]), want('project:query'))).toEqual(['project:query']);
  });

  it('by a condition that does not parse, if it is the same', () => {
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
    for (const standing of ['inactive', 'outside'] as const) {
      expect(missing(holder(held, { standing }), ...held)).toHaveLength(3);
    }
  });

  it('that is an app token holds no more than it may use', () => {
    const restricted = holder(held, { consented: new Set(['Role:Update']) });
    expect(missing(restricted, ...held)).toEqual(['invoice:read', 'Permission:Create']);
    const unrestricted = holder(held, { projectPlaneOnly: true });
    expect(missing(unrestricted, ...held)).toEqual(['Role:Update', 'Permission:Create']);
  });
});

describe('what is missing', () => {
  it('is named once each, in the order wanted', () => {
    const wanted = [want('b:x'), want('a:x'), want('b:x', isOwner), want('c:x')];
    expect(missing(holder([want('a:x')]), ...wanted)).toEqual(['b:x', 'c:x']);
    expect(missing(holder([]))).toEqual([]);
  });

  it('is refused with twenty details at most', () => {
    const wanted = Array.from({ length: 30 }, (_, at) => want(`r${at}:x`));
    let caught: unknown;
    try {
      assertHolds(holder([]), wanted);
    } catch (error) {
      caught = error;
    }
    if (!(caught instanceof DoorwardError)) throw new Error('not refused');
    expect(caught.code).toBe('PRIVILEGE_ESCALATION');
    expect(caught.extras.details).toHaveLength(20);
    expect(caught.extras.details?.[0]).toEqual({ path: 'r0:x', code: 'permission' });
    expect(() => assertHolds(holder(wanted), wanted)).not.toThrow();
  });
});
