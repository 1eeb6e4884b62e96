import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { doorward } from '../support/run/doorward.ts';
import { emptyFolder } from '../support/folder.ts';
import { startWorld, type World } from '../support/service/world.ts';

/** Values of the service, with a stored sign-in and not without one. */
let world: World;
let silent: Server;
let silentUrl: string;
let requests = 0;

beforeAll(async () => {
  world = await startWorld();
  silent = createServer(() => void requests++);
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  silentUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  await world.json(['roles', 'create', '--set', 'name=Clerk']);
  await world.json(['roles', 'create', '--set', 'name=Cler;rm']);
  await world.json(['roles', 'create', '--set', 'name=Clever boss']);
});
afterAll(async () => {
  silent.closeAllConnections();
  silent.close();
  await world.service.close();
});

/** A folder with a profile, and a session that lives. */
async function profile(more: object = {}, url = world.service.url): Promise<string> {
  const folder = join(await emptyFolder(), 'profiles');
  await mkdir(folder, { mode: 0o700 });
  const session = {
    kind: 'session',
    url,
    accessToken: world.owner['DOORWARD_TOKEN'],
    refreshToken: 'unused',
    renewAt: Date.now() + 60_000,
    ...more,
  };
  const config = { current: 'work', profiles: { work: { url, scope: world.scope }, other: { url } } };
  await writeFile(join(folder, 'credentials.json'), JSON.stringify({ work: session }), { mode: 0o600 });
  await writeFile(join(folder, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  return folder;
}

async function completed(words: readonly string[], env: Record<string, string>): Promise<string[]> {
  const { code, stdout, stderr } = await doorward(['__complete', '--', ...words], { env });
  expect([code, stderr]).toEqual([0, '']);
  return stdout.split('\n').filter((line) => line !== '');
}

/** Completion gives up after a second, which a busy machine may exceed: this asks again, as a person presses Tab again. */
const eventually = (words: readonly string[], env: Record<string, string>) =>
  expect.poll(() => completed(words, env), { timeout: 80_000, interval: 0 });

test('knows names that are one word for every shell', async () => {
  const env = { DOORWARD_CONFIG_DIR: await profile() };
  await eventually(['roles', 'get', 'Cle'], env).toEqual(['Clerk']);
  await eventually(['roles', 'get', '-s', world.scope, 'Cl'], env).toEqual(['Clerk']);
  await eventually(['keys', 'create', '--role', 'Cl'], env).toEqual(['Clerk']);
  await eventually(['users', 'set-roles', 'someone', 'Cl'], env).toEqual(['Clerk']);
  const { owner } = world.project;
  const { account } = await world.service.app.must('createMyAccount', { type: 'organization' }, owner);
  const scope = { tenant: 'account', id: account.id } as const;
  const organization = await world.service.app.must('createOrganization', { scope, name: 'Acme' }, owner);
  await eventually(['whoami', '--org', organization.slug.slice(0, 2)], env).toEqual([organization.slug]);
  const { items } = await world.service.app.must('projects', { scope: owner.account }, owner);
  const slug = items[0]?.slug ?? '';
  await eventually(['check', '--project', slug.slice(0, 1)], env).toContain(slug);
  expect(await completed(['whoami', '--profile', ''], env)).toEqual(['other', 'work']);
  expect(await completed(['whoami', '--color', 'a'], env)).toEqual(['always', 'auto']);
});

describe('asks no service', () => {
  const nothing = async (env: Record<string, string>, words = ['roles', 'get', 'Cl']) => {
    const before = requests;
    expect(await completed(words, env)).toEqual([]);
    expect(requests).toBe(before);
  };

  test('without a stored sign-in', async () => {
    await nothing({ DOORWARD_URL: silentUrl });
    await nothing({
      DOORWARD_URL: silentUrl,
      DOORWARD_TOKEN: world.owner['DOORWARD_TOKEN'] ?? '',
      DOORWARD_SCOPE: world.scope,
    });
  });

  test('with a session that would have to be renewed', async () => {
    await nothing({ DOORWARD_CONFIG_DIR: await profile({ renewAt: 0 }, silentUrl) });
  });

  test('other than that of the sign-in', async () => {
    await nothing({ DOORWARD_CONFIG_DIR: await profile() }, ['roles', 'get', '--url', silentUrl, 'Cl']);
  });
});

test('gives up after a second', async () => {
  const env = { DOORWARD_CONFIG_DIR: await profile({}, silentUrl) };
  const before = requests;
  // On a busy machine the second may end before the request is sent.
  do expect(await completed(['roles', 'get', 'Cl'], env)).toEqual([]);
  while (requests === before);
  expect(requests).toBe(before + 1);
});
