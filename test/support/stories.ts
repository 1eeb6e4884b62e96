import { readdirSync, readFileSync } from 'node:fs';

/** Tags of tests beside the code of the service: which of them CI runs on PostgreSQL (docs/testing.md). */
export const tags = [
  {
    name: 'race',
    description: 'Sends requests at once that may collide. On PostgreSQL, each may have its own connection.',
  },
  { name: 'exhaustive', description: 'Runs in the exhaustive suite only, or needs PostgreSQL or Redis.' },
  { name: 'independent', description: 'Waits for several calls at once, which cannot collide.' },
];

export const inCi = ['race or exhaustive'];

/** Folders that contain SQL or manage transactions; the other folders call these. */
const aboutTheDatabase = /^packages\/server\/src\/(access|db|events)\//;

export const testFilesIn = (folders: readonly string[]): string[] =>
  folders
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((path) => `${folder}/${String(path)}`))
    .filter((path) => path.endsWith('.test.ts'));

/** Scenarios of the other folders. `contract/transports` runs every operation on PostgreSQL, one at a time. */
export const stories = (): string[] =>
  testFilesIn(['packages/server/src']).filter(
    (path) => !aboutTheDatabase.test(path) && !path.endsWith('.exhaustive.test.ts'),
  );

/** Whether CI runs some of its tests on PostgreSQL. */
export const isTagged = (path: string): boolean =>
  /\btags: '(?:race|exhaustive)'/.test(readFileSync(path, 'utf8'));
