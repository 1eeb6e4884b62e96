import { evaluate, indexPermissions } from '../evaluate.ts';
import type { Decision, Grants } from '../evaluate.ts';
import { unlimited, type Charged } from '../work.ts';
import { DocumentRights } from './document-rights.ts';
import { isBuiltInNoun, targetOf } from './document.ts';
import type { PolicyDocument, PolicyTest } from './document.ts';

/** A test, and the decision that the document makes for it. */
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
 * Runs the tests that name roles, with the function that also decides the service's questions (`evaluate`). A subject
 * has the named roles and no others. `scope` has the attributes of the project's scope; without it, no condition that
 * reads a scope attribute is met. `nouns` are the names of the built-in resources; without them, every capitalized name
 * counts as one. Each test runs only when the caller requests its result, so that the caller can do other work in
 * between.
 *
 * @throws WorkExceeded if the steps exceed the budget of `work`
 */
export function* runTests(
  document: PolicyDocument,
  scope: Grants['scope'] = {},
  work: Charged = unlimited,
  nouns?: ReadonlySet<string>,
): Generator<TestResult> {
  const rights = new DocumentRights(document, work);
  const isNoun = (resource: string): boolean => nouns?.has(resource) ?? isBuiltInNoun(resource);
  for (const test of ownTests(document)) {
    const decision = decideTest(rights, isNoun, test, scope, work);
    const { authorized, reason = decision.reason } = test.expect;
    const passed = decision.authorized === authorized && decision.reason === reason;
    yield { name: test.name, passed, expected: test.expect, decision };
  }
}

function decideTest(
  rights: DocumentRights,
  isNoun: (resource: string) => boolean,
  { permission, context, subject = {} }: PolicyTest,
  scope: Grants['scope'],
  work: Charged,
): Decision {
  const { resource: name, action } = targetOf(permission);
  const isBuiltIn = isNoun(name);
  // `Order` means the slug `order`, as it does in questions to the service.
  const resource = isBuiltIn ? name : name.trim().toLowerCase();
  const held = rights.pathsTo(new Set(subject.roles), resource, action);
  const nouns = new Set(isBuiltIn ? [resource] : []);
  return evaluate(
    {
      membership: 'active',
      user: { id: 'test', ...subject.attributes },
      scope,
      held: indexPermissions(held, nouns, work),
    },
    { resource, action, attributes: context?.resource ?? null },
    work,
  );
}
