import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { emptyFolder } from '../support/folder.ts';
import { doorward } from '../support/run/doorward.ts';
import { startWorld, type World } from '../support/service/world.ts';

/** How the files of a policy are read: what is kept as written, and where a fault is. */
let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.service.close());

async function folderOf(files: Readonly<Record<string, string | Buffer>>): Promise<string> {
  const cwd = await emptyFolder();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, name)), { recursive: true });
    await writeFile(join(cwd, name), text);
  }
  return cwd;
}

const offline = async (files: Readonly<Record<string, string | Buffer>>) =>
  doorward(['policy', 'test', '--offline'], { cwd: await folderOf(files), env: { DOORWARD_URL: '' } });

const newProject = async () => {
  const { service, project } = world;
  const { owner } = project;
  const { scope } = await service.app.must('createProject', { scope: owner.account, name: 'Files' }, owner);
  return { scope, flags: ['-s', `${scope.tenant}:${scope.id}`] };
};

test('a key that looks like a number, a date or a word of YAML is the name as written', async () => {
  const { flags } = await newProject();
  const keys = ['1.10', '0o17', '0x1F', '1e3', '007', '2026-01-01', 'null', '~', 'true', 'no', '-0', '.inf'];
  const cwd = await folderOf({
    'doorward.yaml': `version: 1\ntags: { ${keys.map((key) => `${key}: {}`).join(', ')} }\nroles: { 12: { groups: ['Tag: Query'], tags: ['007'], metadata: { 010: 1 } } }\n`,
  });
  const run = (...args: readonly string[]) => world.run([...args, ...flags], { cwd });
  const planned = await run('policy', 'plan');
  expect([planned.code, planned.stderr]).toEqual([0, '']);
  const created = planned.stdout.split('\n').flatMap((line) => /^\+ create tag (.*)$/.exec(line)?.[1] ?? []);
  expect(created).toEqual([...keys].sort());
  await run('policy', 'apply', '--yes');
  await run('policy', 'export', '-o', 'exported.yaml');
  expect((await run('policy', 'plan', 'exported.yaml')).stdout).toBe('No changes.\n');
  await writeFile(join(cwd, 'doorward.yaml'), 'version: 1\nroles:\n  12:\n    metadata:\n      7: "\\0"\n');
  expect((await run('policy', 'plan')).stderr).toContain('doorward.yaml:5:10 roles.12.metadata.7');
});

test('`$${` is a plain `${`, end to end; a variable that contains one adds nothing', async () => {
  const { flags, scope } = await newProject();
  const text = `version: 1
roles:
  Clerk: { groups: ['Tag: Query'], description: 'costs $\${PRICE} net, \${NOTE}' }
`;
  const how = { cwd: await folderOf({ 'doorward.yaml': text }), env: { NOTE: '$${A} ${B}' } };
  const run = (...args: readonly string[]) => world.run([...args, ...flags], how);
  const applied = await run('policy', 'apply', '--yes');
  expect(applied, applied.stderr).toMatchObject({ code: 0 });
  const { owner } = world.project;
  const { items } = await world.service.app.must('roles', { scope, isSystem: false }, owner);
  expect(items[0]?.description).toBe('costs ${PRICE} net, $${A} ${B}');
  await run('policy', 'export', '-o', 'exported.yaml');
  expect((await run('policy', 'plan', 'exported.yaml')).stdout).toBe('No changes.\n');
});

test('a test that is decided without a service reads `$${` as the service does', async () => {
  const text = `version: 1
resources: { a: { actions: [b] } }
permissions: { a:b: { condition: { Equals: { resource.name: '$\${X}' } } } }
groups: { G: { permissions: [a:b] } }
roles: { R: { groups: [G] } }
tests:
  - name: t
    subject: { roles: [R] }
    permission: a:b
    context: { resource: { name: '\${Y}' } }
    expect: { authorized: true }
`;
  const cwd = await folderOf({ 'doorward.yaml': text });
  const how = { cwd, env: { DOORWARD_URL: '', Y: '${X}' } };
  expect(await doorward(['policy', 'test', '--offline'], how)).toMatchObject({ code: 0 });
});

const manyAliases = `a: &a { x: 1 }\nlist:\n${'  - *a\n'.repeat(101)}`;
const bomb = `a: &a [x, x]
b: &b [${'*a, '.repeat(11)}*a]
c: &c [${'*b, '.repeat(11)}*b]
`;

describe('ends with 2 and the place', () => {
  test.each<[string, Readonly<Record<string, string | Buffer>>, string]>([
    [
      'an alias of itself',
      { 'doorward.yaml': 'version: 1\nroles: &r { A: *r }\n' },
      'doorward.yaml:2:16 The anchor r',
    ],
    [
      'an unknown anchor',
      { 'doorward.yaml': 'version: 1\nroles: *no\n' },
      'doorward.yaml:2:8 The anchor no ',
    ],
    ['101 aliases', { 'doorward.yaml': manyAliases }, 'doorward.yaml:103:5 Aliases'],
    ['aliases of aliases', { 'doorward.yaml': bomb }, 'doorward.yaml:3:40 Aliases'],
    [
      'bytes that are not UTF-8',
      { 'doorward.yaml': Buffer.from('version: 1\ntags: { ä: {}, caf\xe9: {} }\n', 'latin1') },
      "doorward.yaml:2:9 The file isn't valid UTF-8.",
    ],
    [
      'a character that is cut short',
      { 'doorward.yaml': Buffer.concat([Buffer.from('version: 1\n# ä'), Buffer.from([0xe2, 0x82])]) },
      'doorward.yaml:2:4 ',
    ],
    [
      'two documents',
      { 'doorward.yaml': 'version: 1\n---\nversion: 1\n' },
      'doorward.yaml:2:1 A second document',
    ],
    ['a list as a key', { 'doorward.yaml': 'version: 1\n? [a]\n: 1\n' }, 'doorward.yaml:2:3 A key has to be'],
    ['no members', { 'doorward.yaml': '- a\n' }, 'doorward.yaml:1:1 A policy document must be a mapping'],
    [
      'a whole number beyond those of JSON',
      { 'doorward.yaml': 'roles:\n  A: { metadata: { ids: [1, 12345678901234567890] } }\n' },
      'doorward.yaml:2:29 roles.A.metadata.ids.1 JSON',
    ],
    [
      'infinity',
      { 'doorward.yaml': 'roles: { A: { metadata: { a: .inf } } }\n' },
      'doorward.yaml:1:30 roles.A.metadata.a JSON',
    ],
    [
      '`__proto__` as a name',
      { 'doorward.yaml': 'roles:\n  __proto__: {}\n' },
      'doorward.yaml:2:3 __proto__ ',
    ],
    [
      'an unset variable',
      { 'doorward.yaml': 'roles:\n  A: { description: "x ${NO}" }\n' },
      'doorward.yaml:2:21 The environment variable NO',
    ],
    [
      'an included file that is missing',
      { 'doorward.yaml': 'include: [a.yaml, no.yaml]\n', 'a.yaml': '' },
      'doorward.yaml:1:19 no.yaml cannot be read',
    ],
    [
      'an included folder',
      { 'doorward.yaml': 'include: [a]\n', 'a/b.yaml': '' },
      'doorward.yaml:1:11 a is a folder',
    ],
    [
      'an absolute include',
      { 'doorward.yaml': 'include: [/etc/passwd]\n' },
      'doorward.yaml:1:11 include takes',
    ],
    ['no list of tests', { 'doorward.yaml': 'version: 1\ntests: 1\n' }, 'doorward.yaml:2:8 tests is a list'],
    ['another scope', { 'doorward.yaml': 'version: 1\nscope: x\n' }, 'doorward.yaml:2:8 scope is'],
  ])('%s', async (_, files, place) => {
    const { code, stdout, stderr } = await offline(files);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(place);
  });

  test('too many files, at the include that is one too many', async () => {
    const files = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`a/${index}.yaml`, '']));
    const { code, stderr } = await offline({
      'doorward.yaml': 'version: 1\ninclude: ["a/*.yaml"]\n',
      ...files,
    });
    expect(code).toBe(2);
    expect(stderr).toContain('doorward.yaml:2:11 A policy has at most 100 files');
  });

  test('a file outside the policy folder', async () => {
    const cwd = await folderOf({ 'doorward.yaml': 'include: [out.yaml]\n' });
    await symlink('/etc/hostname', join(cwd, 'out.yaml'));
    const { code, stderr } = await doorward(['policy', 'test', '--offline'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('doorward.yaml:1:11 out.yaml is outside the policy folder');
  });
});

test('a hundred uses of one anchor are read', async () => {
  const roles = Array.from({ length: 100 }, (_, index) => `  R${index}: *r`).join('\n');
  const text = `version: 1\nroles:\n  R: &r { description: x }\n${roles}\ntests: [{name: t, subject: {roles: [R99]}, permission: 'a:b', expect: {authorized: false}}]\n`;
  expect(await offline({ 'doorward.yaml': text })).toMatchObject({ code: 0 });
});
