import { evaluate, indexPermissions } from '../evaluate.ts';
import type { Decision, GrantSource, HeldPermission } from '../evaluate.ts';
import { isBuiltInNoun, targetOf } from './document.ts';
import type { PolicyDocument, PolicyTest } from './document.ts';

/** A test with the decision of the document. */
export interface TestResult {
  readonly name: string;
  readonly passed: boolean;
  readonly expected: PolicyTest['expect'];
  readonly decision: Decision;
}

/** The tests that a document alone answers: those that name roles. */
export const ownTests = (document: PolicyDocument): readonly PolicyTest[] =>
  document.tests.filter(({ subject }) => subject?.roles !== undefined);

/**
 * Decides tests by the document, with the function that decides every question of the service. A subject has the named roles
 * and no others.
 */
export function runTests(document: PolicyDocument): TestResult[] {
  return ownTests(document).map((test) => {
    const decision = decideTest(document, test);
    const { authorized, reason = decision.reason } = test.expect;
    const passed = decision.authorized === authorized && decision.reason === reason;
    return { name: test.name, passed, expected: test.expect, decision };
  });
}

function decideTest(document: PolicyDocument, { permission, context, subject = {} }: PolicyTest): Decision {
  const { resource, action } = targetOf(permission);
  const held = (subject.roles ?? []).flatMap((role) => permissionsOfRole(document, role));
  const nouns = [resource, ...held.map((path) => path.permission.resource)].filter(isBuiltInNoun);
  return evaluate(
    {
      membership: 'active',
      user: { id: 'test', ...subject.attributes },
      scope: {},
      held: indexPermissions(held, new Set(nouns)),
    },
    { resource, action, attributes: context?.resource ?? null },
  );
}

/** Every path from a role to a permission. A role that the document lacks has none. */
export function permissionsOfRole(document: PolicyDocument, key: string): HeldPermission[] {
  const role = document.roles[key];
  const source = sourceOf(key, role?.metadata);
  return (role?.groups ?? []).flatMap((groupKey) => {
    const group = sourceOf(groupKey, document.groups[groupKey]?.metadata);
    return permissionsOfGroup(document, groupKey).map((permission) => ({
      ...permission,
      role: source,
      group,
    }));
  });
}

type HeldByGroup = Pick<HeldPermission, 'permission' | 'condition'>;

/** The permissions of a group that count: those on a resource that is not active do not. */
function permissionsOfGroup(document: PolicyDocument, key: string): HeldByGroup[] {
  return permissionNamesOf(document, key).flatMap((name) => {
    const own = document.permissions[name];
    const { resource, action } = own ?? targetOf(name);
    const managementPlane = isBuiltInNoun(resource);
    if (!managementPlane && document.resources[resource]?.isActive !== true) return [];
    return [
      {
        permission: { id: name, name, resource, action, managementPlane },
        condition: own?.condition ?? null,
      },
    ];
  });
}

/** The permissions that a group contains. The name of a built-in one says it: `Project: Query, Update`. */
export function permissionNamesOf(document: PolicyDocument, group: string): readonly string[] {
  const own = document.groups[group];
  if (own) return own.permissions;
  const [noun = '', actions = ''] = group.split(': ');
  return actions === '' ? [] : actions.split(', ').map((action) => `${noun}:${action}`);
}

const sourceOf = (name: string, metadata: Readonly<Record<string, unknown>> = {}): GrantSource => ({
  id: name,
  name,
  metadata,
});
