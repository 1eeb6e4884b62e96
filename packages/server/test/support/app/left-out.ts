import type { Reporter, TestModule, Vitest } from 'vitest/node';

/** Prints at the end of a run how many tests were skipped, and how to run them. */
export default class LeftOut implements Reporter {
  #isWhole = true;

  onInit({ config }: Vitest): void {
    // With a name pattern the caller skips tests on purpose.
    this.#isWhole = config.testNamePattern === undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = modules.map(({ children }) => [...children.allTests('skipped')].length);
    const tests = counts.reduce((sum, count) => sum + count, 0);
    if (!this.#isWhole || tests === 0) return;
    const files = counts.filter((count) => count > 0).length;
    const needs = process.env['TEST_DATABASE_URL']
      ? 'They need the embedded database, a program that is not installed, or their own variable (CONTRIBUTING.md).'
      : 'They need PostgreSQL or Redis (npm run test:postgres), or belong to the exhaustive suite (npm run test:all).';
    process.stdout.write(`\nLeft out: ${tests} tests in ${files} files. ${needs}\n`);
  }
}
