import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst, TaggedStories } from './test/support/longest-first.ts';
import { isTagged, stories, tags, testFilesIn } from './test/support/stories.ts';

/**
 * Three suites, determined by file name (CONTRIBUTING.md, "Tests"):
 *
 * - `fast`: every other `*.test.ts`. Combines independent factors pairwise, and runs each scenario over one transport.
 * - `exhaustive`: `*.exhaustive.test.ts`, and the files that import `breadth.ts`, with every combination. With
 *   TEST_DATABASE_URL, also the other fast tests, as far as they may depend on the database.
 * - `processes`: `*.process.test.ts`, which start, stop and kill real processes.
 */
const onPostgres = Boolean(process.env['TEST_DATABASE_URL']);

/** Tests without a database, always on the embedded one, or whose result doesn't depend on the database. */
const sameOnPostgres = [
  'packages/{browser,cli,console,decision,react}/**/!(*.exhaustive).test.{ts,tsx}',
  'packages/node/src/**',
  'packages/node/test/{examples,middleware}/**',
  'packages/node/test/{*,local/customers,local/local-service}.test.ts',
  'packages/server/test/contract/{conventions,openapi*,spec,spellings}.test.ts',
  'packages/server/test/decisions/local-decisions.test.ts',
  'packages/server/test/security/{wide-roles,worst-values}.test.ts',
  'test/**',
];

/** CI runs only the tagged tests of stories on PostgreSQL. */
const tagged = onPostgres && Boolean(process.env['CI']);

/** Process tests whose result doesn't depend on the database. CI runs them on PostgreSQL only, where a service starts faster. */
const onlyOnPostgresInCi = [
  'packages/server/test/faults/{log-output,policy-kill,refresh-races}.process.test.ts',
  'packages/server/test/journeys/dev-seed.process.test.ts',
];

/** Tests with their own configuration files. */
const elsewhere = [
  'packages/*/test/browser/**',
  'packages/server/test/rls/**',
  'test/clients/**',
  'test/packages/**',
  'test/recipes.test.ts',
];

const filesNamed = (end: string): string[] =>
  ['packages/*/src', 'packages/*/test', 'test'].map((folder) => `${folder}/**/*${end}`);
const tests = filesNamed('.test.ts');
const exhaustiveTests = filesNamed('.exhaustive.test.ts');
const processTests = filesNamed('.process.test.ts');

/** Files that test more combinations in the exhaustive suite. */
const broad = (): string[] =>
  testFilesIn(['packages/server/src', 'packages/server/test', 'packages/node/test']).filter((path) =>
    /\/breadth\.ts'/.test(readFileSync(path, 'utf8')),
  );

const globalSetup = [
  './scripts/generated-client.mjs',
  './packages/server/test/support/databases/global-setup.ts',
];

export default defineConfig({
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    // Generous, because a busy machine is several times slower. A test that hangs still fails.
    testTimeout: 90_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
    // One more than there are cores, because some tests wait for timers and sockets.
    maxWorkers: availableParallelism() + 1,
    // Results of the embedded database are short-lived garbage. Collecting it less often saves a tenth of the time.
    execArgv: ['--max-semi-space-size=64'],
    // Reloading the modules would cost each file two seconds. Tests keep their state in the app, not in modules.
    isolate: false,
    sequence: { sequencer: tagged ? TaggedStories : LongestFirst },
    tags,
    reporters: ['default', './packages/server/test/support/app/left-out.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: tests,
          exclude: [...elsewhere, ...exhaustiveTests, ...processTests],
          globalSetup,
          provide: { breadth: 'pairwise' },
        },
      },
      {
        extends: true,
        test: {
          name: 'exhaustive',
          include: onPostgres ? tests : [...exhaustiveTests, ...broad()],
          exclude: [
            ...elsewhere,
            ...processTests,
            ...(onPostgres ? sameOnPostgres : []),
            ...(tagged ? stories().filter((path) => !isTagged(path)) : []),
          ],
          globalSetup,
          provide: { breadth: 'whole' },
        },
      },
      {
        extends: true,
        test: {
          name: 'processes',
          include: processTests,
          exclude: [
            ...elsewhere,
            ...(onPostgres ? sameOnPostgres : []),
            ...(!onPostgres && process.env['CI'] ? onlyOnPostgresInCi : []),
          ],
          globalSetup,
          provide: { breadth: 'pairwise' },
        },
      },
    ],
  },
});
