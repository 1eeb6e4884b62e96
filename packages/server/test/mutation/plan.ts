import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { instrument, type Instrumented, type Mutant } from './instrument.ts';

/** What is mutated, and by which tests: those that need no database first, of the others the quick ones. */
export const root = process.cwd();

/** What reads the database in packages/server/src/access. Stryker mutates the rest (test/mutation). */
const names = [
  'credentials/api-key-cache',
  'credentials/app-origins',
  'credentials/credentials',
  'delegation/delegation',
  'dry-run/affected-subjects',
  'dry-run/dry-run',
  'dry-run/grants-of-many',
  'explain/explain-context',
  'explain/unknown-pair',
  'grants/grants',
  'grants/permission-index-cache',
  'grants/role-paths',
  'grants/role-permissions',
  'load-scope',
  'resolve',
] as const;
export const scope: readonly string[] = names.map((name) => `packages/server/src/access/${name}.ts`);

/** Of pure functions: what is left alive here calls for a case in a table, and not for a database. */
const pure: readonly string[] = [
  'packages/server/src/access/guard.test.ts',
  'packages/server/src/access/credentials/credentials.test.ts',
];

/** Of what reads the database: which files of packages/server/src/access each is for. */
const onDatabase: Readonly<Record<string, readonly string[]>> = {
  'packages/server/src/access/resolve.test.ts': ['resolve', 'grants', 'permission-index-cache'],
  'packages/server/src/access/grants/loading.test.ts': [
    'credentials',
    'delegation',
    'grants',
    'permission-index-cache',
    'api-key-cache',
  ],
  'packages/server/src/access/explain/explain-context.test.ts': ['explain-context', 'grants'],
  'packages/server/src/access/dry-run/dry-run.test.ts': [
    'dry-run',
    'affected-subjects',
    'grants',
    'grants-of-many',
  ],
  'packages/server/src/access/grants/role-paths.test.ts': ['role-paths'],
  'packages/server/src/access/related.test.ts': ['guard'],
  'packages/server/src/rights/authorization/explanation.test.ts': ['explain-context', 'unknown-pair'],
  'packages/server/src/members/excess-keys/excess-keys.test.ts': ['grants-of-many'],
  'packages/server/src/http/cors.test.ts': ['app-origins'],
  'packages/server/src/sign-in/authorize/app-rights.test.ts': ['credentials', 'resolve'],
};

/** Those of them that leave the world they made as it was, and remember nothing: it need not be made again for a mutant. */
export const kept: ReadonlySet<string> = new Set([
  'packages/server/src/access/resolve.test.ts',
  'packages/server/src/access/grants/loading.test.ts',
  'packages/server/src/access/explain/explain-context.test.ts',
  'packages/server/src/access/dry-run/dry-run.test.ts',
  'packages/server/src/rights/authorization/explanation.test.ts',
]);

export const stages = { pure, onDatabase: Object.keys(onDatabase) } as const;
export type Stage = keyof typeof stages;

/** Whether a file of tests is for the mutants of a file. */
export const isFor = (test: string, file: string): boolean =>
  onDatabase[test]?.some((name) => file.endsWith(`/${name}.ts`)) ?? true;

/** Each file of the scope with its mutants in it. */
export function instrumented(): ReadonlyMap<string, Instrumented> {
  const all = new Map<string, Instrumented>();
  let id = 1;
  for (const file of scope) {
    const instrumented = instrument(file, readFileSync(join(root, file), 'utf8'), id);
    all.set(file, instrumented);
    id += instrumented.mutants.length;
  }
  return all;
}

/** Says the same after a change elsewhere in the file. */
export const keyOf = ({ file, original, replacement, nth }: Mutant): string =>
  `${file}: ${original} → ${replacement} (${nth})`;

/** What is written down while it runs, a line of JSON each, so that a run that was ended goes on where it was. */
export type Line =
  | { readonly kind: 'covered'; readonly test: string; readonly mutants: readonly string[] }
  | { readonly kind: 'tried'; readonly mutant: string; readonly test: string }
  | {
      readonly kind: 'killed';
      readonly mutant: string;
      readonly test: string;
      readonly by: string;
      readonly why: string;
    }
  | { readonly kind: 'lived'; readonly mutant: string; readonly test: string }
  | { readonly kind: 'finished'; readonly test: string };

/** The whole lines of a file; none if it does not exist. A line that an ended run left unfinished does not count. */
export function readLines<T = Line>(path: string): T[] {
  if (!existsSync(path)) return [];
  const whole = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return whole.map((line) => JSON.parse(line) as T);
}
