import { defineConfig } from 'vitest/config';

/** Tests whose pages the project `browser` shows in one look each, and `browser-exhaustive` in every look. */
const withLooks = [
  'packages/console/test/browser/{first-user,pages,states}.test.ts',
  'packages/server/test/browser/{account,company-journey,passkeys,project-sign-in,sign-in-pages,start}.test.ts',
];
const exhaustive = 'packages/*/test/browser/**/*.exhaustive.test.ts';

export default defineConfig({
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    globalSetup: [
      './scripts/generated-client.mjs',
      './packages/server/test/support/databases/global-setup.ts',
      './packages/console/test/support/demo-data.ts',
    ],
    setupFiles: './packages/server/test/browser/close-contexts.ts',
    // On a busy machine, a page can take seconds for what is otherwise instant.
    testTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 180_000,
    // Pages spend half of the time waiting, so three workers keep two cores busy.
    maxWorkers: 3,
    // Test files in the same worker share a browser.
    isolate: false,
    projects: [
      {
        extends: true,
        test: { name: 'browser', include: ['packages/*/test/browser/**/*.test.ts'], exclude: [exhaustive] },
      },
      {
        extends: true,
        test: {
          name: 'browser-exhaustive',
          include: [...withLooks, exhaustive],
          env: { BROWSER_LOOKS: 'all' },
          testTimeout: 1_800_000,
          hookTimeout: 1_800_000,
        },
      },
    ],
  },
});
