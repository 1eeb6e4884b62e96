/**
 * Works with a policy document in your own process: fills in its defaults, checks its references, and runs the tests
 * that name roles.
 *
 * @example
 * const document = withDefaults(parse(file));
 * const failed = runTests(document).filter(({ passed }) => !passed);
 */
export { ownTests, runTests, type TestResult } from './document/decide-test.ts';
export { escaped, unescaped } from './document/escape.ts';
export { withDefaults, withoutDefaults } from './document/defaults.ts';
export { referenceFaults, type BuiltInNames, type ReferenceFault } from './document/references.ts';
export { targetOf } from './document/document.ts';
export type { PolicyDocument, PolicyTest } from './document/document.ts';
