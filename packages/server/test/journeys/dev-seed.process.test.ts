/**
 * DEV_SEED as a developer uses it: start the service, paste the printed command into a shell, read ALLOWED. The seeded
 * rows are read over the API as the demo user.
 */
import { execFile } from 'node:child_process';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import {
  buildService,
  call,
  freePort,
  callOrThrow,
  startService,
  type Service,
} from '../../../../scripts/service.ts';
import { INSTALLATION_ID } from '../../src/kernel/scope.ts';
import { postgresDatabase, type TestDatabase } from '../support/databases/postgres.ts';
import { preparedDataDir } from '../support/databases/prepared-data.ts';

let dataDir: string;
let database: TestDatabase | undefined;
const running = new Set<Service>();

beforeAll(() => buildService());
// Starts up to three services, each of which takes half a minute on a busy machine.
vi.setConfig({ testTimeout: 300_000 });
beforeEach(async () => {
  dataDir = await preparedDataDir();
  if (inject('postgresUrl')) database = await postgresDatabase(inject('postgresUrl'));
});
afterEach(async () => {
  for (const item of running) await item.kill();
  running.clear();
  await database?.drop();
  await rm(dataDir, { recursive: true, force: true });
});
afterAll(() => expect(running.size).toBe(0));

async function start(env: Record<string, string> = {}, port?: number): Promise<Service> {
  const given = { dataDir, ...(port === undefined ? {} : { port }) };
  const ofDatabase = database ? { DATABASE_URL: database.url } : {};
  const service = await startService({ ...given, env: { DEV_SEED: 'true', ...ofDatabase, ...env } });
  running.add(service);
  return service;
}

async function stop(service: Service): Promise<void> {
  expect(await service.stop()).toBe(0);
  running.delete(service);
}

const requestIn = (output: string): string | undefined =>
  /answers [A-Z_]+:\n\n(curl [\s\S]+?)\n\n/.exec(output)?.[1];

/** The command is printed right after the service says that it is ready. */
const printed = (service: Service): Promise<string> =>
  vi.waitFor(() => requestIn(service.output()) ?? expect.fail(service.output()), {
    timeout: 60_000,
    interval: 50,
  });

const warned = (service: Service, why: string): Promise<void> =>
  vi.waitFor(() => expect(service.output()).toContain(`DEV_SEED: ${why}`), { timeout: 60_000, interval: 50 });

async function run(request: string): Promise<{ data: { authorized: boolean; reason: string } }> {
  const { stdout } = await promisify(execFile)('sh', ['-euc', request]);
  return JSON.parse(stdout) as Awaited<ReturnType<typeof run>>;
}

const allowed = { data: { authorized: true, reason: 'ALLOWED' } };

interface Kept {
  readonly email: string;
  readonly password: string;
  readonly key: { clientId: string; clientSecret: string; scope: { tenant: string; id: string } };
}
const keptFile = () => join(dataDir, 'demo.json');
const kept = async (): Promise<Kept> => JSON.parse(await readFile(keptFile(), 'utf8')) as Kept;

interface Page {
  readonly items: { id: string; name: string }[];
}

/** Everything that the demo user has, read as that user. */
async function signedIn({ base }: Service) {
  const { email, password, key } = await kept();
  const { accessToken: token, accounts } = await callOrThrow<{
    accessToken: string;
    accounts: { id: string }[];
  }>(`${base}/api/auth/login`, {
    body: { provider: 'email', providerId: email, providerData: { password } },
  });
  const list = async (path: string, { tenant, id }: { tenant: string; id: string }, filter = '') =>
    (await callOrThrow<Page>(`${base}/api/${path}?tenant=${tenant}&scopeId=${id}${filter}`, { token })).items;
  const everything = async () => {
    const [organizationId = ''] = key.scope.id.split(':');
    return {
      accounts: accounts.map(({ id }) => id),
      organizations: await list('organizations', { tenant: 'account', id: accounts[0]?.id ?? '' }),
      projects: await list('projects', { tenant: 'organization', id: organizationId }),
      resources: await list('resources', key.scope, '&isSystem=false'),
      permissions: await list('permissions', key.scope, '&isSystem=false'),
      groups: await list('groups', key.scope, '&isSystem=false'),
      roles: await list('roles', key.scope, '&isSystem=false'),
      users: await list('users', key.scope, '&sortField=name'),
      keys: await list('api-keys', key.scope),
    };
  };
  return { token, scope: key.scope, everything };
}

const counts = (made: Record<string, readonly unknown[]>): Record<string, number> =>
  Object.fromEntries(Object.entries(made).map(([name, list]) => [name, list.length]));

const oneOfEach = {
  accounts: 1,
  organizations: 1,
  projects: 1,
  resources: 1,
  permissions: 1,
  groups: 1,
  roles: 1,
  users: 2,
  keys: 1,
};

describe('DEV_SEED', () => {
  test('prints a request that is allowed, and the same one after a restart, with nothing created twice', async () => {
    const first = await start({ LOG_LEVEL: 'debug', LOG_PRETTY: 'false' });
    const request = await printed(first);
    expect(first.output()).toContain('A request that answers ALLOWED:');
    expect(await run(request)).toMatchObject(allowed);
    const before = await (await signedIn(first)).everything();
    expect(counts(before)).toEqual(oneOfEach);

    expect((await stat(keptFile())).mode & 0o777).toBe(0o600);
    const { password, key } = await kept();
    expect(first.output()).toContain(keptFile());
    expect(first.output()).not.toContain(password);
    // Every line of the log is an object; the secret is in a line that is not.
    const logged = first
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    expect(logged.length).toBeGreaterThan(0);
    expect(logged.join('\n')).not.toContain(key.clientSecret);
    // The verification mail was read and removed.
    const mails = await readdir(first.mailDir).catch((): string[] => []);
    const texts = await Promise.all(mails.map((name) => readFile(join(first.mailDir, name), 'utf8')));
    expect(texts.filter((text) => text.includes('verify-email'))).toEqual([]);
    await stop(first);

    const second = await start();
    const again = await printed(second);
    expect(again.replaceAll(second.base, first.base)).toBe(request);
    expect(await run(again)).toMatchObject(allowed);
    expect(await (await signedIn(second)).everything()).toEqual(before);
    expect(await kept()).toMatchObject({ password, key });
  });

  test('repairs what is missing: a deleted role with its user and key, a lost secret', async () => {
    const service = await start();
    await printed(service);
    const { token, scope, everything } = await signedIn(service);
    const { keys, roles, users } = await everything();
    const query = `tenant=${scope.tenant}&scopeId=${scope.id}`;
    for (const path of [`api-keys/${keys[0]?.id}`, `users/${users[0]?.id}`, `roles/${roles[0]?.id}`]) {
      await callOrThrow(`${service.base}/api/${path}?${query}`, { token, method: 'DELETE' });
    }
    await stop(service);

    const mended = await start();
    expect(await run(await printed(mended))).toMatchObject(allowed);
    expect(counts(await (await signedIn(mended)).everything())).toEqual(oneOfEach);
    await stop(mended);

    // As if the process had died between creating the key and writing its secret to the file.
    const { email, password, key } = await kept();
    await writeFile(keptFile(), JSON.stringify({ email, password }));
    const rotated = await start();
    expect(await run(await printed(rotated))).toMatchObject(allowed);
    expect((await kept()).key.clientId).toBe(key.clientId);
    expect((await kept()).key.clientSecret).not.toBe(key.clientSecret);
    expect((await call(`${rotated.base}/api/auth/token`, { body: key })).status).toBe(401);
    expect(counts(await (await signedIn(rotated)).everything())).toEqual(oneOfEach);
  });

  test('keeps manual changes, and prints what the request answers now', async () => {
    const service = await start();
    await printed(service);
    const { token, scope, everything } = await signedIn(service);
    const [group] = (await everything()).groups;
    const body = { scope, permissionIds: [] };
    await callOrThrow(`${service.base}/api/groups/${group?.id}`, { token, method: 'PATCH', body });
    const { key } = await kept();
    await stop(service);

    const again = await start();
    expect(await run(await printed(again))).toMatchObject({ data: { reason: 'NO_PERMISSION' } });
    expect(again.output()).toContain('A request that answers NO_PERMISSION:');
    expect((await kept()).key).toEqual(key);
    await stop(again);

    // The users exist in the database; the seed takes over no account whose password is lost.
    await rm(keptFile());
    const lost = await start();
    await warned(lost, 'demo@localhost is registered with another password');
  });

  test('follows the rules of the service: verified address, allowed hosts, a long password', async () => {
    const port = await freePort();
    const env = {
      AUTH_REGISTRATION_MODE: 'verifyFirst',
      AUTH_PASSWORD_MIN_LENGTH: '64',
      SECURITY_ALLOWED_HOSTS: `127.0.0.1:${port}`,
    };
    const service = await start(env, port);
    expect(await run(await printed(service))).toMatchObject(allowed);
  });

  test('is whole when the service is ready: an operator, and users for whom "Why?" answers yes and no', async () => {
    const service = await start({ AUTH_REGISTRATION_MODE: 'closed', LOG_PRETTY: 'false' });
    const { token, scope, everything } = await signedIn(service);
    const { users } = await everything();
    const reasons = users.map(({ id: userId }) =>
      callOrThrow<{ reason: string }>(`${service.base}/api/auth/is-authorized`, {
        token,
        body: { scope, subject: { userId }, permission: { resource: 'invoice', action: 'read' } },
      }),
    );
    expect((await Promise.all(reasons)).map(({ reason }) => reason)).toEqual(['ALLOWED', 'NO_PERMISSION']);
    const query = `tenant=installation&scopeId=${INSTALLATION_ID}`;
    const operators = await call(`${service.base}/api/installation/operators?${query}`, { token });
    expect(operators.status).toBe(200);
    // Requests of the seed are not in the log.
    expect(service.output()).not.toContain('/auth/first-user');
  });

  test('logs why it failed, and the service keeps running', async () => {
    await writeFile(keptFile(), '{');
    const service = await start();
    await warned(service, `${keptFile()} is not valid`);
    expect(requestIn(service.output())).toBeUndefined();
    expect((await fetch(`${service.base}/health/ready`)).status).toBe(200);
  });

  test('creates nothing without the variable', async () => {
    const service = await start({ DEV_SEED: 'false' });
    await stop(service);
    expect(service.output()).not.toContain('Demo  ');
    expect(await readdir(dataDir)).not.toContain('demo.json');
  });
});

test.runIf(inject('postgresUrl'))('of two workers one seeds', async () => {
  const service = await start({ WORKERS: '2' });
  expect(await run(await printed(service))).toMatchObject(allowed);
  await vi.waitFor(() => expect(service.output()).toContain('2 workers'), { timeout: 60_000, interval: 50 });
  expect(counts(await (await signedIn(service)).everything())).toEqual(oneOfEach);
  await stop(service);
  expect(service.output().match(/answers ALLOWED/g)).toHaveLength(1);
});
