import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { emptyFolder } from '../support/folder.ts';
import { startWorld, type World } from '../support/service/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.service.close());

const policy = `version: 1
include: [policy/*.yaml]
resources:
  invoice: { name: Invoice, actions: [read, approve] }
permissions:
  invoice:read:
  approve own:
    resource: invoice
    action: approve
    condition: { Equals: { resource.ownerId: '{{user.id}}' } }
groups:
  Billing: { permissions: ['invoice:read', approve own] }
`;
const roles = `roles:
  Clerk:
    description: Reads invoices of \${COMPANY}
    groups: [Billing]
tests:
  - name: a clerk reads
    subject: { roles: [Clerk] }
    permission: invoice:read
    expect: { authorized: true }
`;

/** A folder with a policy in two files, as a repository has it. */
async function repository(): Promise<{ cwd: string; env: Record<string, string> }> {
  const cwd = await emptyFolder();
  await mkdir(join(cwd, 'policy'));
  await writeFile(join(cwd, 'doorward.yaml'), policy);
  await writeFile(join(cwd, 'policy/roles.yaml'), roles);
  return { cwd, env: { COMPANY: 'Acme' } };
}

const newProject = async () => {
  const { service, project } = world;
  const { owner } = project;
  const made = await service.app.must('createProject', { scope: owner.account, name: 'Policy' }, owner);
  return { ...made, flags: ['-s', `${made.scope.tenant}:${made.scope.id}`] };
};

test('a repository: tested, planned, applied, changed by hand, and rolled back', async () => {
  const { id, scope, flags } = await newProject();
  const how = await repository();
  const run = (...args: readonly string[]) => world.run([...args, ...flags], how);
  const offline = await world.run(['policy', 'test', '--offline'], {
    cwd: how.cwd,
    env: { ...how.env, DOORWARD_URL: '' },
  });
  expect(offline).toMatchObject({ code: 0, stdout: 'ok    a clerk reads\n1 passed, 0 failed\n' });

  const planned = await run(
    'policy',
    'plan',
    '--detailed-exitcode',
    '-o',
    'plan.json',
    '--markdown',
    'review.md',
  );
  expect(planned.code).toBe(8);
  expect(planned.stdout).toContain('+ create role Clerk\n');
  expect(planned.stdout).toContain('5 to create, 0 to change, 0 to delete.\n');
  expect(await readFile(join(how.cwd, 'review.md'), 'utf8')).toContain(
    '| Change | Kind | Name | Members |\n| --- | --- | --- | --- |\n',
  );
  expect(await readFile(join(how.cwd, 'review.md'), 'utf8')).toContain('| create | role | Clerk |');

  // A review may take days: exactly this plan is applied, or none.
  const applied = await run('policy', 'apply', 'plan.json', '--yes', '-m', 'The first one');
  expect(applied).toMatchObject({ code: 0, stdout: 'Version 1: 5 created, 0 changed, 0 deleted.\n' });
  expect(await run('policy', 'apply', 'plan.json', '--yes')).toMatchObject({ code: 6 });
  expect((await run('policy', 'plan', '--detailed-exitcode')).code).toBe(0);

  const { owner } = world.project;
  const [clerk] = (await world.service.app.must('roles', { scope, isSystem: false }, owner)).items;
  expect(clerk?.description).toBe('Reads invoices of Acme');
  await world.service.app.must('updateRole', { scope, id: clerk?.id ?? '', description: 'By hand' }, owner);
  const drifted = await run('policy', 'plan');
  expect(drifted.stdout).toContain(
    'Changed by hand since the last version:\n! role Clerk\n    description: "Reads invoices of Acme" → "By hand"\n',
  );

  await writeFile(join(how.cwd, 'policy/tags.yaml'), 'tags: { finance: { color: teal } }\n');
  const second = await run('policy', 'apply', '--yes');
  expect(second.stdout).toBe('Version 2: 1 created, 1 changed, 0 deleted.\n');
  const refused = await run('policy', 'rollback', '1', '--yes');
  expect(refused).toMatchObject({ code: 6 });
  expect(refused.stderr).toContain('DELETION_NOT_ALLOWED');
  const back = await run('policy', 'rollback', '1', '--yes', '--allow-delete');
  expect(back.stdout).toBe('Version 3: 0 created, 0 changed, 1 deleted.\n');
  const malformed = await run('policy', 'versions', '--limit', 'all');
  expect(malformed.code).toBe(2);
  expect(malformed.stderr).toContain('--limit must be 1 to 100.');
  const listed = await run('policy', 'versions', '--json');
  const { items } = JSON.parse(listed.stdout) as { items: { number: number; rollbackOf: number | null }[] };
  expect(items.map(({ number, rollbackOf }) => [number, rollbackOf])).toEqual([
    [3, 1],
    [2, null],
    [1, null],
  ]);
  expect((await run('policy', 'diff', '2', '3')).stdout).toContain('- delete tag finance\n');
  expect((await run('policy', 'diff', '1')).stdout).toContain('No changes.\n');
  expect(id).toBe(scope.id.split(':')[1]);
});

test('a plan that would be refused ends with 1, and says what is in the way', async () => {
  const { flags } = await newProject();
  const how = await repository();
  const run = (...args: readonly string[]) => world.run([...args, ...flags], how);
  await run('policy', 'apply', '--yes');
  await writeFile(join(how.cwd, 'policy/roles.yaml'), 'roles: {}\n');
  const blocked = await run('policy', 'plan', '--detailed-exitcode', '--markdown', 'review.md');
  expect(blocked.code).toBe(1);
  expect(blocked.stdout).toContain('blocked: role Clerk  DELETION_NOT_ALLOWED allowDelete\n');
  expect(await readFile(join(how.cwd, 'review.md'), 'utf8')).toContain(
    '- **blocked**: role Clerk, DELETION_NOT_ALLOWED (allowDelete)\n',
  );
  expect((await run('policy', 'apply', '--dry-run')).code).toBe(1);
  expect((await run('policy', 'plan', '--detailed-exitcode', '--allow-delete')).code).toBe(8);
  await writeFile(join(how.cwd, 'policy/roles.yaml'), roles.replace('authorized: true', 'authorized: false'));
  const failed = await run('policy', 'plan');
  expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining('test failed: a clerk reads')]);
  // Tests alone are a version too.
  await writeFile(join(how.cwd, 'policy/roles.yaml'), roles.replace('a clerk reads', 'clerks read'));
  const tests = await run('policy', 'plan', '--detailed-exitcode');
  expect([tests.code, tests.stdout]).toEqual([
    8,
    'No row changes; the tests or the mode of the document differ.\n',
  ]);
  expect((await run('policy', 'apply', '--yes')).stdout).toBe(
    'Version 2: 0 created, 0 changed, 0 deleted.\n',
  );
});

test('an export is equal to the byte each time, and its plan is empty', async () => {
  const { flags } = await newProject();
  const how = await repository();
  const run = (...args: readonly string[]) => world.run([...args, ...flags], how);
  await run('policy', 'apply', '--yes');
  const [first, second] = [await run('policy', 'export'), await run('policy', 'export')];
  expect(first.stdout).toBe(second.stdout);
  expect(first.stdout).toContain(
    '  Clerk:\n    description: Reads invoices of Acme\n    groups:\n      - Billing\n',
  );
  await run('policy', 'export', '-o', 'exported.yaml');
  expect((await run('policy', 'plan', 'exported.yaml')).stdout).toBe('No changes.\n');
});

test('an export names on stderr what it leaves out', async () => {
  const { flags, scope } = await newProject();
  const { owner } = world.project;
  for (const _ of [1, 2]) await world.service.app.must('createRole', { scope, name: 'Twin' }, owner);
  const exported = await world.run(['policy', 'export', ...flags]);
  expect(exported).toMatchObject({ code: 0, stdout: 'version: 1\n' });
  expect(exported.stderr).toContain('Left out: role Twin, because another row has its name.\n');
});

test('apps and webhooks come from the environment, and their secrets are shown once', async () => {
  const { flags, scope } = await newProject();
  const cwd = await emptyFolder();
  const how = { cwd, env: { PORTAL_URL: 'https://portal.example.test', LEDGER_URL: 'https://127.0.0.9/in' } };
  const run = (...args: readonly string[]) => world.run([...args, ...flags], how);
  const write = (webhooks: string) =>
    writeFile(
      join(cwd, 'doorward.yaml'),
      `version: 1
apps:
  Portal: { redirectUris: ['\${PORTAL_URL}/callback'] }
  Backend: { redirectUris: ['\${PORTAL_URL}/backend'], confidential: true }
webhooks: ${webhooks}
`,
    );
  await write("{ ledger: { url: '${LEDGER_URL}', eventTypes: ['role.*'] } }");
  const refused = await run('policy', 'plan');
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('doorward.yaml:5:28 webhooks.ledger.url');

  how.env.LEDGER_URL = 'https://93.184.215.14/in';
  const planned = await run('policy', 'plan');
  expect(planned.stdout).toContain('+ create app Portal\n+ create webhook ledger\n');
  const applied = await run('policy', 'apply', '--yes', '--secrets-out', 'secrets.json');
  expect(applied).toMatchObject({ code: 0, stdout: 'Version 1: 3 created, 0 changed, 0 deleted.\n' });
  const path = join(cwd, 'secrets.json');
  const secrets = JSON.parse(await readFile(path, 'utf8')) as { key: string; secret: string }[];
  expect(secrets.map(({ key }) => key)).toEqual(['Backend', 'ledger']);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  for (const { secret } of secrets) expect(applied.stdout + applied.stderr).not.toContain(secret);
  const { owner } = world.project;
  const { items } = await world.service.app.must('webhookSubscriptions', { scope }, owner);
  expect(items).toMatchObject([{ name: 'ledger', url: 'https://93.184.215.14/in' }]);
  expect((await run('policy', 'export')).stdout).toContain(
    '  Portal:\n    redirectUris:\n      - https://portal.example.test/callback\n',
  );

  await write("{ more: { url: '${LEDGER_URL}', eventTypes: ['*'] } }");
  const again = await run('policy', 'apply', '--yes', '--allow-delete', '--secrets-out', 'secrets.json');
  expect(again.code).toBe(2);
  expect(again.stderr).toContain('exists, and is not overwritten');
  const shown = await run('policy', 'apply', '--yes', '--allow-delete');
  expect(shown.stdout).toMatch(
    /^Version 2: 1 created, 0 changed, 1 deleted\.\nSecret of webhook more: whsec_\S+\n$/,
  );
  expect(shown.stderr).toContain('Each secret is shown once');
  const back = await run('policy', 'rollback', '1', '--yes', '--allow-delete', '--json');
  expect(JSON.parse(back.stdout)).toMatchObject({ secrets: [{ kind: 'webhooks', key: 'ledger' }] });
  const more = await run('policy', 'apply', '--yes', '--allow-delete', '--secrets-out', 'more.json');
  expect(more.code).toBe(0);
  expect(JSON.parse(await readFile(join(cwd, 'more.json'), 'utf8'))).toHaveLength(1);
  // Without a new secret there is no file.
  const none = await run('policy', 'apply', '--yes', '--secrets-out', 'none.json');
  expect(none).toMatchObject({ code: 0, stdout: 'No changes.\n' });
  await expect(stat(join(cwd, 'none.json'))).rejects.toMatchObject({ code: 'ENOENT' });
});

describe('a document that is wrong', () => {
  const broken = async (file: string, text: string) => {
    const how = await repository();
    await writeFile(join(how.cwd, file), text);
    const { flags } = await newProject();
    return world.run(['policy', 'plan', ...flags], how);
  };

  test('is named by file, line and column, by the service too', async () => {
    const unknown = await broken('policy/roles.yaml', 'roles:\n  Clerk:\n    groups: [Biling]\n');
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain('policy/roles.yaml:3:14 roles.Clerk.groups.0');
    expect(unknown.stderr).toMatch(/hint: +Use one of: Billing/);
    const noYaml = await broken('policy/roles.yaml', 'roles:\n  Clerk: [\n');
    expect(noYaml).toMatchObject({ code: 2, stdout: '' });
    expect(noYaml.stderr).toContain('policy/roles.yaml:3:1');
  });

  test('with one bad line among 500 changes nothing, and the line is named', async () => {
    const how = await repository();
    const { flags } = await newProject();
    const rows = Array.from({ length: 500 }, (_, index) => `  Clerk ${index}: { groups: [Billing] }`);
    rows[321] = '  Clerk 321: { groups: [Biling] }';
    await writeFile(join(how.cwd, 'policy/roles.yaml'), `roles:\n${rows.join('\n')}\n`);
    const applied = await world.run(['policy', 'apply', '--yes', ...flags], how);
    expect([applied.code, applied.stdout]).toEqual([2, '']);
    expect(applied.stderr).toContain('policy/roles.yaml:323:25 roles.Clerk 321.groups.0');
    expect((await world.run(['policy', 'versions', ...flags], how)).stdout).toBe('');
    expect((await world.run(['roles', 'list', ...flags, '--all'], how)).stdout).not.toContain('Clerk');
  });

  test('with a row in two files is refused with both places', async () => {
    const twice = await broken('policy/more.yaml', 'roles:\n  Clerk: {}\n');
    expect(twice.code).toBe(2);
    expect(twice.stderr).toContain('policy/more.yaml:2:10');
    expect(twice.stderr).toContain('policy/roles.yaml:3:5');
  });

  test('reads no file outside of its folder, and needs its variables', async () => {
    const how = await repository();
    await symlink('/etc/hostname', join(how.cwd, 'policy/outside.yaml'));
    const { flags } = await newProject();
    const outside = await world.run(['policy', 'plan', ...flags], how);
    expect(outside).toMatchObject({ code: 2 });
    expect(outside.stderr).toContain('outside the policy folder');
    const unset = await world.run(['policy', 'plan', ...flags], { cwd: (await repository()).cwd });
    expect(unset).toMatchObject({ code: 2 });
    expect(unset.stderr).toContain('COMPANY');
  });
});

test('changes nothing without a yes, and tests fail with their place', async () => {
  const how = await repository();
  const { flags } = await newProject();
  expect((await world.run(['policy', 'apply', ...flags], how)).code).toBe(2);
  const dry = await world.run(['policy', 'apply', '--dry-run', ...flags], how);
  expect([dry.code, dry.stdout]).toEqual([0, '']);
  expect((await world.run(['policy', 'versions', ...flags], how)).stdout).toBe('');
  await writeFile(join(how.cwd, 'policy/roles.yaml'), roles.replace('authorized: true', 'authorized: false'));
  const failed = await world.run(['policy', 'test', '--offline'], how);
  expect(failed).toMatchObject({
    code: 1,
    stdout:
      'FAIL  a clerk reads: ALLOWED, expected refused  policy/roles.yaml:6:5\n      matched     invoice:read\n0 passed, 1 failed\n',
  });
});
