import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { roleIdOf } from '../../../server/src/schema/rights/built-in-ids.ts';
import { startDoorward } from '../support/run/doorward.ts';
import { emptyFolder } from '../support/folder.ts';
import type { Item, List } from '../support/service/items.ts';
import { startWorld, type World } from '../support/service/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.service.close());

const set = (...fields: readonly string[]): string[] => fields.flatMap((field) => ['--set', field]);

/** How each noun of a project is created and changed. */
const nouns = [
  { word: 'roles', create: ['name=Clerk'], update: 'description=counts', name: 'Clerk' },
  { word: 'groups', create: ['name=Readers'], update: 'description=read', name: 'Readers' },
  {
    word: 'resources',
    create: ['name=Order', 'slug=order', 'actions=read,write'],
    update: 'actions=read',
    name: 'order',
  },
  {
    word: 'apps',
    create: ['name=Shop', 'redirectUris=https://shop.example/callback'],
    update: 'homepageUrl=https://shop.example/',
    name: 'Shop',
  },
  {
    word: 'webhooks',
    create: ['url=https://hooks.example/doorward', 'eventTypes=role.created'],
    update: 'active=false',
    name: null,
  },
] as const;

describe.each(nouns)('$word', ({ word, create, update, name }) => {
  test('are created, listed, shown, changed and deleted', async () => {
    const created = await world.json<Item>([word, 'create', ...set(...create)]);
    const named = name ?? created.id;

    const list = await world.json<List>([word, 'list', '--all']);
    expect(list.items.map(({ id }) => id)).toContain(created.id);
    expect(list.nextCursor).toBeNull();
    const piped = await world.run([word, 'list', '--all']);
    expect(piped.stdout).toMatch(new RegExp(`^${created.id}\t`, 'm'));
    const shown = await world.run([word, 'list', '--all'], { columns: 100 });
    expect(shown.stdout).toMatch(/^ID {2}/);
    expect(shown.stdout).toContain(created.id);

    expect((await world.json<Item>([word, 'get', named])).id).toBe(created.id);
    expect((await world.run([word, 'get', named])).stdout).toContain(`id\t${created.id}\n`);
    const [, field = '', value] = /^(\w+)=(.*)$/.exec(update) ?? [];
    const changed = await world.json<Item>([word, 'update', named, '--set', update]);
    expect(String(changed[field])).toBe(value);

    const unconfirmed = await world.run([word, 'delete', named]);
    expect([unconfirmed.code, unconfirmed.stderr]).toEqual([2, expect.stringContaining('--yes')]);
    expect((await world.run([word, 'delete', named, '--dry-run'])).code).toBe(0);
    expect((await world.json<Item>([word, 'get', created.id])).id).toBe(created.id);
    expect((await world.run([word, 'delete', named, '-y'])).code).toBe(0);
    expect((await world.run([word, 'get', created.id])).code).toBe(5);
  });
});

test('permissions have a condition from JSON', async () => {
  const resource = await world.json<Item>([
    'resources',
    'create',
    ...set('name=Bill', 'slug=bill', 'actions=pay'),
  ]);
  const condition = '{"Equals":{"resource.status":"open"}}';
  const made = await world.json<Item>([
    'permissions',
    'create',
    ...set(`resourceId=${resource.id}`, 'action=pay', `condition=${condition}`),
  ]);
  expect(made['condition']).toEqual(JSON.parse(condition));
  const changed = await world.json<Item>(['permissions', 'update', made.id, '--set', 'condition=null', '-y']);
  expect(changed['condition']).toBeNull();
  expect((await world.json<Item>(['permissions', 'get', made.id])).id).toBe(made.id);
  expect((await world.run(['permissions', 'delete', made.id, '-y'])).code).toBe(0);
  expect((await world.run(['permissions', 'get', made.id], { columns: 80 })).code).toBe(5);
});

describe('lists', () => {
  test('are pages, searched and sorted', async () => {
    for (const name of ['page 1', 'page 2', 'page 3'])
      await world.json(['groups', 'create', '--set', `name=${name}`]);
    const names = ({ items }: List) => items.map((item) => item['name']);
    const args = ['groups', 'list', '--search', 'page', '--sort', 'name:desc', '--limit', '2'];
    const first = await world.json<List>(args);
    expect(names(first)).toEqual(['page 3', 'page 2']);
    const second = await world.json<List>([...args, '--cursor', first.nextCursor ?? '']);
    expect([names(second), second.nextCursor]).toEqual([['page 1'], null]);
    expect(names(await world.json<List>([...args, '--all']))).toEqual(['page 3', 'page 2', 'page 1']);
    const shown = await world.run(args, { columns: 100 });
    expect(shown.stdout).toContain('More follow: --all, or --cursor');
    expect((await world.run([...args, '--sort', 'nme'])).code).toBe(2);
  });

  test('that are empty print nothing into a pipe', async () => {
    expect(await world.run(['groups', 'list', '--search', 'nothing'])).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
    expect((await world.run(['groups', 'list', '--search', 'nothing'], { columns: 80 })).stdout).toBe(
      'Nothing found.\n',
    );
    expect((await world.run(['groups', 'list', '--search', 'nothing', '-q'], { columns: 80 })).stdout).toBe(
      '',
    );
  });

  test('show text of others without effect', async () => {
    const name = 'x\u202egnp.exe';
    const created = await world.json<Item>(['groups', 'create', '--from', '-'], {
      stdin: JSON.stringify({ name }),
    });
    expect(created['name']).toBe(name);
    for (const how of [{}, { columns: 120 }]) {
      const { stdout } = await world.run(['groups', 'get', created.id], how);
      expect(stdout).toContain('x\\u{202e}gnp.exe');
      expect(stdout).not.toContain('\u202e');
    }
    expect((await world.run(['groups', 'get', created.id, '--json'])).stdout).toContain('\\u202e');
    expect(
      (await world.run(['api', 'group', '--input', JSON.stringify({ id: created.id })])).stdout,
    ).toContain('\\u202e');
  });
});

describe('a refusal of the service', () => {
  test('names the invalid field, the code and the request', async () => {
    const { code, stderr } = await world.run(['resources', 'create', ...set('name=x', 'slug=No Slug')]);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^error: .+ {2}VALIDATION_ERROR\n {2}slug: {3}.+\n(?: {2}hint: .+\n)? {2}request: [0-9a-f-]{36}\n$/,
    );
    const json = await world.run(['resources', 'create', ...set('name=x', 'slug=No Slug'), '--json']);
    expect(JSON.parse(json.stderr)).toMatchObject({
      code: 'VALIDATION_ERROR',
      status: 400,
      details: [{ path: 'slug' }],
    });
  });

  test('of a conflict ends with 6, of a missing right with 4', async () => {
    const again = ['resources', 'create', ...set('name=B', 'slug=board')];
    expect((await world.run(again)).code).toBe(6);
    const viewer = await world.json<Item & { clientSecret: string; clientId: string }>([
      ...['keys', 'create', '--name', 'viewer', '--role', 'Project Viewer'],
    ]);
    const env = {
      ...world.owner,
      DOORWARD_TOKEN: '',
      DOORWARD_CLIENT_ID: viewer.clientId,
      DOORWARD_CLIENT_SECRET: viewer.clientSecret,
    };
    expect((await world.run(['roles', 'create', '--set', 'name=x'], { env })).code).toBe(4);
  });
});

describe('a question', () => {
  test('shows the impact, and waits for a yes', async () => {
    const role = await world.json<Item>(['roles', 'create', '--set', 'name=Asked']);
    const ask = async (answer: string) => {
      const run = startDoorward(['roles', 'delete', 'Asked'], { env: world.owner, columns: 100 });
      await run.printed(/\[y\/N\]/);
      run.type(answer);
      return run.ended;
    };
    const no = await ask('n\n');
    expect([no.code, no.stdout]).toEqual([2, expect.stringContaining('Nothing was changed.')]);
    expect(no.stdout).toContain('No user gains or loses anything.');
    const stopped = await ask('\u0003');
    expect([stopped.code, stopped.stdout]).toEqual([130, expect.stringContaining('interrupted')]);
    expect((await world.json<Item>(['roles', 'get', 'Asked'])).id).toBe(role.id);
    expect((await ask('y\n')).code).toBe(0);
    expect((await world.run(['roles', 'get', 'Asked'])).code).toBe(5);
    // The service does not search for a single character.
    const short = await world.json<Item>(['roles', 'create', '--set', 'name=X']);
    expect((await world.json<Item>(['roles', 'get', 'x'])).id).toBe(short.id);
  });
});

describe('users', () => {
  test('get and lose roles, by dry run first', async () => {
    const made = await world.json<Item>(['users', 'create', '--set', 'name=Grace']);
    const args = ['users', 'set-roles', made.id, 'Project Viewer'];
    expect((await world.run([...args, '--dry-run'])).stdout).toContain(
      `user:${made.id} in ${world.scope} gains`,
    );
    expect((await world.run(['permissions', `user:${made.id}`])).stdout).toBe('');
    expect((await world.run(args)).code).toBe(0);
    expect((await world.run(['permissions', `user:${made.id}`])).stdout).toContain('Role:Query');
    expect((await world.run(['users', 'get', made.id], { columns: 80 })).stdout).toMatch(/^name +Grace/m);
    expect((await world.run(['users', 'list'])).stdout).toMatch(new RegExp(`^${made.id}\tGrace\t`, 'm'));
    expect((await world.run(['users', 'remove', made.id, '-y'])).stdout).toContain('Removed the user Grace');
  });

  test('are created with roles by name', async () => {
    const fields = ['--set', 'name=Hedy', '--set', 'roleIds=project viewer'];
    const { id } = await world.json<Item>(['users', 'create', ...fields]);
    expect((await world.run(['permissions', `user:${id}`])).stdout).toContain('Role:Query');
    const wrong = await world.run(['users', 'create', '--set', 'name=Hedy', '--set', 'roleIds=Clark']);
    expect([wrong.code, wrong.stderr]).toEqual([5, expect.stringContaining('There is no such role')]);
  });

  test('see their own sessions', async () => {
    const { items } = await world.json<List>(['users', 'sessions']);
    expect(items).toHaveLength(1);
    expect((await world.run(['users', 'sessions', 'user:ada'])).code).toBe(2);
  });
});

test('an app shows its issuer, which no list needs', async () => {
  const fields = set('name=Issued', 'redirectUris=https://shop.example/callback');
  const { id, issuer } = await world.json<Item>(['apps', 'create', ...fields]);
  const shown = await world.run(['apps', 'get', id]);
  expect(shown.stdout).toContain(`issuer\t${String(issuer)}\n`);
  expect(shown.stdout).toMatch(/^issuer\thttp:\/\/\S+\/(acc|org)\/[\w-]{36}\/prj\/[\w-]{36}$/m);
  expect((await world.run(['apps', 'list'])).stdout).not.toContain('/prj/');
});

describe('keys', () => {
  test('are created with their secret on stdout, or in a file of their own', async () => {
    const alone = await world.run([
      'keys',
      'create',
      '--name',
      'alone',
      '--expires',
      '90d',
      '--cidr',
      '10.0.0.0/8',
      '--secret-only',
    ]);
    expect([alone.code, alone.stdout]).toEqual([0, expect.stringMatching(/^dwk_[\w-]{52}\n$/)]);
    const file = join(await emptyFolder(), 'ci.secret');
    const args = ['keys', 'create', '--name', 'filed', '--role', roleIdOf('Project Viewer'), '-o', file];
    const filed = await world.run([...args, '--json']);
    const { clientId, clientSecret } = JSON.parse(filed.stdout) as { clientId: string; clientSecret: null };
    expect([clientSecret, filed.stdout.includes('dwk_')]).toEqual([null, false]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const secret = (await readFile(file, 'utf8')).trim();
    const env = {
      ...world.owner,
      DOORWARD_TOKEN: '',
      DOORWARD_CLIENT_ID: clientId,
      DOORWARD_CLIENT_SECRET: secret,
    };
    expect((await world.run(['check', 'me', 'Role:Query'], { env })).code).toBe(0);
    const again = await world.run(args);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('is not overwritten')]);
    expect((await world.json<List>(['keys', 'list', '--search', 'filed'])).items).toHaveLength(1);
    expect((await world.run(['keys', 'list', '--search', 'filed'])).stdout).toMatch(/\tProject Viewer\n$/);
    const wrongRole = await world.run([
      'keys',
      'create',
      '--name',
      'x',
      '--role',
      'Nobody',
      '-o',
      `${file}2`,
    ]);
    expect(wrongRole.code).toBe(5);
    await expect(stat(`${file}2`)).rejects.toThrow();
  });

  test('are rotated, revoked and deleted', async () => {
    const { id } = await world.json<Item>(['keys', 'create', '--name', 'turned']);
    expect((await world.run(['keys', 'rotate', 'turned'])).code).toBe(2);
    const rotated = await world.run(['keys', 'rotate', 'turned', '--grace', '60', '-y', '--secret-only']);
    expect(rotated.stdout).toMatch(/^dwk_/);
    const revoked = await world.json<Item>(['keys', 'revoke', id, '--reason', 'no longer used', '-y']);
    expect(revoked['status']).toBe('revoked');
    expect((await world.run(['keys', 'delete', id, '-y'])).code).toBe(0);
    expect((await world.run(['keys', 'create', '--expires', 'soon'])).code).toBe(2);
  });
});

test('webhooks are tested, their deliveries listed and sent again', async () => {
  const hook = await world.json<Item>([
    'webhooks',
    'create',
    ...set('url=https://hooks.example/x', 'eventTypes=role.*'),
  ]);
  const sent = await world.json<Item>(['webhooks', 'test', hook.id]);
  const { items } = await world.json<List>(['webhooks', 'deliveries', hook.id]);
  expect(items.map(({ id }) => id)).toContain(sent.id);
  const rotated = await world.run(['webhooks', 'rotate-secret', hook.id, '-y', '--secret-only']);
  expect(rotated.stdout).toMatch(/^whsec_/);
  const replayed = await world.run(['webhooks', 'replay', sent.id]);
  expect([0, 6]).toContain(replayed.code);
  for (const id of ['..', 'x']) expect((await world.run(['webhooks', 'replay', id])).code).toBe(2);
});

describe('api', () => {
  test('sends any operation, with its input from anywhere', async () => {
    const file = join(await emptyFolder(), 'tag.json');
    await writeFile(file, '{"name": "from a file"}');
    const tag = await world.json<Item>(['api', 'createTag', '--input', `@${file}`]);
    expect(tag['name']).toBe('from a file');
    expect((await world.run(['api', 'health'], { env: { DOORWARD_TOKEN: '' } })).code).toBe(0);
    expect((await world.run(['api', 'tag', '--input', '{}'])).code).toBe(2);
    const dry = ['api', 'createTag', '--input', '{"name": "never"}', '--dry-run'];
    expect(await world.run(dry)).toMatchObject({ code: 2, stdout: '' });
    expect((await world.run(['tags', 'list'])).stdout).not.toContain('never');
    expect((await world.run(['api', 'deleteTag', '--input', JSON.stringify({ id: tag.id })])).code).toBe(2);
    expect(
      (await world.run(['api', 'deleteTag', '-y', '--input', JSON.stringify({ id: tag.id })])).code,
    ).toBe(0);
  });
});
