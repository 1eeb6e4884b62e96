import type { Reporter, TestModule } from 'vitest/node';

/**
 * Counts a test file as failed if it cannot be loaded or one of its hooks fails. Stryker looks at the results of tests
 * only, so it would call a mutant survived that keeps all tests of a file from running.
 */
export class FailedFiles implements Reporter {
  onTestModuleEnd(module: TestModule): void {
    const [error] = module.errors();
    if (!error) return;
    const { task: file } = module as unknown as { readonly task: { readonly tasks: object[] } };
    const result = { state: 'fail', errors: [error] };
    file.tasks.push({ type: 'test', name: 'runs', mode: 'run', file, meta: {}, result });
  }
}
