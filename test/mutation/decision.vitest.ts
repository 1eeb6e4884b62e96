import { testsInOrder } from './config.ts';

export default testsInOrder(
  [
    'packages/decision/src/conditions.test.ts',
    'packages/decision/test/golden.test.ts',
    'packages/decision/src/conditions-failure.test.ts',
    'packages/decision/src/questions/subject.test.ts',
    'packages/decision/src/lists.test.ts',
    'packages/decision/src/conditions-eval.test.ts',
    'packages/decision/src/conditions-parse.test.ts',
    'packages/decision/src/evaluate.test.ts',
    'packages/decision/src/setting-remedy.test.ts',
    'packages/decision/src/explain.test.ts',
    'packages/decision/test/properties.test.ts',
    'packages/decision/src/document/document-rights.test.ts',
    'packages/decision/src/questions/held-pairs.test.ts',
    'packages/decision/src/contradiction.test.ts',
    'packages/decision/test/policy/refusals.test.ts',
    'packages/decision/test/policy/changes.test.ts',
    'packages/decision/test/policy/garbage.test.ts',
    'packages/decision/test/policy/equality.test.ts',
  ],
  { env: { CONDITION_CASES: '1000', POLICY_QUESTIONS: '1000' } },
);
