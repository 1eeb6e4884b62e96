import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { instrument, type Instrumented, type Mutant } from './instrument.ts';

/** What is mutated, and by which tests: those that need no database first, of the others the quick ones. */
export const root = process.cwd();

export const scope: readonly string[] = [
  ...readdirSync(join(root, 'src/access'))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => `src/access/${name}`),
  'src/kernel/scope.ts',
];

/** Of pure functions: what is left alive here calls for a case in a table, and not for a database. */
const pure: readonly string[] = [
  'src/access/conditions-parse.test.ts',
  'src/access/conditions-eval.test.ts',
  'src/access/conditions.test.ts',
  'src/access/conditions-failure.test.ts',
  'src/access/evaluate.test.ts',
  'src/access/subset.test.ts',
  'src/access/effective.test.ts',
  'src/access/impact.test.ts',
  'src/access/cidrs.test.ts',
  'src/access/guard.test.ts',
  'src/access/credentials.test.ts',
  'src/access/caller-watch.test.ts',
  'src/access/built-in.test.ts',
  'src/kernel/scope.test.ts',
  'src/transport/network.test.ts',
  'src/access/explain.test.ts',
  'test/properties/conditions.test.ts',
];

/** Of what reads the database: which files of src/access each is for. */
const onDatabase: Readonly<Record<string, readonly string[]>> = {
  'src/access/resolve.test.ts': ['resolve', 'grants', 'holdings'],
  'src/access/loading.test.ts': ['credentials', 'giving', 'grants', 'holdings', 'known-keys'],
  'src/access/surroundings.test.ts': ['surroundings', 'grants'],
  'src/access/rehearsal.test.ts': ['rehearsal', 'reach', 'grants', 'grants-of-many'],
  'src/access/role-paths.test.ts': ['role-paths'],
  'src/access/related.test.ts': ['guard'],
  'src/features/authorization/explanation.test.ts': ['surroundings', 'unknown-pair'],
  'src/features/memberships/outgrown-keys.test.ts': ['grants-of-many'],
  'src/transport/cors.test.ts': ['app-origins'],
  'src/features/project-sign-in/app-rights.test.ts': ['credentials', 'resolve'],
};

/** Those of them that leave the world they made as it was, and remember nothing: it need not be made anew for a mutant. */
export const standing: ReadonlySet<string> = new Set([
  'src/access/resolve.test.ts',
  'src/access/loading.test.ts',
  'src/access/surroundings.test.ts',
  'src/access/rehearsal.test.ts',
  'src/features/authorization/explanation.test.ts',
]);

export const stages = { pure, onDatabase: Object.keys(onDatabase) } as const;
export type Stage = keyof typeof stages;

/** Whether a file of tests is for the mutants of a file. */
export const isFor = (test: string, file: string): boolean =>
  onDatabase[test]?.some((name) => file === `src/access/${name}.ts`) ?? true;

/** Each file of the scope with its mutants in it. */
export function instrumented(): ReadonlyMap<string, Instrumented> {
  const all = new Map<string, Instrumented>();
  let id = 1;
  for (const file of scope) {
    const one = instrument(file, readFileSync(join(root, file), 'utf8'), id);
    all.set(file, one);
    id += one.mutants.length;
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

export function readLines(path: string): Line[] {
  if (!existsSync(path)) return [];
  const whole = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return whole.map((line) => JSON.parse(line) as Line);
}
