import { relative } from 'node:path';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { FailedFiles } from './failed-files.ts';

/** Vitest for the given test files, which run one after the other in their order: quick ones first. */
export function testsInOrder(tests: readonly string[], more: ViteUserConfig['test'] = {}): ViteUserConfig {
  class InOrder extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const position = ({ moduleId }: TestSpecification) => tests.indexOf(relative(process.cwd(), moduleId));
      return files.toSorted((a, b) => position(a) - position(b));
    }
  }
  return defineConfig({
    resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
    test: {
      include: [...tests],
      isolate: false,
      testTimeout: 30_000,
      hookTimeout: 60_000,
      setupFiles: ['test/mutation/seed.ts'],
      reporters: [new FailedFiles()],
      sequence: { sequencer: InOrder },
      ...more,
    },
  });
}
