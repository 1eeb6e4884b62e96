import { defineConfig } from 'vitest/config';
import { withoutFilter } from './test/second-wall/without-filter.ts';

/** The tenancy matrix on PostgreSQL, of a service that has lost its tenant filter (decision 0018). */
export default defineConfig({
  plugins: [withoutFilter()],
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: [
      'test/second-wall/**/*.test.ts',
      'test/contract/guards.test.ts',
      'test/contract/tenancy.test.ts',
    ],
    testNamePattern: /second wall|tenancy matrix|a foreign row in an own scope|afterwards/,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    isolate: false,
    globalSetup: './test/support/global-setup.ts',
    provide: { secondWall: true },
  },
});
