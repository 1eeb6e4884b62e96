import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

/**
 * Three suites, which the names of files define (CONTRIBUTING.md, "Tests"):
 *
 * - `fast`: every `*.test.ts`. Products of independent factors are covered by pairs, and a story runs over one transport.
 * - `exhaustive`: the same products as a whole, and `*.exhaustive.test.ts`. With TEST_DATABASE_URL everything that a
 *   database could change.
 * - `processes`: `*.process.test.ts`, which start, stop and kill real processes.
 */
const onPostgres = Boolean(process.env['TEST_DATABASE_URL']);

/** Tests without a database or always with an embedded one, and of what no database changes. */
const sameOnPostgres = [
  'packages/{browser,cli,console,decision,react}/**',
  'packages/node/src/**',
  'packages/node/test/{examples,middleware}/**',
  'packages/node/test/*.test.ts',
  'packages/server/test/contract/openapi*.test.ts',
  'packages/server/test/faults/log-output.process.test.ts',
  'packages/server/test/security/{snapshot-size.exhaustive,wide-roles,worst-values}.test.ts',
  'test/**',
];

/** These have configurations of their own. */
const elsewhere = [
  'packages/*/test/browser/**',
  'packages/server/test/rls/**',
  'test/clients/**',
  'test/packages/**',
  'test/recipes.test.ts',
];

const tests = ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'test/**/*.test.ts'];
const exhaustiveTests = '**/*.exhaustive.test.ts';
const processTests = '**/*.process.test.ts';

/** Files whose breadth differs between the suites. */
const broad = (): string[] =>
  ['packages/server/src', 'packages/server/test', 'packages/node/test']
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((path) => `${folder}/${String(path)}`))
    .filter((path) => path.endsWith('.test.ts') && /\/breadth\.ts'/.test(readFileSync(path, 'utf8')));

export default defineConfig({
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    // Generous, because a machine with other work is several times slower; a test that hangs is found all the same.
    testTimeout: 90_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
    // One more than there are processors, because some tests wait for timers and sockets.
    maxWorkers: availableParallelism() + 1,
    // Answers of the embedded database are short-lived memory: fewer collections save a tenth of the time.
    execArgv: ['--max-semi-space-size=64'],
    // Loading the modules again would cost each file two seconds. State of a test lives in its app, not in modules.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './packages/server/test/support/left-out.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: tests,
          exclude: [...elsewhere, exhaustiveTests, processTests],
          globalSetup: './packages/server/test/support/global-setup.ts',
          provide: { breadth: 'pairwise' },
        },
      },
      {
        extends: true,
        test: {
          name: 'exhaustive',
          include: onPostgres ? tests : [exhaustiveTests, ...broad()],
          exclude: [...elsewhere, processTests, ...(onPostgres ? sameOnPostgres : [])],
          globalSetup: './packages/server/test/support/global-setup.ts',
          provide: { breadth: 'whole' },
        },
      },
      {
        extends: true,
        test: {
          name: 'processes',
          include: [processTests],
          exclude: [...elsewhere, ...(onPostgres ? sameOnPostgres : [])],
          globalSetup: './packages/server/test/support/global-setup.ts',
          provide: { breadth: 'pairwise' },
        },
      },
    ],
  },
});
