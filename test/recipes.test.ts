import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  errorCode,
  event,
  field,
  operation,
  permission,
  shownField,
  variable,
} from './support/recipes/declaration-recipes.ts';
import { consolePage, hostedPage, mail } from './support/recipes/page-recipes.ts';
import { RepositoryCopy, type Steps } from './support/recipes/repository-copy.ts';

/**
 * Follows the recipes of CONTRIBUTING.md on a copy of the repository: the files that a recipe names are enough for the
 * compiler, the migration, the reference and quick tests. A file that a recipe forgets fails here, and so does a recipe that
 * needs more files than it says.
 */
const guide = readFileSync(join(import.meta.dirname, '../CONTRIBUTING.md'), 'utf8');
const copy = new RepositoryCopy();
afterAll(() => copy.delete());

const plays: Readonly<Record<string, (steps: Steps) => void>> = {
  'Add a field': field,
  'Show a field in the console': shownField,
  'Add an operation': operation,
  'Add an event': event,
  'Add a permission': permission,
  'Add an error code': errorCode,
  'Add a variable': variable,
  'Add a page to the console': consolePage,
  'Add a hosted page': hostedPage,
  'Add a mail': mail,
};

interface Counts {
  readonly files: number;
  readonly translations: number;
  readonly tests: number;
}

/** What the line below the heading of a recipe says: `Touches 1 file, 3 translations, a migration and 2 tests`. */
function statedCounts(recipe: string): Counts {
  const [, line = ''] = guide.split(`\n### ${recipe}\n\n`)[1]?.match(/^Touches (.*?)[.:]/) ?? [];
  const number = (word: string): number => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0);
  return { files: number('file'), translations: number('translation'), tests: number('test') };
}

function playedCounts(paths: ReadonlySet<string>): Counts {
  const isTest = (path: string): boolean => /\.test\.ts$|\/test\//.test(path);
  const isTranslation = (path: string): boolean => /\/i18n\/(de|es|fr)\.ts$/.test(path);
  const all = [...paths];
  return {
    files: all.filter((path) => !isTest(path) && !isTranslation(path)).length,
    translations: all.filter(isTranslation).length,
    tests: all.filter(isTest).length,
  };
}

test.each(Object.entries(plays))('%s', (recipe, play) => play(copy.stepsOf(recipe)));

test('all are in the client, pass the compiler, and the reference shows them', () => {
  copy.run('npm', 'run', '--silent', 'client');
  expect(copy.read('packages/node/src/client/generated/table.ts')).toContain(
    "archiveRole: 'POST /roles/:id/archive ",
  );
  const compiler = 'node_modules/@typescript/native/bin/tsc';
  copy.run('node', compiler, '--noEmit');
  copy.run('node', compiler, '--noEmit', '-p', 'packages/console');
  copy.run('npm', 'run', '--silent', 'reference');
  const shown = (page: string): string => copy.read(`docs/reference/${page}`);
  expect(shown('types.md')).toContain('Its color in lists.');
  expect(shown('roles.md')).toContain('/roles/:id/archive');
  expect(shown('schema.graphql')).toContain('archiveRole(');
  expect(shown('event-types.md')).toContain('role.archived');
  expect(shown('built-in-roles.md')).toContain('Archive');
  expect(copy.read('packages/cli/src/nouns/rules/input-fields.ts')).toContain("color: 'text'");
});

test('quick tests of the repository accept them', () => {
  copy.run('npx', 'vitest', 'run', '--project', 'fast', 'packages/server/src/config/config.test.ts', '-u');
  expect(copy.read('.env.example')).toContain('EXAMPLE_SECONDS');
  const quick = [
    'test/architecture',
    'test/circles',
    'packages/server/src/i18n',
    'packages/console/test/source',
    'packages/server/src/webhooks/event-types/',
  ];
  copy.run('npx', 'vitest', 'run', '--project', 'fast', ...quick);
});

test('nothing else has changed except generated files', () => {
  const generated =
    /^(docs\/reference|packages\/server\/migrations|packages\/cli\/src\/(nouns|policy)\/rules)\/|^\.env\.example$/;
  expect(copy.generated().filter((path) => !generated.test(path))).toEqual([]);
});

test('every recipe says how many files it touches', () => {
  const recipes = [...(guide.split('\n## Recipes\n')[1]?.split('\n## ')[0] ?? '').matchAll(/^### (.+)$/gm)];
  expect(recipes.map(([, recipe]) => recipe).sort()).toEqual(Object.keys(plays).sort());
  for (const [recipe, paths] of copy.edited) {
    const [stated, played] = [statedCounts(recipe), playedCounts(paths)];
    process.stdout.write(`${recipe}: ${JSON.stringify(played)} (${[...paths].join(', ')})\n`);
    expect(stated, recipe).toMatchObject({ files: played.files, translations: played.translations });
    // A recipe also asks for tests of what a change does, which need no place of their own here.
    expect(played.tests, recipe).toBeLessThanOrEqual(stated.tests);
  }
});
