import type { PolicyTest } from '@doorward/decision/document';
import type { Scope } from '@doorward/node';
import type { Client } from '@doorward/node/client';
import { explanationLines } from '../../access/explain.ts';
import { exitCodes } from '../../exit-codes.ts';
import { shownFault, usageFault } from '../../fault.ts';
import type { Run } from '../../run.ts';
import type { PolicyFile } from '../policy-file.ts';

/** A decision, with its explanation as lines of text. */
export interface Answer {
  readonly authorized: boolean;
  readonly reason: string;
  readonly explanation: readonly string[];
}

/** A test in a file. It can name a caller and a scope other than those of the run. */
interface ServiceTest extends PolicyTest {
  /** The environment variable that contains the token of the caller. */
  readonly tokenFrom?: string;
  readonly scope?: Scope;
}

type TargetOf = (permission: PolicyTest['permission']) => { resource: string; action: string };

/** Maximum number of decisions in one request. */
const BATCH = 100;

/**
 * Asks the service to decide tests. Sends tests with the same caller, scope and subject together, and adds an
 * explanation to each unexpected decision.
 */
export async function answersOfService(
  run: Run,
  { policy, placeOf }: PolicyFile,
  tests: readonly ServiceTest[],
): Promise<Map<PolicyTest, Answer>> {
  const written = policy['tests'] as readonly ServiceTest[];
  for (const { tokenFrom } of tests)
    if (tokenFrom !== undefined && !run.env[tokenFrom]) {
      const index = written.findIndex((test) => test.tokenFrom === tokenFrom);
      const place = placeOf(`policy.tests.${index}.tokenFrom`) ?? '';
      throw usageFault(
        `${place} The environment variable ${tokenFrom} isn't set, but a test uses it.`.trimStart(),
      );
    }
  const groups = new Map<string, ServiceTest[]>();
  for (const test of tests) {
    const key = JSON.stringify([test.tokenFrom, test.scope, test.subject]);
    groups.set(key, [...(groups.get(key) ?? []), test]);
  }
  const answers = new Map<PolicyTest, Answer>();
  for (const group of groups.values()) {
    const [{ tokenFrom, scope = policy['scope'] } = {}] = group;
    const doorward = await serviceFor(run, tokenFrom, scope as Scope | undefined);
    for (let at = 0; at < group.length; at += BATCH)
      for (const [test, answer] of await answersOf(run, doorward, group.slice(at, at + BATCH)))
        answers.set(test, answer);
  }
  return answers;
}

async function serviceFor(
  { env, connection }: Run,
  tokenFrom: string | undefined,
  scope: Scope | undefined,
): Promise<Client> {
  const token = tokenFrom === undefined ? undefined : env[tokenFrom];
  return connection.client({
    scope: scope ?? (await connection.scope()),
    ...(token === undefined ? {} : { token }),
  });
}

async function answersOf(
  run: Run,
  doorward: Client,
  tests: readonly ServiceTest[],
): Promise<[PolicyTest, Answer][]> {
  const { targetOf } = await import('@doorward/decision/document');
  const items = tests.map((test) => questionOf(test, targetOf));
  const subject = subjectOf(tests[0]);
  const sent = doorward.api.isAuthorizedBatch({ items, ...subject }, { signal: run.signal });
  const { items: decisions } = await run.terminal.waiting(sent);
  const answers: [PolicyTest, Answer][] = [];
  for (const [at, test] of tests.entries()) {
    const { authorized = false, reason = '' } = decisions[at] ?? {};
    const isExpected =
      authorized === test.expect.authorized && (test.expect.reason ?? reason) === String(reason);
    const explanation = isExpected ? [] : await explanationOf(run, doorward, test);
    answers.push([test, { authorized, reason: String(reason), explanation }]);
  }
  return answers;
}

const questionOf = ({ permission, context }: ServiceTest, targetOf: TargetOf) => ({
  permission: targetOf(permission),
  ...(context && { context }),
});

const subjectOf = (test: ServiceTest | undefined): { subject?: { userId: string } } => {
  const userId = test?.subject?.userId;
  return userId === undefined ? {} : { subject: { userId } };
};

/** Explains a decision. A caller without Authorization:Explain gets a note instead, because the test fails anyway. */
async function explanationOf(run: Run, doorward: Client, test: ServiceTest): Promise<readonly string[]> {
  const { targetOf } = await import('@doorward/decision/document');
  const question = { ...questionOf(test, targetOf), ...subjectOf(test), explain: true };
  try {
    const decision = await doorward.api.isAuthorized(question, { signal: run.signal });
    return await explanationLines(doorward, decision);
  } catch (error) {
    if (shownFault(error).exitCode !== exitCodes.forbidden) throw error;
    return ['no explanation: the caller lacks Authorization:Explain'];
  }
}
