/**
 * The first run as an operator has it: start the service, follow the printed link, be its first user. Restarts, production
 * and several workers.
 */
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { buildService, call, startService, type Service } from '../../../../scripts/service.ts';
import { postgresDatabase, type TestDatabase } from '../support/databases/postgres.ts';
import { preparedDataDir } from '../support/databases/prepared-data.ts';

let dataDir: string;
const running = new Set<Service>();

beforeAll(() => buildService());
beforeEach(async () => {
  dataDir = await preparedDataDir();
});
afterEach(async () => {
  for (const item of running) await item.kill();
  running.clear();
  await rm(dataDir, { recursive: true, force: true });
});

async function start(env: Record<string, string> = {}, port?: number): Promise<Service> {
  const service = await startService({ dataDir, ...(port === undefined ? {} : { port }), env });
  running.add(service);
  return service;
}

/** A restart of the same process has the same port. */
async function restart(service: Service, env: Record<string, string> = {}): Promise<Service> {
  await stop(service);
  return start(env, Number(new URL(service.base).port));
}

async function stop(service: Service): Promise<void> {
  expect(await service.stop()).toBe(0);
  running.delete(service);
}

const links = (text: string): string[] =>
  [...text.matchAll(/http\S+\/console\/first-user#\S+/g)].map(([link]) => link);

const waiting = { timeout: 60_000, interval: 50 };
vi.setConfig({ testTimeout: 180_000 });

/** The link is printed a moment after the service is ready. */
const printedLink = (service: Service): Promise<string> =>
  vi.waitFor(() => links(service.stdout())[0] ?? expect.fail(service.output()), waiting);

const tokenOf = (link: string): string => new URLSearchParams(new URL(link).hash.slice(1)).get('token') ?? '';

const firstUser = ({ base }: Service, token: string) =>
  call<{ accessToken: string; emailVerified: boolean }>(`${base}/api/auth/first-user`, {
    body: {
      token,
      email: 'ada@example.test',
      password: 'three lanterns in the harbour',
      name: 'Ada Lovelace',
    },
  });

/** On the embedded database, which a first run has. */
const testEmbedded = test.skipIf(inject('postgresUrl'));

testEmbedded('the service prints a link, a restart replaces it, and with a user there is none', async () => {
  let service = await start();
  const former = await printedLink(service);
  expect(former).toContain(`${service.base}/console/first-user#token=`);
  expect(service.stdout()).toContain('Doorward is ready at');

  service = await restart(service);
  const current = await printedLink(service);
  expect((await firstUser(service, tokenOf(former))).text).toContain('INVALID_TOKEN');
  const made = await firstUser(service, tokenOf(current));
  expect(made.status).toBe(201);
  expect(made.data.emailVerified).toBe(true);
  const me = await call(`${service.base}/api/me`, { token: made.data.accessToken });
  expect(me.data).toMatchObject({ user: { email: 'ada@example.test', emailVerified: true } });

  service = await restart(service);
  // The next request is answered after the query that looks for users, because the database has one connection.
  expect((await firstUser(service, tokenOf(current))).text).toContain('INVALID_TOKEN');
  await stop(service);
  expect(links(service.output())).toEqual([]);
});

testEmbedded(
  'in production the log has no token, and the file that it names is only for the user of the process',
  async () => {
    const production = {
      NODE_ENV: 'production',
      APP_URL_ALLOW_HTTP: 'true',
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      LOG_LEVEL: 'info',
      AUTH_REGISTRATION_MODE: 'closed',
    };
    let service = await start(production);
    const file = join(dataDir, 'first-user.txt');
    await vi.waitFor(() => expect(service.output()).toContain(file), waiting);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const [link = ''] = links(await readFile(file, 'utf8'));
    expect(link.split('#')[0]).toBe(`${service.base}/console/first-user`);
    expect(tokenOf(link)).toMatch(/^[\w-]{43}$/);
    expect((await firstUser(service, tokenOf(link))).status).toBe(201);
    await stop(service);
    expect(service.output()).not.toContain(tokenOf(link));
    const written = service.stdout().trim().split('\n');
    expect(written.length).toBeGreaterThan(1);
    for (const line of written) expect(JSON.parse(line)).toHaveProperty('level');

    service = await start(production, Number(new URL(service.base).port));
    await vi.waitFor(() => expect(stat(file)).rejects.toThrow('ENOENT'), waiting);
    await stop(service);
    expect(service.output()).not.toContain('no user yet');
  },
);

testEmbedded('with demo data the log has no link', async () => {
  const service = await start({ DEV_SEED: 'true' });
  await vi.waitFor(() => expect(service.output()).toContain('answers ALLOWED'), waiting);
  expect(links(service.output())).toEqual([]);
});

describe.runIf(inject('postgresUrl'))('two workers', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await postgresDatabase(inject('postgresUrl'), null);
  });
  afterEach(() => database.drop());

  test('print one link, below the banner', async () => {
    const env = {
      WORKERS: '2',
      DATABASE_URL: database.url,
      ENCRYPTION_KEY: Buffer.alloc(32, 5).toString('base64'),
    };
    const service = await start(env);
    const link = await printedLink(service);
    expect(service.stdout().indexOf(link)).toBeGreaterThan(service.stdout().indexOf('Doorward is ready at'));
    expect((await firstUser(service, tokenOf(link))).status).toBe(201);
    await stop(service);
    expect(links(service.output())).toEqual([link]);
  });
});
