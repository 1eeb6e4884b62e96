import { defineConfig } from 'vitest/config';

/** The recipes of CONTRIBUTING.md on a copy of the repository: too slow for every run of the tests. */
export default defineConfig({
  test: { include: ['test/recipes.test.ts'], testTimeout: 600_000, hookTimeout: 60_000 },
});
