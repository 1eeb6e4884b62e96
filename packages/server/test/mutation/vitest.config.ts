import { relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { instrumented, root, stages, type Stage } from './plan.ts';

const stage = (process.env['MUTATION_STAGE'] ?? 'pure') as Stage;
const tests = stages[stage];

/** Files one after the other in the order of the plan, in one process. */
class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => tests.indexOf(relative(root, moduleId));
    return files.toSorted((a, b) => place(a) - place(b));
  }
}

const files = instrumented();
// The global setup is loaded here, in another process than the tests: of no mutant.
Object.assign(globalThis, { __m: () => false, __l: (condition: unknown) => condition });

export default defineConfig({
  root,
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  plugins: [
    {
      name: 'mutants',
      enforce: 'pre',
      transform(_code, id) {
        const file = files.get(relative(root, id));
        return file && { code: file.text, map: null };
      },
    },
  ],
  test: {
    include: [...tests],
    testTimeout: 15_000,
    hookTimeout: 30_000,
    // The test runner itself is what is watched from outside: see run.ts.
    teardownTimeout: 2000,
    pool: 'forks',
    execArgv: ['--expose-gc'],
    maxWorkers: 1,
    fileParallelism: false,
    isolate: false,
    setupFiles: ['./packages/server/test/mutation/seed.ts'],
    runner: './packages/server/test/mutation/runner.ts',
    sequence: { sequencer: InOrder },
    globalSetup: stage === 'pure' ? [] : ['./packages/server/test/support/databases/global-setup.ts'],
    reporters: ['dot'],
  },
});
