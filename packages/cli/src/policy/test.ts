import type { PolicyTest } from '@doorward/decision/document/document';
import type { Doorward } from '@doorward/node';
import type { Command } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { usageFault } from '../fault.ts';
import { visible } from '../output/text.ts';
import type { Run } from '../run.ts';
import { fileArgument } from './plan.ts';
import { DEFAULT_FILE, readPolicy, type PolicyFile } from './policy-file.ts';

/** A test with its decision. */
interface Result {
  readonly name: string;
  readonly passed: boolean;
  readonly expected: PolicyTest['expect'];
  readonly reason: string;
  readonly place: string | undefined;
}

export const testPolicy: Command = {
  path: ['policy', 'test'],
  summary: 'Run the tests of a policy document',
  description:
    'Tests that name roles are decided by the document, with the code of the service; others are asked of the service, or left out with --offline. Exit code 1: a test failed.',
  arguments: fileArgument,
  options: { '--offline': 'run only the tests that need no service' },
  examples: ['doorward policy test --offline'],
  async run(run, [path = DEFAULT_FILE], options) {
    // Loaded here, so that help is quick.
    const { ownTests, runTests } = await import('@doorward/decision/document/decide-test');
    const { withDefaults } = await import('@doorward/decision/document/defaults');
    const file = await readPolicy(path, run.env);
    const document = withDefaults(file.policy);
    if (document.tests.length === 0) throw usageFault(`${path} has no tests.`);
    const own = new Map(runTests(document).map((result, at) => [ownTests(document)[at], result]));
    const results: Result[] = [];
    let leftOut = 0;
    for (const [index, test] of document.tests.entries()) {
      const decided = own.get(test);
      const place = file.placeOf(`policy.tests.${index}`);
      if (decided) {
        const { name, passed, expected, decision } = decided;
        results.push({ name, passed, expected, reason: decision.reason, place });
      } else if (options.flag('offline')) leftOut++;
      else results.push({ ...(await answerOfService(run, file, test)), place });
    }
    return report(run, results, leftOut);
  },
};

function report({ terminal }: Run, results: readonly Result[], leftOut: number): number {
  const failed = results.filter(({ passed }) => !passed);
  const lines = results.map(({ name, passed, reason, expected, place }) =>
    passed
      ? `${terminal.paint('ok', 32)}    ${visible(name)}`
      : `${terminal.paint('FAIL', 31)}  ${visible(name)}: ${reason}, expected ${expected.reason ?? (expected.authorized ? 'allowed' : 'refused')}  ${place ?? ''}`,
  );
  const counts = `${results.length - failed.length} passed, ${failed.length} failed`;
  lines.push(leftOut === 0 ? counts : `${counts}, ${leftOut} left out: they need a service`);
  terminal.answer(lines.join('\n'), { results, failed: failed.length, leftOut });
  return failed.length === 0 ? exitCodes.done : exitCodes.no;
}

async function answerOfService(
  run: Run,
  { policy }: PolicyFile,
  test: PolicyTest,
): Promise<Omit<Result, 'place'>> {
  const { name, permission, context, subject, expect } = test;
  const { tokenFrom, scope = policy['scope'] } = test as {
    readonly tokenFrom?: string;
    readonly scope?: unknown;
  };
  const { targetOf } = await import('@doorward/decision/document/document');
  const doorward = await serviceFor(run, tokenFrom, scope);
  const input = {
    permission: targetOf(permission),
    ...(context && { context }),
    ...(subject?.userId !== undefined && { subject: { userId: subject.userId } }),
  };
  const decision = await doorward.api.isAuthorized(input, { signal: run.signal });
  const { authorized, reason = String(decision.reason) } = expect;
  const passed = decision.authorized === authorized && decision.reason === reason;
  return { name, passed, expected: expect, reason: String(decision.reason) };
}

async function serviceFor(run: Run, tokenFrom: string | undefined, scope: unknown): Promise<Doorward> {
  const token = tokenFrom === undefined ? undefined : run.env[tokenFrom];
  if (tokenFrom !== undefined && !token)
    throw usageFault(`The environment has no ${tokenFrom}, which a test names.`);
  const at = (scope as never) ?? (await run.connection.scope());
  return run.connection.client({ scope: at, ...(token === undefined ? {} : { token }) });
}
