import { readdirSync, readFileSync } from 'node:fs';

/** Tags that decide which tests next to the code CI runs on PostgreSQL (docs/testing.md). */
export const tags = [
  {
    name: 'race',
    description:
      'Sends concurrent requests that may collide. On PostgreSQL, each may have its own connection.',
  },
  { name: 'exhaustive', description: 'Is skipped by the fast suite, or needs PostgreSQL or Redis.' },
  { name: 'independent', description: 'Waits for concurrent calls that cannot collide.' },
];

export const inCi = ['race or exhaustive'];

/** Folders that contain SQL or manage transactions; the other folders call these. */
const aboutTheDatabase = /^packages\/server\/src\/(access|db|events)\//;

export const testFilesIn = (folders: readonly string[]): string[] =>
  folders
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((path) => `${folder}/${String(path)}`))
    .filter((path) => path.endsWith('.test.ts'));

/**
 * Tests next to the code, except in those folders. CI doesn't need them all on PostgreSQL, because `contract/transports` runs
 * every operation there, one at a time.
 */
export const stories = (): string[] =>
  testFilesIn(['packages/server/src']).filter(
    (path) => !aboutTheDatabase.test(path) && !path.endsWith('.exhaustive.test.ts'),
  );

/** Whether CI runs some of its tests on PostgreSQL. */
export const isTagged = (path: string): boolean =>
  /\btags: '(?:race|exhaustive)'/.test(readFileSync(path, 'utf8'));
