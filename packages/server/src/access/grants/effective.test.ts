import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { effectivePermissions, versionOf } from './effective.ts';
import { evaluate, indexPermissions, type Grants, type HeldPermission } from '@doorward/decision/evaluate';
import { byName } from '@doorward/decision/questions/held-pairs';

const nouns = new Set(['ApiKey', 'Project']);
const editor = { id: 'r1', name: 'Editor', metadata: { region: 'eu' } };
const docs = { id: 'g1', name: 'Docs', metadata: {} };
const isOwner = { Equals: { 'resource.ownerId': '{{user.id}}' } };
const inEurope = { Equals: { 'role.metadata.region': 'eu' } };

function hold(name: string, condition: unknown = null, more: Partial<HeldPermission> = {}): HeldPermission {
  const [resource = '', action = ''] = name.split(':');
  const permission = { id: name, name, resource, action, managementPlane: nouns.has(resource) };
  return { permission, condition, role: editor, group: docs, ...more };
}

const grants = (held: readonly HeldPermission[], more: Partial<Grants> = {}): Grants => ({
  membership: 'active',
  user: { id: 'u1', metadata: { level: 1 } },
  scope: { tenant: 'organizationProject', id: 'o1:p1' },
  held: indexPermissions(held, nouns),
  ...more,
});

const listed = (given: Grants) =>
  effectivePermissions(given).map(
    ({ resource, action, conditional }) => `${resource}:${action}${conditional ? '?' : ''}`,
  );
const version = (given: Grants) => versionOf(effectivePermissions(given));

describe('the list', () => {
  it('is sorted and has each pair once, unconditional if one path is', () => {
    const held = [hold('invoice:write', isOwner), hold('invoice:read', isOwner), hold('ApiKey:Revoke')];
    expect(listed(grants(held))).toEqual(['ApiKey:Revoke', 'invoice:read?', 'invoice:write?']);
    expect(listed(grants([...held, hold('invoice:read')]))).toContain('invoice:read');
    expect(listed(grants([hold('project:query'), hold('Project:Query')]))).toEqual([
      'Project:Query',
      'project:query',
    ]);
  });

  it('is restricted by the scopes of an app token', () => {
    const held = [hold('invoice:read'), hold('invoice:write', isOwner), hold('ApiKey:Query')];
    expect(listed(grants(held, { projectPlaneOnly: true }))).toEqual(['invoice:read', 'invoice:write?']);
    const consented = new Set(['ApiKey:Query', 'invoice:write', 'invoice:delete']);
    expect(listed(grants(held, { consented }))).toEqual(['ApiKey:Query', 'invoice:write?']);
    expect(listed(grants(held, { consented: new Set() }))).toEqual([]);
  });

  it('is empty for an outside or inactive subject', () => {
    const held = [hold('invoice:read')];
    expect(listed(grants(held, { membership: 'outside' }))).toEqual([]);
    expect(listed(grants(held, { membership: 'inactive' }))).toEqual([]);
  });

  const names = ['invoice:read', 'invoice:write', 'project:query', 'Project:Query', 'ApiKey:Query'];
  const anyHeld = fc.array(
    fc
      .record({
        name: fc.constantFrom(...names),
        condition: fc.constantFrom(null, isOwner, inEurope, 'broken'),
      })
      .map(({ name, condition }) => hold(name, condition)),
    { maxLength: 8 },
  );
  const narrowed = fc.constantFrom<Partial<Grants>>(
    {},
    { projectPlaneOnly: true },
    { consented: new Set(['invoice:read', 'ApiKey:Query']) },
    { membership: 'inactive' },
  );

  it('agrees with the decision for every pair', () => {
    fc.assert(
      fc.property(anyHeld, narrowed, (held, more) => {
        const given = grants(held, more);
        const reported = new Set(listed(given));
        for (const name of names) {
          const [resource = '', action = ''] = name.split(':');
          const { reason } = evaluate(given, { resource, action });
          expect(reported.has(name), name).toBe(reason === 'ALLOWED');
          expect(reported.has(`${name}?`), name).toBe(/CONDITION/.test(reason));
        }
      }),
      { numRuns: 500 },
    );
  });
});

it('sorts by resource, then action, by code unit', () => {
  const [a, b] = [
    { resource: 'a', action: 'z' },
    { resource: 'b', action: 'c' },
  ];
  expect([byName(a, b), byName(b, a), byName(a, a)]).toEqual([-1, 1, 0]);
  expect(byName(a, { resource: 'a', action: 'Z' })).toBe(1);
  expect(byName({ resource: 'a', action: 'Z' }, a)).toBe(-1);
});

it('the terms have one line for each condition, in any order, and are empty for an unconditional path', () => {
  const [{ terms } = { terms: '' }] = effectivePermissions(
    grants([hold('invoice:read', isOwner), hold('invoice:read', inEurope)]),
  );
  const [{ terms: other } = { terms: '' }] = effectivePermissions(
    grants([hold('invoice:read', inEurope), hold('invoice:read', isOwner)]),
  );
  expect(terms.split('\n')).toHaveLength(2);
  expect(terms).toBe(other);
  const [free] = effectivePermissions(grants([hold('invoice:read'), hold('invoice:read', isOwner)]));
  expect(free).toEqual({ resource: 'invoice', action: 'read', conditional: false, terms: '' });
});

describe('the version', () => {
  it('has 27 characters', () => {
    expect(versionOf([])).toMatch(/^[\w-]{27}$/);
  });

  const before = grants([hold('invoice:read', isOwner), hold('invoice:write')]);

  it('does not depend on the roles that grant the permissions', () => {
    const others = { ...docs, id: 'g2', name: 'Others' };
    const twice = [
      hold('invoice:write'),
      hold('invoice:read', { Equals: { 'resource.ownerId': { $ref: 'user.id' } } }, { group: others }),
      hold('invoice:read', isOwner, { role: { ...editor, id: 'r2', metadata: {} } }),
      hold('invoice:write', isOwner),
    ];
    expect(version(grants(twice))).toBe(version(before));
    expect(version({ ...before, user: { id: 'u1', metadata: { level: 2 } } })).toBe(version(before));
  });

  it('changes with a permission, a condition, or an attribute that a condition reads', () => {
    const same = { user: { id: 'u1' } };
    const versions = [
      before,
      grants([hold('invoice:read', isOwner)]),
      grants([hold('invoice:read'), hold('invoice:write')]),
      grants([hold('invoice:read', inEurope), hold('invoice:write')]),
      grants([
        hold('invoice:read', inEurope, { role: { ...editor, metadata: { region: 'us' } } }),
        hold('invoice:write'),
      ]),
      grants([hold('invoice:read', isOwner), hold('invoice:read', inEurope), hold('invoice:write')]),
      grants([hold('invoice:read', isOwner), hold('invoice:write')], { user: { id: 'u2' } }),
      grants([hold('invoice:read', isOwner), hold('invoice:write')], { membership: 'inactive', ...same }),
    ].map(version);
    expect(new Set(versions).size).toBe(versions.length);
  });
});
