import type { PolicyTest, TestResult } from '@doorward/decision/document';
import type { Scope } from '@doorward/node';
import type { Command } from '../../command.ts';
import { exitCodes } from '../../exit-codes.ts';
import { usageFault } from '../../fault.ts';
import { visible } from '../../output/text.ts';
import type { Run } from '../../run.ts';
import { fileArgument } from '../plan.ts';
import { DEFAULT_FILE, readPolicy } from '../policy-file.ts';
import { answersOfService, type Answer } from './service-tests.ts';
import { assertDocument } from './document-check.ts';
import { assertTests } from './test-shape.ts';

/** A test with its decision, and whether it passed. */
interface Result extends Answer {
  readonly name: string;
  readonly passed: boolean;
  readonly expected: PolicyTest['expect'];
  readonly place: string | undefined;
}

export const testPolicy: Command = {
  path: ['policy', 'test'],
  summary: 'Run the tests of a policy document',
  description:
    'The document is checked first, as the service would. Tests that name roles are decided from it locally, with the code of the service; the others run on the service, or are skipped with --offline. Exit code 1: a test failed; 2: the document is not valid.',
  arguments: fileArgument,
  options: { '--offline': 'run only the tests that need no service' },
  examples: ['doorward policy test --offline'],
  async run(run, [path = DEFAULT_FILE], options) {
    // Loaded only here, so that showing help stays fast.
    const { ownTests, runTests, unescaped, withDefaults } = await import('@doorward/decision/document');
    const { builtInNames } = await import('../rules/policy-rules.ts');
    const file = await readPolicy(run, path);
    await assertTests(file);
    await assertDocument(file);
    const document = withDefaults(unescaped(file.policy));
    if (document.tests.length === 0) throw usageFault(`${path} has no tests.`);
    const scope = attributesOf(await run.settings.namedScope());
    const nouns = new Set(builtInNames.resources.map(({ slug }) => slug));
    const answers = new Map<PolicyTest, Answer>(
      [...runTests(document, scope, undefined, nouns)].map((result, at) => [
        ownTests(document)[at] as PolicyTest,
        ownAnswer(result),
      ]),
    );
    const others = document.tests.filter((test) => !answers.has(test));
    if (!options.flag('offline'))
      for (const [test, answer] of await answersOfService(run, file, others)) answers.set(test, answer);
    const results = document.tests.flatMap((test, index): Result[] => {
      const answer = answers.get(test);
      if (!answer) return [];
      const { name, expect: expected } = test;
      return [
        {
          name,
          passed: passes(test, answer),
          expected,
          ...answer,
          place: file.placeOf(`policy.tests.${index}`),
        },
      ];
    });
    return report(run, results, document.tests.length - results.length);
  },
};

/** The scope attributes that conditions can read. Empty unless flags, environment or profile name a project by ids. */
function attributesOf(scope: Scope | undefined): Readonly<Record<string, unknown>> {
  const [owner, projectId] = scope?.id.split(':') ?? [];
  if (scope?.tenant === 'accountProject') return { ...scope, accountId: owner, projectId };
  return scope?.tenant === 'organizationProject' ? { ...scope, organizationId: owner, projectId } : {};
}

const passes = ({ expect }: PolicyTest, { authorized, reason }: Answer): boolean =>
  authorized === expect.authorized && (expect.reason === undefined || reason === expect.reason);

/** Converts a local decision. A failed test is explained by the condition and the values that decided it. */
function ownAnswer({ passed, decision }: TestResult): Answer {
  const { authorized, reason, matchedPermission, matchedCondition, evaluatedContext } = decision;
  const json = (value: unknown): string => visible(JSON.stringify(value));
  const explanation = [
    ...(matchedPermission ? [`matched     ${visible(matchedPermission.name)}`] : []),
    ...(matchedCondition ? [`condition   ${json(matchedCondition)}`] : []),
    ...(evaluatedContext ? [`values      ${json(evaluatedContext)}`] : []),
  ];
  return { authorized, reason, explanation: passed ? [] : explanation };
}

function report({ terminal }: Run, results: readonly Result[], leftOut: number): number {
  const failed = results.filter(({ passed }) => !passed);
  const lines = results.flatMap(({ name, passed, reason, expected, place, explanation }) =>
    passed
      ? [`${terminal.paint('ok', 32)}    ${visible(name)}`]
      : [
          `${terminal.paint('FAIL', 31)}  ${visible(name)}: ${reason}, expected ${expected.reason ?? (expected.authorized ? 'allowed' : 'refused')}  ${place ?? ''}`,
          ...explanation.map((line) => `      ${line}`),
        ],
  );
  const counts = `${results.length - failed.length} passed, ${failed.length} failed`;
  lines.push(leftOut === 0 ? counts : `${counts}, ${leftOut} left out: they need a service`);
  terminal.answer(lines.join('\n'), { results, failed: failed.length, leftOut });
  return failed.length === 0 ? exitCodes.done : exitCodes.negative;
}
