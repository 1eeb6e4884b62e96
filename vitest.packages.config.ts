import { defineConfig } from 'vitest/config';

/** The packages as they are published: built, packed, and installed from the registry's libraries. */
export default defineConfig({
  test: {
    include: ['test/packages/**/*.test.ts'],
    globalSetup: './test/packages/support/installation.ts',
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 1,
  },
});
