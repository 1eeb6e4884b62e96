import { afterAll, beforeAll, expect, test } from 'vitest';
import { joinOrganization } from '../../../server/test/decisions/memberships.ts';
import { roleIdOf } from '../../../server/src/schema/rights/built-in-ids.ts';
import { doorward, startDoorward } from '../support/run/doorward.ts';
import type { Item, List } from '../support/service/items.ts';
import { startWorld, type World } from '../support/service/world.ts';

/** An owner manages organizations and their members, domains and connections. */
let world: World;
let organization: string;
let organizationOwner: Record<string, string>;
let inOrganization: Record<string, string>;

beforeAll(async () => {
  world = await startWorld();
  const { app, url } = world.service;
  const owner = await app.person({ type: 'organization' });
  const input = { scope: owner.account, name: 'Acme', slug: 'acme-cli' };
  organization = (await app.must('createOrganization', input, { token: owner.token })).id;
  organizationOwner = { DOORWARD_URL: url, DOORWARD_TOKEN: owner.token, DOORWARD_SCOPE: '' };
  inOrganization = { ...organizationOwner, DOORWARD_SCOPE: `organization:${organization}` };
});
afterAll(() => world.service.close());

test('members are listed, get another role, and go', async () => {
  const { app } = world.service;
  const scope = { tenant: 'organization', id: organization } as const;
  const guest = await app.person();
  const token = organizationOwner['DOORWARD_TOKEN'] ?? '';
  const roleIds = [roleIdOf('Organization Viewer')];
  await joinOrganization({ app, via: 'rest', token, scope, roleIds }, guest);
  const how = { env: inOrganization };
  const { items } = await world.json<{ items: { user: { id: string } }[] }>(['members', 'list'], how);
  expect(items.map(({ user }) => user.id)).toContain(guest.userId);
  const role = roleIdOf('Organization Developer');
  const update = ['members', 'update', guest.email, '--set', `roleId=${role}`];
  expect((await world.run([...update, '--dry-run'], how)).stdout).toContain(`user:${guest.userId} in`);
  expect((await world.json<Item>(update, how))['roleId']).toBe(role);
  const removed = await world.run(['members', 'delete', guest.email, '-y'], how);
  expect([removed.code, removed.stdout]).toEqual([0, expect.stringContaining(guest.userId)]);
  expect((await world.run(['members', 'delete', guest.userId, '-y'], how)).code).toBe(5);
});

test('domains are named, proved, listed and deleted', async () => {
  const { app } = world.service;
  const how = { env: inOrganization };
  const made = await world.json<Item>(['domains', 'create', '--set', 'domain=cli.example.test'], how);
  const { name, value } = made['record'] as { readonly name: string; readonly value: string };
  expect((await world.run(['domains', 'list'], how)).stdout).toContain(value);
  const early = await world.run(['domains', 'verify', 'cli.example.test'], how);
  expect([early.code, early.stderr]).toEqual([expect.any(Number), expect.stringContaining(value)]);
  expect(early.code).not.toBe(0);
  app.records.set(name, [value]);
  expect((await world.json<Item>(['domains', 'verify', 'cli.example.test'], how))['status']).toBe('verified');
  expect((await world.run(['domains', 'delete', made.id, '-y'], how)).code).toBe(0);
  expect((await world.json<List>(['domains', 'list'], how)).items).toEqual([]);
});

test('connections are created with a secret from stdin, tested, changed and deleted', async () => {
  const how = { env: inOrganization };
  const withSecret = { ...how, stdin: 'a-secret-of-the-provider\n' };
  const domain = await world.json<Item>(['domains', 'create', '--set', 'domain=company.example.test'], how);
  const fields = {
    ...{ name: 'Company', issuer: 'http://127.0.0.1:9', clientId: 'doorward', domainIds: domain.id },
    defaultRoleId: roleIdOf('Organization Viewer'),
  };
  const create = ['connections', 'create'].concat(
    Object.entries(fields).flatMap(([name, value]) => ['--set', `${name}=${value}`]),
  );
  const bare = await world.run(create, how);
  expect([bare.code, bare.stderr]).toEqual([2, expect.stringContaining('Client secret is missing')]);
  const typed = await world.run([...create, '--set', 'clientSecret=x'], withSecret);
  expect([typed.code, typed.stderr]).toEqual([2, expect.stringContaining('no field clientSecret')]);
  const made = await world.json<Item>(create, withSecret);
  expect(JSON.stringify(made)).not.toContain('a-secret');
  expect((await world.run(['connections', 'list'], how)).stdout).toContain(String(made['callbackPath']));
  const tried = await world.run(['connections', 'test', 'Company'], how);
  expect([tried.code, tried.stdout]).toEqual([
    1,
    expect.stringContaining('/.well-known/openid-configuration'),
  ]);
  const update = ['connections', 'update', 'Company', '--new-secret'];
  expect((await world.json<Item>([...update, '--set', 'name=Firm'], withSecret))['name']).toBe('Firm');
  const twice = await world.run([...update, '--from', '-'], withSecret);
  expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining('--from takes a file here')]);
  expect((await world.run(['connections', 'delete', made.id, '-y'], how)).code).toBe(0);
  expect((await world.run(['domains', 'delete', domain.id, '-y'], how)).code).toBe(0);
});

test('organizations are created and changed in themselves', async () => {
  const env = organizationOwner;
  const made = await world.json<Item>(
    ['orgs', 'create', '--account', '--set', 'name=Second', '--set', 'slug=second-cli'],
    { env },
  );
  const changed = await world.json<Item>(
    ['orgs', 'update', made.id, '--set', 'requireMfaForSensitiveActions=true'],
    { env },
  );
  expect(changed['requireMfaForSensitiveActions']).toBe(true);
  const shown = await doorward(['orgs', 'get', 'second-cli', '--account'], { env });
  expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining(`id\t${made.id}`)]);
});

test('the deletion of an organization wants its slug', async () => {
  const env = organizationOwner;
  const gone = startDoorward(['orgs', 'delete', organization], { env, columns: 100 });
  await gone.printed(/Type acme-cli to confirm:/);
  gone.type('y\n');
  expect((await gone.ended).code).toBe(2);
  const { code } = await doorward(['orgs', 'get', organization], { env });
  expect(code).toBe(0);
});

test('slugs name organizations, accounts and projects', async () => {
  const env = organizationOwner;
  const made = await doorward(
    ['projects', 'create', '--org', 'acme-cli', '--set', 'name=Shop', '--set', 'slug=shop'],
    { env },
  );
  expect(made.code, made.stderr).toBe(0);
  const { stdout } = await doorward(['whoami', '--org', 'acme-cli', '--project', 'shop', '--json'], {
    env,
  });
  expect((JSON.parse(stdout) as { scope: string }).scope).toMatch(
    new RegExp(`^organizationProject:${organization}:`),
  );
  expect((await doorward(['members', 'list', '--org', 'acme-cli'], { env })).stdout).toContain(
    'Organization Owner',
  );
  expect((await doorward(['orgs', 'list', '--account'], { env })).stdout).toContain('acme-cli');
  expect((await doorward(['roles', 'list', '--org', 'none'], { env })).code).toBe(5);
  expect((await doorward(['roles', 'list', '--project', 'shop'], { env })).code).toBe(2);
  const removed = await doorward(['projects', 'delete', 'shop', '--org', 'acme-cli', '-y'], { env });
  expect([removed.code, removed.stdout]).toEqual([0, expect.stringMatching(/^Deleted the project Shop /)]);
  const without = await doorward(['roles', 'list'], { env });
  expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('SCOPE_REQUIRED')]);
});
