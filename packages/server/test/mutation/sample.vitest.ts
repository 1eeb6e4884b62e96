import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import base from '../../../../vitest.config.ts';
import { root } from './plan.ts';
import type { Sample } from './sample-files.ts';

/** Runs the suites of vitest.config.ts against the sources with faults; used by sample.ts. */
const { texts } = JSON.parse(readFileSync(process.env['MUTATION_SAMPLE'] ?? '', 'utf8')) as Sample;
// The global setup loads the same sources in this process, so it needs the functions too; no fault is active here.
Object.assign(globalThis, { __m: () => false, __l: (condition: unknown) => condition });

const faults = {
  name: 'faults',
  enforce: 'pre' as const,
  transform(_code: string, id: string) {
    const code = texts[relative(root, id)];
    return code === undefined ? undefined : { code, map: null };
  },
};

const { projects = [], ...test } = base.test ?? {};
const limits = {
  maxWorkers: Number(process.env['MUTATION_WORKERS'] ?? test.maxWorkers),
  // Some faults keep a test waiting until its time is up.
  testTimeout: 60_000,
  hookTimeout: 90_000,
};
export default {
  ...base,
  root,
  test: {
    ...test,
    ...limits,
    // Each fault starts the suite again, with the same sources: without the cache, most of the time is compilation.
    experimental: { ...test.experimental, fsModuleCache: true },
    reporters: ['default', ['json', { outputFile: process.env['MUTATION_REPORT'] ?? '/dev/null' }]],
    projects: (projects as { test: object }[]).map((project) => ({
      ...project,
      root,
      plugins: [faults],
      test: { ...project.test, ...limits, setupFiles: ['packages/server/test/mutation/sample-setup.ts'] },
    })),
  },
};
