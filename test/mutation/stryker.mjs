/**
 * The options of Stryker that all parts have in common. A part has its own tests and its own results; results of
 * unchanged code and tests are used again.
 */
export const options = (part, mutate) => ({
  mutate,
  testRunner: 'vitest',
  vitest: { configFile: `test/mutation/${part}.vitest.ts`, related: false },
  plugins: ['@stryker-mutator/vitest-runner', './test/mutation/texts.mjs'],
  ignorers: ['texts'],
  coverageAnalysis: 'perTest',
  concurrency: 2,
  timeoutMS: 30_000,
  dryRunTimeoutMinutes: 15,
  incremental: true,
  incrementalFile: `node_modules/.cache/stryker/${part}.json`,
  // Not below node_modules, where Vitest loads files only once, so that the hooks of Stryker would miss most tests.
  tempDirName: 'dist/mutation',
  ignorePatterns: ['data', 'dist', 'docs', 'bench', 'examples', 'packages/console'],
  reporters: ['clear-text', 'progress-append-only', 'html'],
  htmlReporter: { fileName: `dist/mutation-${part}.html` },
  clearTextReporter: { allowColor: false, logTests: false },
  thresholds: { high: 95, low: 92, break: 92 },
});
