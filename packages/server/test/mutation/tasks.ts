import { TestRunner, type RunnerTask, type RunnerTestCase, type RunnerTestSuite } from 'vitest';
import { activate } from './active.ts';

/** By which test a mutant was killed, and how that test failed. */
export interface Verdict {
  readonly by: string;
  readonly why: string;
}

export const suitesOf = (task: RunnerTask): RunnerTestSuite[] =>
  task.type === 'test' ? [] : [task, ...task.tasks.flatMap(suitesOf)];

export const testsOf = (task: RunnerTask): RunnerTestCase[] =>
  task.type === 'test' ? [task] : task.tasks.flatMap(testsOf);

/** The suites around a test, the file first. */
function around(test: RunnerTask): RunnerTestSuite[] {
  const file: RunnerTestSuite = test.file;
  const suites: RunnerTestSuite[] = [];
  for (let suite = test.suite; suite && suite !== file; suite = suite.suite) suites.unshift(suite);
  return [file, ...suites];
}

export const nameOf = (test: RunnerTask): string =>
  [...around(test).slice(1), test].map(({ name }) => name).join(' > ');

const MOST_LETTERS = 160;
export const reasonOf = ({ result }: RunnerTask): string =>
  String(result?.errors?.[0]?.message ?? '').slice(0, MOST_LETTERS);

/** A hook or the loading of the file failed. */
export function findBroken(task: RunnerTask): RunnerTask | undefined {
  if (task.result?.state === 'fail' && task.result.errors?.length) return task;
  if (task.type !== 'suite') return undefined;
  for (const item of task.tasks) {
    const broken = findBroken(item);
    if (broken) return broken;
  }
  return undefined;
}

/** Runs a test once more with the mutant, and what is done before each; the message of its failure, if it fails. */
export async function failureOf(test: RunnerTestCase, id: number): Promise<string | undefined> {
  activate(id);
  try {
    for (const suite of around(test))
      for (const hook of TestRunner.getSuiteHooks(suite).beforeEach) await hook(test.context, suite);
    await TestRunner.getTestFn(test)();
    return undefined;
  } catch (error) {
    return String(error instanceof Error ? error.message : error).slice(0, MOST_LETTERS);
  } finally {
    activate();
  }
}
