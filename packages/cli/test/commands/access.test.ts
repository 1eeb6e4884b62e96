import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { roleWith } from '../../../server/test/support/sign-in/project-app.ts';
import { emptyFolder } from '../support/folder.ts';
import { startWorld, type World } from '../support/service/world.ts';

let world: World;
let userId: string;
let readerId: string;

beforeAll(async () => {
  world = await startWorld();
  const { service, project } = world;
  const as = { token: project.owner.token };
  readerId = await roleWith(service.app, project, ['read']);
  const user = await service.app.must(
    'createUser',
    { scope: project.scope, name: 'Grace', roleIds: [readerId] },
    as,
  );
  userId = user.id;
});
afterAll(() => world.service.close());

describe('check', () => {
  test('ends with 0 for yes and 1 for no', async () => {
    const yes = await world.run(['check', `user:${userId}`, 'board:read'], { env: world.key });
    expect(yes).toEqual({ code: 0, stdout: 'allowed ALLOWED board:read\n', stderr: '' });
    const no = await world.run(['check', `user:${userId}`, 'board:edit']);
    expect(no).toEqual({ code: 1, stdout: 'refused NO_PERMISSION board:edit\n', stderr: '' });
  });

  test('answers the decision as JSON, and in colour on a terminal', async () => {
    const { code, stdout } = await world.run(['check', `user:${userId}`, 'board:edit', '--json']);
    expect([code, JSON.parse(stdout)]).toEqual([1, { authorized: false, reason: 'NO_PERMISSION' }]);
    const shown = await world.run(['check', `user:${userId}`, 'board:read'], { columns: 80 });
    expect(shown.stdout).toContain('\u001b[32mallowed\u001b[0m ALLOWED board:read');
  });

  test('takes a context from JSON, a file and stdin', async () => {
    const { service, project } = world;
    const as = { token: project.owner.token };
    const { scope } = project;
    const resource = await service.app.must(
      'createResource',
      { scope, name: 'Order', slug: 'order', actions: ['read'] },
      as,
    );
    const condition = { Equals: { 'resource.status': 'draft' } };
    const input = { scope, resourceId: resource.id, action: 'read', condition };
    const permission = await service.app.must('createPermission', input, as);
    const group = await service.app.must(
      'createGroup',
      { scope, name: 'Drafts', permissionIds: [permission.id] },
      as,
    );
    const role = await service.app.must('createRole', { scope, name: 'Drafter', groupIds: [group.id] }, as);
    const drafter = await service.app.must('createUser', { scope, name: 'D', roleIds: [role.id] }, as);
    const draft = JSON.stringify({ resource: { status: 'draft' } });
    const file = join(await emptyFolder(), 'draft.json');
    await writeFile(file, draft);
    const args = ['check', `user:${drafter.id}`, 'order:read', '--context'];
    expect((await world.run([...args, draft])).stdout).toContain('allowed ALLOWED_BY_CONDITION');
    expect((await world.run([...args, `@${file}`])).code).toBe(0);
    expect((await world.run([...args, '-'], { stdin: draft })).code).toBe(0);
    expect((await world.run([...args, '{"resource": {"status": "sent"}}'])).code).toBe(1);
    const explained = await world.run([
      'explain',
      `user:${drafter.id}`,
      'order:read',
      '--context',
      '{"resource": {"status": "sent"}}',
    ]);
    expect(explained.stdout).toContain('resource.status is "sent", Equals "draft" is needed');
  });

  test('with wrong credentials ends with 3, without a right with 4, about nobody with 5', async () => {
    const wrong = { ...world.key, DOORWARD_TOKEN: '', DOORWARD_CLIENT_SECRET: `dwk_${'x'.repeat(52)}` };
    const { code, stderr } = await world.run(['check', 'me', 'board:read', '-v'], { env: wrong });
    expect([code, stderr]).toEqual([3, expect.stringContaining('UNAUTHENTICATED')]);
    expect(stderr).toMatch(/^ {2}request: [0-9a-f-]{36}$/m);
    expect(stderr).not.toContain('xxxx');
    const other = await world.run(['roles', 'list', '-s', `organization:${userId}`]);
    expect(other.code, other.stderr).toBe(4);
    const nobody = await world.run(['check', 'user:nobody@example.test', 'board:read']);
    expect([nobody.code, nobody.stderr]).toEqual([5, expect.stringContaining('NOT_FOUND')]);
  });

  test('shows its requests with -v, and no secret', async () => {
    const { stderr } = await world.run(['check', 'me', 'board:read', '-v'], {
      env: { ...world.key, DOORWARD_TOKEN: '' },
    });
    expect(stderr).toMatch(/^POST {2}\/api\/auth\/token {2}200 {2}\d+ ms {2}[0-9a-f-]{36}$/m);
    expect(stderr).toMatch(/^POST {2}\/api\/auth\/is-authorized {2}200/m);
    expect(stderr).not.toMatch(/eyJ|dwk_/);
  });
});

test('explain names changes that can be pasted', async () => {
  const { code, stdout } = await world.run(['explain', `user:${userId}`, 'board:edit']);
  expect(code).toBe(1);
  expect(stdout).toContain('refused NO_PERMISSION board:edit\n');
  const change =
    /^change +doorward (groups update .+)$/m.exec(stdout)?.[1] ??
    /^change +doorward (users set-roles .+)$/m.exec(stdout)?.[1];
  expect(change, stdout).toBeDefined();
  expect((await world.run([...(change ?? '').split(' '), '--dry-run'])).stdout).toContain('gains board:edit');
  expect((await world.run((change ?? '').split(' '))).code).toBe(0);
  expect((await world.run(['check', `user:${userId}`, 'board:edit'])).code).toBe(0);
  const json = await world.json<{ explanation: { subject: object } }>([
    'explain',
    `user:${userId}`,
    'board:edit',
  ]);
  expect(json.explanation.subject).toEqual({ type: 'user', id: userId });
});

test('explain names what works for an owner of the organization, who is not a user of the project', async () => {
  const { stdout } = await world.run(['explain', 'me', 'board:read']);
  const lines = stdout.split('\n').filter((line) => /users create/.test(line));
  expect(lines[0]).toMatch(/^change +doorward users create --set userId=[0-9a-f-]{36} --set roleIds=/);
  expect(stdout).toContain('ask another administrator to run it: you cannot change your own roles');
});

test('who-can lists users', async () => {
  const { stdout } = await world.run(['who-can', 'board:read']);
  expect(stdout).toMatch(new RegExp(`^${userId}\tALLOWED\t`, 'm'));
  const { items } = await world.json<{ items: { subject: { id: string } }[] }>(['who-can', 'board:read']);
  expect(items.map(({ subject }) => subject.id)).toContain(userId);
  expect((await world.run(['who-can', 'board:read'], { columns: 100 })).stdout).toMatch(
    /^USER +REASON +PERMISSION/,
  );
});

test('permissions are those of a subject, or the noun', async () => {
  expect((await world.run(['permissions', `user:${userId}`])).stdout).toMatch(/^board:read\t$/m);
  const { permissions } = await world.json<{ permissions: object[] }>(['permissions']);
  expect(permissions).toContainEqual({ resource: 'Role', action: 'Create', conditional: false });
  expect((await world.run(['permissions', 'list', '--all'])).stdout).toMatch(/\tboard:edit\t/);
  expect((await world.run(['permissions', 'lisst'])).code).toBe(2);
});
