import type { Reporter, TestModule, TestSpecification, Vitest } from 'vitest/node';

/** Prints at the end of a run how many tests were skipped, and how to run them. */
export default class LeftOut implements Reporter {
  #isWhole = true;
  #files: readonly TestSpecification[] = [];

  onInit({ config }: Vitest): void {
    // With a name pattern the caller skips tests on purpose.
    this.#isWhole = config.testNamePattern === undefined;
  }

  onTestRunStart(files: readonly TestSpecification[]): void {
    this.#files = files;
  }

  onTestRunEnd(all: readonly TestModule[]): void {
    // CI skips tests of these on purpose too.
    const filtered = new Set(this.#files.filter((file) => file.testTagsFilter).map((file) => file.moduleId));
    const modules = all.filter(({ moduleId }) => !filtered.has(moduleId));
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
