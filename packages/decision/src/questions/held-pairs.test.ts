import { expect, it } from 'vitest';
import { indexPermissions, type Grants, type HeldPermission } from '../evaluate.ts';
import { byName, heldPairs } from './held-pairs.ts';

const nouns = new Set(['ApiKey', 'Project']);
const when = { Equals: { 'resource.ownerId': '{{user.id}}' } };

const hold = (name: string, condition: unknown = null): HeldPermission => {
  const [resource = '', action = ''] = name.split(':');
  return {
    permission: { id: name, name, resource, action, managementPlane: nouns.has(resource) },
    condition,
    role: { id: 'r', name: 'R', metadata: {} },
    group: { id: 'g', name: 'G', metadata: {} },
  };
};
const grants = (held: readonly HeldPermission[], more: Partial<Grants> = {}): Grants => ({
  membership: 'active',
  user: { id: 'u' },
  scope: { tenant: 'organizationProject', id: 'o:p' },
  held: indexPermissions(held, nouns),
  ...more,
});
const namesOf = (given: Grants) =>
  heldPairs(given).map(
    ({ resource, action, conditional }) => `${resource}:${action}${conditional ? ' conditional' : ''}`,
  );

const held = [
  hold('order:write', when),
  hold('order:Read'),
  hold('order:Read', when),
  hold('ApiKey:Query'),
  hold('invoice:pay', when),
];

it('lists each resource and action once, in the order and spelling of their names', () => {
  expect(namesOf(grants(held))).toEqual([
    'ApiKey:Query',
    'invoice:pay conditional',
    'order:Read',
    'order:write conditional',
  ]);
  expect(namesOf(grants([]))).toEqual([]);
});

it('keeps the candidates of each, from the plane of the resource', () => {
  const given = grants(held);
  const pairs = new Map(heldPairs(given).map(({ resource, candidates }) => [resource, candidates]));
  expect(pairs.get('ApiKey')).toBe(given.held.management.get('ApiKey')?.get('query'));
  expect(pairs.get('invoice')).toBe(given.held.project.get('invoice')?.get('pay'));
});

it('lists nothing for a subject that may not act', () => {
  expect(namesOf(grants(held, { membership: 'inactive' } as never))).toEqual([]);
});

it('leaves out what was not consented to, and the management plane for tokens of projects', () => {
  expect(namesOf(grants(held, { consented: new Set(['order:read', 'ApiKey:Query']) }))).toEqual([
    'ApiKey:Query',
    'order:Read',
  ]);
  expect(namesOf(grants(held, { projectPlaneOnly: true }))).not.toContain('ApiKey:Query');
  expect(namesOf(grants(held, { projectPlaneOnly: true }))).toHaveLength(3);
});

it('orders by resource, then by action', () => {
  const pair = (resource: string, action: string) => ({ resource, action });
  expect(byName(pair('a', 'z'), pair('b', 'a'))).toBeLessThan(0);
  expect(byName(pair('b', 'a'), pair('a', 'z'))).toBeGreaterThan(0);
  expect(byName(pair('a', 'a'), pair('a', 'b'))).toBeLessThan(0);
  expect(byName(pair('a', 'b'), pair('a', 'a'))).toBeGreaterThan(0);
  expect(byName(pair('a', 'a'), pair('a', 'a'))).toBe(0);
});
