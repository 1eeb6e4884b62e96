import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

/**
 * Follows recipes of CONTRIBUTING.md on a copy of the repository: the files that a recipe names are enough for the
 * compiler, the migration and the reference. A file that a recipe forgets fails here.
 */
const root = join(import.meta.dirname, '..');
const server = 'packages/server';
const noun = `${server}/src/schema/rights/role.ts`;
const operations = `${server}/src/rights/roles/operations.ts`;
const catalogue = `${server}/src/webhooks/event-types/catalogue.ts`;
const table = `${server}/test/decisions/built-in-table.ts`;

let copy: string;
let original: ReadonlyMap<string, string>;
const edited = new Map<string, Set<string>>();

const run = (command: string, ...args: string[]): string => {
  try {
    return execFileSync(command, args, { cwd: copy, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
};
const read = (path: string): string => readFileSync(join(copy, path), 'utf8');
const filesIn = (folder: string): Map<string, string> =>
  new Map(readdirSync(join(copy, folder)).map((name) => [name, `${folder}/${name}`]));

/** Inserts text after a passage that occurs once in the file. */
function edit(recipe: string, path: string, behind: string, added: string): void {
  const text = read(path);
  expect(text.split(behind).length, `${path} has ${behind} once`).toBe(2);
  writeFileSync(
    join(copy, path),
    text.replace(behind, () => behind + added),
  );
  edited.set(recipe, (edited.get(recipe) ?? new Set()).add(path));
}

const listed = (): string[] =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\0')
    .filter(Boolean);

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'doorward-recipes-'));
  const files = new Map<string, string>();
  for (const path of new Set(listed())) {
    cpSync(join(root, path), join(copy, path));
    files.set(path, read(path));
  }
  original = files;
  const link = (path: string): void => symlinkSync(join(root, path), join(copy, path));
  // Libraries are those of the repository, but our own packages are those of the copy.
  mkdirSync(join(copy, 'node_modules/@doorward'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '@doorward' && name !== '.cache') link(`node_modules/${name}`);
  for (const name of readdirSync(join(root, 'node_modules/@doorward')))
    symlinkSync(join(copy, 'packages', name), join(copy, 'node_modules/@doorward', name));
  // npm installs another version of a package beside the workspace that needs it.
  for (const folder of readdirSync(join(root, 'packages')).map((name) => `packages/${name}/node_modules`))
    if (existsSync(join(root, folder))) link(folder);
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

test('a field: its noun file, and a migration with a name', () => {
  const recipe = 'a field of a noun';
  edit(recipe, noun, `description: textColumn('description'),\n`, `    color: textColumn('color'),\n`);
  edit(
    recipe,
    noun,
    `  fields: {\n`,
    `    color: optional(text(1, 50).nullable().meta({ description: 'Its color in lists.', examples: ['teal'] }), null),\n`,
  );
  const before = filesIn(`${server}/migrations`);
  run('npm', 'run', '--silent', 'migration', '--', '--name=role_color');
  const made = [...filesIn(`${server}/migrations`)].filter(([name]) => !before.has(name));
  expect(made.map(([name]) => name)).toEqual([expect.stringMatching(/^\d{4}_role_color\.sql$/)]);
  expect(read(made[0]?.[1] ?? '').trim()).toBe('ALTER TABLE "roles" ADD COLUMN "color" text;');
});

test('an operation with a permission and an event: its file, a line in the catalogue of events, and the table that tests compare with', () => {
  const recipe = 'an operation with a permission and an event';
  edit(
    recipe,
    operations,
    `    await assertUnassigned(tx, input.id, services.clock.now());\n    return removed;\n  },\n});\n`,
    `
export const archiveRole = mutation({
  rest: 'POST /roles/:id/archive',
  whileImpersonating: 'allowed',
  access: 'Role:Archive',
  summary: 'Archive a role',
  tenants: writable,
  input: { scope: Scope, id: uuid },
  output: Role.schema,
  target: Role,
  codes: ['SYSTEM_ENTITY'],
  emits: 'role.archived',
  run: async ({ db, input }) => (await db.update(Role, input.id, { color: 'gray' })).row,
});
`,
  );
  const event = `  eventType('role.archived', 'A role was archived.', publicFields(Role), example.role),\n`;
  edit(
    recipe,
    catalogue,
    `  ...createUpdateDelete('role', 'A role', publicFields(Role), example.role),\n`,
    event,
  );
  edit(recipe, table, `Role: 'Query, Create, Update, Delete`, `, Archive`);
});

test('both are in the client, pass the compiler, and the reference shows them', () => {
  run('npm', 'run', '--silent', 'client');
  expect(read('packages/node/src/client/generated/table.ts')).toContain(
    "archiveRole: 'POST /roles/:id/archive ",
  );
  run('npx', 'tsc', '--noEmit');
  run('npm', 'run', '--silent', 'reference');
  const shown = (page: string): string => read(`docs/reference/${page}`);
  expect(shown('types.md')).toContain('Its color in lists.');
  expect(shown('roles.md')).toContain('/roles/:id/archive');
  expect(shown('schema.graphql')).toContain('archiveRole(');
  expect(shown('event-types.md')).toContain('role.archived');
  expect(shown('built-in-roles.md')).toContain('Archive');
});

test('nothing else has changed except generated files', () => {
  // A migration replaces the snapshot of the one before.
  const isChanged = (path: string, text: string) => !existsSync(join(copy, path)) || read(path) !== text;
  const changed = [...original].filter(([path, text]) => isChanged(path, text)).map(([path]) => path);
  const byHand = new Set([...edited.values()].flatMap((paths) => [...paths]));
  const generated = changed.filter((path) => !byHand.has(path));
  expect(
    generated.filter(
      (path) =>
        !/^(docs\/reference|packages\/server\/migrations|packages\/cli\/src\/(nouns|policy)\/rules)\//.test(
          path,
        ),
    ),
  ).toEqual([]);
  for (const [recipe, paths] of edited)
    process.stdout.write(`${recipe}: ${paths.size} files by hand (${[...paths].join(', ')})\n`);
  expect([...edited.values()].map(({ size }) => size)).toEqual([1, 3]);
});
