import { defineConfig } from 'vitest/config';

/** Clients of other makers, unmodified, that sign in over HTTP; installed from their own lock file. */
export default defineConfig({
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['test/clients/**/*.test.ts'],
    exclude: ['test/clients/node_modules/**'],
    globalSetup: [
      './scripts/generated-client.mjs',
      './packages/server/test/support/databases/global-setup.ts',
      './test/clients/support/install.ts',
    ],
    testTimeout: 120_000,
    expect: { poll: { timeout: 10_000 } },
    hookTimeout: 60_000,
    maxWorkers: 1,
  },
});
