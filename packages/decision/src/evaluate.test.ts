import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  consents,
  evaluate,
  indexPermissions,
  locate,
  onlyManagement,
  evaluateWithoutConditions,
} from './evaluate.ts';
import type { Decision, Grants, HeldPermission, Question } from './evaluate.ts';

const nouns = new Set(['ApiKey', 'Project', 'Permission']);
const editor = { id: 'r1', name: 'Editor', metadata: { region: 'eu' } };
const docs = { id: 'g1', name: 'Docs', metadata: {} };

/** `hold('invoice:read')`; a PascalCase resource is held on the management plane. */
function hold(name: string, condition: unknown = null, more: Partial<HeldPermission> = {}): HeldPermission {
  const [resource = '', action = ''] = name.split(':');
  const permission = {
    id: `id of ${name}`,
    name,
    resource,
    action,
    managementPlane: /^[A-Z]/.test(resource),
  };
  return { permission, condition, role: editor, group: docs, ...more };
}

function grants(held: readonly HeldPermission[], more: Partial<Grants> = {}): Grants {
  return {
    membership: 'active',
    user: { id: 'u1' },
    scope: { tenant: 'organizationProject', id: 'o1:p1', projectId: 'p1' },
    held: indexPermissions(held, nouns),
    ...more,
  };
}

function ask(name: string, attributes?: Record<string, unknown> | null): Question {
  const [resource = '', action = ''] = name.split(':');
  return { resource, action, ...(attributes !== undefined && { attributes }) };
}

const reasonOf = (given: Grants, question: Question) => evaluate(given, question).reason;
const isOwner = { Equals: { 'resource.ownerId': '{{user.id}}' } };

it('onlyManagement keeps one resource and action of the management plane', () => {
  const { held } = grants([hold('ApiKey:Create'), hold('ApiKey:Query'), hold('invoice:create')]);
  const part = onlyManagement(held, 'ApiKey', 'Create');
  expect(part.managementNouns).toBe(nouns);
  expect([...part.management.keys(), part.project.size]).toEqual(['ApiKey', 0]);
  expect([...(part.management.get('ApiKey') ?? [])]).toEqual([
    ['create', held.management.get('ApiKey')?.get('create')],
  ]);
  for (const [noun, action] of [
    ['ApiKey', 'Delete'],
    ['Project', 'Create'],
    ['invoice', 'create'],
  ] as const)
    expect(onlyManagement(held, noun, action).management.size).toBe(0);
});

describe('reasons', () => {
  const matchedPermission = {
    id: 'id of invoice:read',
    name: 'invoice:read',
    resource: 'invoice',
    action: 'read',
  };

  it('INVALID_SCOPE', () => {
    const given = grants([hold('invoice:read')], { membership: 'outside' });
    expect(evaluate(given, ask('invoice:read'))).toEqual({ authorized: false, reason: 'INVALID_SCOPE' });
  });

  it('SUBJECT_INACTIVE', () => {
    const given = grants([hold('invoice:read')], { membership: 'inactive' });
    expect(evaluate(given, ask('invoice:read'))).toEqual({ authorized: false, reason: 'SUBJECT_INACTIVE' });
  });

  it('SCOPE_NOT_CONSENTED', () => {
    const given = grants([hold('invoice:read')], { consented: new Set(['invoice:write']) });
    expect(evaluate(given, ask('invoice:read'))).toEqual({
      authorized: false,
      reason: 'SCOPE_NOT_CONSENTED',
    });
  });

  it('NO_PERMISSION', () => {
    const given = grants([hold('invoice:read')]);
    for (const name of ['invoice:write', 'invoices:read', 'invoice:', ':', '__proto__:constructor']) {
      expect(evaluate(given, ask(name))).toEqual({ authorized: false, reason: 'NO_PERMISSION' });
    }
  });

  it('ALLOWED names the permission, and no condition', () => {
    const given = grants([hold('invoice:read', isOwner), hold('invoice:read', {})]);
    const decision = { authorized: true, reason: 'ALLOWED', matchedPermission };
    expect(evaluate(given, ask('invoice:read'))).toEqual(decision);
  });

  it('ALLOWED_BY_CONDITION names the condition met and the values it read', () => {
    const given = grants([hold('invoice:read', isOwner)]);
    expect(evaluate(given, ask('invoice:read', { ownerId: 'u1', secret: 1 }))).toEqual({
      authorized: true,
      reason: 'ALLOWED_BY_CONDITION',
      matchedPermission,
      matchedCondition: isOwner,
      evaluatedContext: { 'resource.ownerId': 'u1', 'user.id': 'u1' },
    });
  });

  it('CONDITION_NOT_MET names the first permission; missing attributes are left out', () => {
    const given = grants([
      hold('invoice:read', isOwner),
      hold('invoice:read', { Equals: { 'user.id': 'x' } }),
    ]);
    for (const question of [ask('invoice:read'), ask('invoice:read', null), ask('invoice:read', {})]) {
      expect(evaluate(given, question)).toEqual({
        authorized: false,
        reason: 'CONDITION_NOT_MET',
        matchedPermission,
        matchedCondition: isOwner,
        evaluatedContext: { 'user.id': 'u1' },
      });
    }
  });

  it('CONDITION_NOT_MET for a stored condition that does not parse', () => {
    for (const condition of [{ Matches: {} }, [], 'x', undefined, false, { Equals: {} }]) {
      const held = { ...hold('invoice:read'), condition };
      expect(reasonOf(grants([held]), ask('invoice:read', {}))).toBe('CONDITION_NOT_MET');
    }
  });

  it('CONDITION_NOT_MET reports no condition if the stored value is not an object', () => {
    const decision = evaluate(grants([hold('invoice:read', 'owner')]), ask('invoice:read', {}));
    const evaluatedContext = {};
    expect(decision).toStrictEqual({
      authorized: false,
      reason: 'CONDITION_NOT_MET',
      matchedPermission,
      evaluatedContext,
    });
  });

  it('come in the order of the contract', () => {
    const nothing = { consented: new Set<string>() };
    expect(reasonOf(grants([], { ...nothing, membership: 'outside' }), ask('a:b'))).toBe('INVALID_SCOPE');
    expect(reasonOf(grants([], { ...nothing, membership: 'inactive' }), ask('a:b'))).toBe('SUBJECT_INACTIVE');
    expect(reasonOf(grants([], nothing), ask('a:b'))).toBe('SCOPE_NOT_CONSENTED');
    expect(reasonOf(grants([], { consented: new Set(['a:b']) }), ask('a:b'))).toBe('NO_PERMISSION');
    const both = [hold('a:b', { Equals: { 'user.id': 'u1' } }), hold('a:b')];
    expect(reasonOf(grants(both), ask('a:b'))).toBe('ALLOWED');
  });
});

describe('planes', () => {
  it('match a management resource exactly as written, its action in any case', () => {
    const given = grants([hold('ApiKey:Revoke')]);
    for (const name of ['ApiKey:Revoke', 'ApiKey:revoke', 'ApiKey:REVOKE']) {
      expect(reasonOf(given, ask(name))).toBe('ALLOWED');
    }
    for (const name of [
      'apikey:Revoke',
      'APIKEY:Revoke',
      ' ApiKey:Revoke',
      'ApiKey: Revoke',
      'ApiKey:Revok',
    ]) {
      expect(reasonOf(given, ask(name))).toBe('NO_PERMISSION');
    }
  });

  it('trim and lower-case on the project plane', () => {
    const given = grants([hold('invoice:read')]);
    for (const name of ['invoice:read', 'Invoice:READ', ' INVOICE\t: read\n']) {
      expect(reasonOf(given, ask(name))).toBe('ALLOWED');
    }
    expect(reasonOf(given, ask('in voice:read'))).toBe('NO_PERMISSION');
  });

  it('keep Project and project apart', () => {
    const customer = grants([hold('project:query')]);
    expect(reasonOf(customer, ask('Project:Query'))).toBe('NO_PERMISSION');
    expect(reasonOf(customer, ask('Project:query'))).toBe('NO_PERMISSION');
    expect(reasonOf(customer, ask('project:Query'))).toBe('ALLOWED');
    expect(reasonOf(customer, ask(' Project:Query'))).toBe('ALLOWED');
    const manager = grants([hold('Project:Query')]);
    expect(reasonOf(manager, ask('Project:Query'))).toBe('ALLOWED');
    expect(reasonOf(manager, ask('project:query'))).toBe('NO_PERMISSION');
  });

  it('count a custom permission on a built-in resource as management', () => {
    const given = grants([hold('Project:Update', { Equals: { 'resource.id': 'p1' } })]);
    expect(reasonOf(given, ask('Project:Update', { id: 'p1' }))).toBe('ALLOWED_BY_CONDITION');
    expect(reasonOf(given, ask('Project:Update', { id: 'p2' }))).toBe('CONDITION_NOT_MET');
  });
});

describe('app tokens', () => {
  const held = [hold('invoice:read'), hold('project:query'), hold('ApiKey:Query'), hold('Project:Query')];

  it('have the project plane only when not restricted', () => {
    const given = grants(held, { projectPlaneOnly: true });
    expect(reasonOf(given, ask('invoice:read'))).toBe('ALLOWED');
    expect(reasonOf(given, ask('project:query'))).toBe('ALLOWED');
    expect(reasonOf(given, ask('ApiKey:Query'))).toBe('NO_PERMISSION');
    expect(reasonOf(given, ask('Project:Query'))).toBe('NO_PERMISSION');
  });

  it('have what their scopes name when restricted, on the plane named', () => {
    const given = grants(held, { consented: new Set(['invoice:read', 'Project:Query', 'ApiKey:Create']) });
    expect(reasonOf(given, ask(' Invoice:READ'))).toBe('ALLOWED');
    expect(reasonOf(given, ask('Project:query'))).toBe('ALLOWED');
    expect(reasonOf(given, ask('project:query'))).toBe('SCOPE_NOT_CONSENTED');
    expect(reasonOf(given, ask('ApiKey:Query'))).toBe('SCOPE_NOT_CONSENTED');
    expect(reasonOf(given, ask('apikey:create'))).toBe('SCOPE_NOT_CONSENTED');
    expect(reasonOf(given, ask('ApiKey:create'))).toBe('NO_PERMISSION');
  });

  it('do not get the management noun from a customer scope of that name', () => {
    const given = grants(held, { consented: new Set(['project:query', 'nonsense', ':']) });
    expect(reasonOf(given, ask('Project:Query'))).toBe('SCOPE_NOT_CONSENTED');
    expect(reasonOf(given, ask('project:query'))).toBe('ALLOWED');
    expect(reasonOf(given, ask('nonsense:'))).toBe('SCOPE_NOT_CONSENTED');
    expect(reasonOf(given, ask('nonsens:nonsense'))).toBe('SCOPE_NOT_CONSENTED');
  });

  it('need a resource, and match the plane of the scope only', () => {
    const given = grants([], { consented: new Set([':read', 'role:write']) });
    const isConsented = (resource: string, action: string, on = given) =>
      consents(on, resource, action, locate(on.held, resource, action));
    expect(isConsented(' ', 'read')).toBe(false);
    expect(isConsented('role', 'write')).toBe(true);
    // With a leading blank, a lower-case noun is the customer's resource.
    const lowerCase = { ...given, held: indexPermissions([], new Set(['role'])) };
    expect(isConsented('role', 'write', lowerCase)).toBe(true);
    expect(isConsented(' role', 'write', lowerCase)).toBe(false);
  });

  it('allow nothing without scopes', () => {
    const given = grants(held, { consented: new Set() });
    for (const heldPermission of held)
      expect(reasonOf(given, ask(heldPermission.permission.name))).toBe('SCOPE_NOT_CONSENTED');
  });
});

describe('paths', () => {
  const inEurope = { Equals: { 'role.metadata.region': 'eu', 'group.name': 'Docs' } };
  const american = { id: 'r2', name: 'Editor', metadata: { region: 'us' } };

  it('allow if one of them meets the condition, in any order', () => {
    const paths = [hold('invoice:read', inEurope, { role: american }), hold('invoice:read', inEurope)];
    for (const held of [paths, [...paths].reverse()]) {
      const decision = evaluate(grants(held), ask('invoice:read'));
      expect(decision.reason).toBe('ALLOWED_BY_CONDITION');
      expect(decision.evaluatedContext).toEqual({ 'role.metadata.region': 'eu', 'group.name': 'Docs' });
    }
  });

  it('are not mixed: role and group come from the same path', () => {
    const other = { id: 'g2', name: 'Other', metadata: {} };
    const held = [
      hold('invoice:read', inEurope, { role: american, group: docs }),
      hold('invoice:read', inEurope, { role: editor, group: other }),
    ];
    expect(reasonOf(grants(held), ask('invoice:read'))).toBe('CONDITION_NOT_MET');
  });

  it('show conditions only the documented attributes of a role', () => {
    const row = { ...editor, deletedBy: 'u9' };
    const held = hold('invoice:read', { Equals: { 'role.deletedBy': 'u9' } }, { role: row });
    expect(reasonOf(grants([held]), ask('invoice:read'))).toBe('CONDITION_NOT_MET');
  });
});

describe('properties', () => {
  const names = ['invoice:read', 'invoice:write', 'project:query', 'Project:Query', 'ApiKey:Revoke'];
  const conditions = [null, {}, isOwner, { NotEquals: { 'resource.ownerId': 'u1' } }, { Bad: 1 }, undefined];
  const heldOne = fc
    .tuple(fc.constantFrom(...names), fc.constantFrom(...conditions))
    .map(([name, condition]) => ({ ...hold(name), condition }));
  const held = fc.array(heldOne, { maxLength: 6 });
  const question = fc
    .tuple(
      fc.constantFrom(...names),
      fc.constantFrom(undefined, null, {}, { ownerId: 'u1' }, { ownerId: 'u2' }),
    )
    .map(([name, attributes]) => ask(name, attributes));
  const more: fc.Arbitrary<Partial<Grants>> = fc.record(
    {
      membership: fc.constantFrom('active', 'active', 'inactive', 'outside'),
      consented: fc.subarray(names).map((some) => new Set(some)),
      projectPlaneOnly: fc.boolean(),
    },
    { requiredKeys: [] },
  );

  it('does not depend on the order of the permissions', () => {
    fc.assert(
      fc.property(held, more, question, (some, rest, question) => {
        const forth = reasonOf(grants(some, rest), question);
        expect(reasonOf(grants([...some].reverse(), rest), question)).toBe(forth);
      }),
      { numRuns: 2000 },
    );
  });

  it('evaluateWithoutConditions is the decision, or conditional if it depends on a condition', () => {
    const byCondition = new Set<Decision['reason']>(['ALLOWED_BY_CONDITION', 'CONDITION_NOT_MET']);
    fc.assert(
      fc.property(held, more, question, (some, rest, question) => {
        const given = grants(some, rest);
        const final = evaluate(given, question);
        expect(evaluateWithoutConditions(given, question)).toEqual(
          byCondition.has(final.reason) ? 'conditional' : final,
        );
      }),
      { numRuns: 2000 },
    );
  });

  it('is authorized for exactly two reasons, and never throws', () => {
    fc.assert(
      fc.property(held, more, fc.string(), fc.string(), (some, rest, resource, action) => {
        const decision = evaluate(grants(some, rest), { resource, action });
        expect(decision.authorized).toBe(decision.reason.startsWith('ALLOWED'));
      }),
      { numRuns: 2000 },
    );
  });
});
