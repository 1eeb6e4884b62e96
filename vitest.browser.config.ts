import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['packages/*/test/browser/**/*.test.ts'],
    globalSetup: './packages/server/test/support/global-setup.ts',
    // On a busy machine a page takes seconds for what it does in a moment otherwise.
    testTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 180_000,
    // Pages wait most of the time: two files of tests at once.
    maxWorkers: 2,
  },
});
