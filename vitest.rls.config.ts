import { defineConfig } from 'vitest/config';
import { withoutFilter } from './packages/server/test/rls/without-filter.ts';

/** The tenancy matrix on PostgreSQL, of a service that has lost its tenant filter (decision 0018). */
export default defineConfig({
  plugins: [withoutFilter()],
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: [
      'packages/server/test/rls/**/*.test.ts',
      'packages/server/test/contract/guards.test.ts',
      'packages/server/test/contract/tenancy.test.ts',
      'packages/server/test/contract/tenancy-grants.test.ts',
    ],
    testNamePattern:
      /row-level security|tenancy matrix|in a foreign scope|with a foreign row in the own scope|a foreign row in a scope of the caller|afterwards/,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    isolate: false,
    globalSetup: [
      './scripts/generated-client.mjs',
      './packages/server/test/support/databases/global-setup.ts',
    ],
    provide: { withoutTenantFilter: true },
  },
});
