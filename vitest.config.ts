import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/**
 * Tests without a database or always with an embedded one, of what no database changes, and of how long work
 * blocks the event loop, which it does longest with an embedded one: once is enough.
 */
const sameOnPostgres = [
  'packages/{browser,cli,console,decision,react}/**',
  'packages/node/src/**',
  'packages/node/test/{examples,middleware}/**',
  'packages/node/test/*.test.ts',
  'packages/server/test/contract/openapi*.test.ts',
  'packages/server/test/faults/log-output.test.ts',
  'packages/server/test/security/{snapshot-size,wide-roles,worst-values}.test.ts',
  'test/**',
];

export default defineConfig({
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: [
      'packages/*/test/browser/**',
      'packages/server/test/rls/**',
      'test/clients/**',
      'test/packages/**',
      'test/recipes.test.ts',
      ...(process.env['TEST_DATABASE_URL'] ? sameOnPostgres : []),
    ],
    // Generous, because a machine with other work is several times slower; a test that hangs is found all the same.
    testTimeout: 90_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 20_000 } },
    // Answers to a sign-in wait for a quarter of a second, so that twice as many files run as there are cores.
    maxWorkers: 2 * availableParallelism(),
    // Loading the modules again would cost each file two seconds. State of a test lives in its app, not in modules.
    isolate: false,
    reporters: ['default', './packages/server/test/support/left-out.ts'],
    globalSetup: './packages/server/test/support/global-setup.ts',
  },
});
