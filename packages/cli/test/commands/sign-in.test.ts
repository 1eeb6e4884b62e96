import { chmod, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { auditLog } from '../../../server/src/schema/events/audit-log-entry.ts';
import { newBrowser } from '../support/service/browser.ts';
import { doorward, startDoorward } from '../support/run/doorward.ts';
import { emptyFolder } from '../support/folder.ts';
import type { How } from '../support/run/how.ts';
import { Servers } from '../support/servers.ts';
import { startWorld, type World } from '../support/service/world.ts';

const servers = new Servers();
let world: World;
let folder: string;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  servers.close();
  await world.service.close();
});
beforeEach(async () => (folder = await emptyFolder()));

/** With the profiles of this test, and nothing else. */
const run = (args: readonly string[], how: How = {}) =>
  doorward(args, { ...how, env: { DOORWARD_CONFIG_DIR: folder, ...how.env } });
const stored = async (name: string): Promise<string> => readFile(join(folder, `${name}.json`), 'utf8');

interface Session {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly renewAt: number;
}
const storedSession = async (): Promise<Session> =>
  (JSON.parse(await stored('credentials')) as { default: Session }).default;

/** A service that supports none of these sign-in methods. */
const olderService = () =>
  servers.listen((_, response) => {
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ code: 'NOT_FOUND', error: 'No such route.' }));
  });

async function signIn(decision: 'approve' | 'deny' = 'approve') {
  const person = await world.service.app.person();
  const env = { DOORWARD_CONFIG_DIR: folder };
  const command = startDoorward(['login', '--no-browser', '--url', world.service.url, '-v'], { env });
  const [, address = ''] = await command.printed(/Sign in here: (http\S+)/);
  const browser = newBrowser(world.service.url);
  await browser.send(address);
  const back = await browser.decide(person, decision);
  return { command, back, address: person.email };
}

describe('in the browser', () => {
  test('gives a session that is renewed, and ends', async () => {
    const { command, back, address } = await signIn();
    const page = await (await fetch(back)).text();
    expect(page).toContain('You are signed in.');
    const { code, stdout, stderr } = await command.ended;
    expect([code, stdout]).toEqual([
      0,
      `Signed in to ${world.service.url} as ${address}, profile default.\n`,
    ]);
    expect(stderr).not.toMatch(/eyJ[\w-]+\.eyJ|code=|codeVerifier/);

    const { refreshToken } = await storedSession();
    expect((await stat(join(folder, 'credentials.json'))).mode & 0o777).toBe(0o600);
    expect(await stored('config')).not.toContain(refreshToken);
    expect([stdout, stderr].join('')).not.toContain(refreshToken);

    const me = await run(['whoami', '--json']);
    expect(me.stderr).toBe('');
    expect(JSON.parse(me.stdout)).toMatchObject({
      name: address,
      method: 'session',
      profile: 'default',
      url: world.service.url,
    });
    const before = await storedSession();
    expect(before.renewAt).toBeGreaterThan(Date.now());
    const old = JSON.stringify({ default: { ...before, renewAt: 0 } });
    await writeFile(join(folder, 'credentials.json'), old, { mode: 0o600 });
    const renewals = () =>
      world.service.app.database.pool.$count(auditLog, eq(auditLog.operation, 'refreshSession'));
    const renewalsBefore = await renewals();
    const three = await Promise.all([run(['whoami']), run(['whoami']), run(['users', 'sessions'])]);
    expect(three.map(({ code, stderr }) => [code, stderr])).toEqual([0, 0, 0].map((none) => [none, '']));
    expect((await renewals()) - renewalsBefore).toBe(1);
    expect(await stored('credentials')).not.toContain(refreshToken);
    expect((await run(['users', 'sessions'])).stdout).toMatch(/\tcli\tcurrent\t/);

    const elsewhere = await run(['whoami', '--url', 'http://127.0.0.1:9']);
    expect([elsewhere.code, elsewhere.stderr]).toEqual([3, expect.stringContaining('sent nowhere else')]);
    const last = await storedSession();
    const out = await run(['logout']);
    expect(out).toEqual({ code: 0, stdout: '', stderr: 'Signed out of the profile default.\n' });
    expect(
      (
        await world.service.app.call('refreshSession', {
          accessToken: last.accessToken,
          refreshToken: last.refreshToken,
        })
      ).status,
    ).toBe(401);
    expect((await run(['whoami'])).code).toBe(3);
    expect((await run(['logout'])).code).toBe(3);
  });

  test('ends when another sign-in takes its place', async () => {
    const { command, back } = await signIn();
    await fetch(back);
    expect((await command.ended).code).toBe(0);
    const { accessToken, refreshToken } = await storedSession();
    const { clientId, clientSecret } = world.project.options;
    const args = ['login', '--key', '--client-id', clientId, '-s', world.scope];
    expect((await run(args, { stdin: clientSecret })).code).toBe(0);
    const { app } = world.service;
    expect((await app.call('refreshSession', { accessToken, refreshToken })).status).toBe(401);
  });

  test('is over when the person refuses', async () => {
    const { command, back } = await signIn('deny');
    expect(await (await fetch(back)).text()).toContain('You are not signed in.');
    const { code, stderr } = await command.ended;
    expect([code, stderr]).toEqual([3, expect.stringContaining('refused in the browser')]);
    await expect(stored('credentials')).rejects.toThrow();
  });

  test('takes the answer at its own address with its own state only', async () => {
    const env = { DOORWARD_CONFIG_DIR: folder };
    const command = startDoorward(['login', '--no-browser', '--url', world.service.url], { env });
    const [, address = ''] = await command.printed(/Sign in here: (http\S+)/);
    const redirect = new URL(address).searchParams.get('redirect') ?? '';
    const [port, state] = [new URL(redirect).port, new URL(address).searchParams.get('state') ?? ''];
    for (const url of [
      `${redirect}?code=forged&state=wrong`,
      `${redirect}?code=forged`,
      `http://127.0.0.1:${port}/?code=forged&state=${state}`,
    ])
      expect((await fetch(url)).status).toBe(404);
    expect(null as never).toBeNull();
    command.interrupt();
    expect((await command.ended).code).toBe(130);
  });

  test('says when the service has none, as one that is older', async () => {
    const older = await olderService();
    const { code, stderr } = await run(['login', '--no-browser', '--url', older.url]);
    expect([code, stderr]).toEqual([5, expect.stringContaining('NOT_FOUND')]);
    expect(stderr).toContain('login --key');
  });
});

describe('with a code', () => {
  /** Until the code is shown; the person has entered it in a browser elsewhere. */
  async function begin(args: readonly string[] = [], more: Record<string, string> = {}) {
    const env = { DOORWARD_CONFIG_DIR: folder, ...more };
    const command = startDoorward(['login', '--url', world.service.url, ...args], { env });
    const [, page = '', code = ''] = await command.printed(/Open (\S+) .* the code ([A-Z]{4}-[A-Z]{4})/);
    expect(page).toBe(`${world.service.url}/device`);
    const browser = newBrowser(world.service.url);
    await browser.send('/api/auth/project/device/enter', { user_code: code });
    return { command, browser };
  }

  test('gives a session, by default without a display', async () => {
    const person = await world.service.app.person();
    const { command, browser } = await begin();
    expect(await browser.decide(person, 'approve')).toBe(`${world.service.url}/device?result=approved`);
    const { code, stdout, stderr } = await command.ended;
    expect([code, stdout]).toEqual([
      0,
      `Signed in to ${world.service.url} as ${person.email}, profile default.\n`,
    ]);
    expect(stderr).not.toMatch(/eyJ/);
    expect((await run(['users', 'sessions'])).stdout).toMatch(/\tcli\tcurrent\t/);
  });

  test('is over when the person refuses, also over SSH with a display', async () => {
    const person = await world.service.app.person();
    const ssh = { DISPLAY: ':0', SSH_CONNECTION: '192.0.2.1 5000 192.0.2.2 22' };
    const { command, browser } = await begin([], ssh);
    expect(await browser.decide(person, 'deny')).toBe(`${world.service.url}/device?result=denied`);
    const { code, stderr } = await command.ended;
    expect([code, stderr]).toEqual([3, expect.stringContaining('was refused in the browser')]);
    await expect(stored('credentials')).rejects.toThrow();
  });

  test('ends at once with Ctrl-C', async () => {
    const { command } = await begin(['--device'], { BROWSER: '/bin/true' });
    command.interrupt();
    expect((await command.ended).code).toBe(130);
  });

  test('is one way to sign in, and says when the service has it not', async () => {
    for (const other of ['--key', '--no-browser']) {
      const { code, stderr } = await run(['login', '--device', other, '--url', world.service.url]);
      expect([code, stderr]).toEqual([2, expect.stringContaining('--device')]);
    }
    const older = await olderService();
    const { code, stderr } = await run(['login', '--device', '--url', older.url]);
    expect([code, stderr]).toEqual([5, expect.stringContaining('no sign-in with a code')]);
  });
});

describe('with a key', () => {
  const keyLogin = () => {
    const { clientId, url } = world.project.options;
    return ['login', '--key', '--client-id', clientId, '--url', url, '-s', world.scope];
  };
  const login = (stdin: string) => run(keyLogin(), { stdin });

  test('stores it after it was tried', async () => {
    const { clientSecret } = world.project.options;
    const wrong = await login(`dwk_${'x'.repeat(52)}\n`);
    expect(wrong.code).toBe(3);
    await expect(stored('credentials')).rejects.toThrow();
    const { code, stdout, stderr } = await login(`${clientSecret}\n`);
    expect(code, stderr).toBe(0);
    expect(stdout + stderr + (await stored('config'))).not.toContain(clientSecret);
    const me = await run(['whoami', '--json', '--permissions']);
    expect(JSON.parse(me.stdout)).toMatchObject({
      method: 'key',
      apiKeyId: world.project.key.id,
      scope: world.scope,
    });
    expect((await run(['roles', 'list'])).stdout).toContain('Project Admin');
    expect((await run(['logout'])).stderr).toBe('Forgot the sign-in of the profile default.\n');
  });

  test('asks for it on a terminal without an echo', async () => {
    const { clientSecret } = world.project.options;
    const command = startDoorward(keyLogin(), { env: { DOORWARD_CONFIG_DIR: folder }, columns: 100 });
    await command.printed(/Client secret: /);
    command.type(`${clientSecret}\n`);
    const { code, stdout } = await command.ended;
    expect([code, stdout]).toEqual([0, expect.stringContaining('Signed in to')]);
    expect(stdout).not.toContain(clientSecret);
  });

  test('is refused while others may read it', async () => {
    await login(world.project.options.clientSecret);
    const path = join(folder, 'credentials.json');
    await chmod(path, 0o644);
    const { code, stderr } = await run(['whoami']);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`chmod 600 ${path}`)]);
  });

  test('waits for a lock, and breaks that of a process that is gone', async () => {
    const { clientSecret } = world.project.options;
    await writeFile(join(folder, 'credentials.json.lock'), '999999999');
    expect((await login(clientSecret)).code).toBe(0);
    const path = join(folder, 'credentials.json.lock');
    await writeFile(path, String(process.pid));
    await utimes(path, new Date(), new Date(Date.now() - 120_000));
    expect((await login(clientSecret)).code).toBe(0);
    await expect(stat(path)).rejects.toThrow();
  });
});

describe('profiles', () => {
  test('are stored, chosen and removed', async () => {
    expect(
      (await run(['profile', 'set', 'work', '--url', `${world.service.url}/`, '-s', world.scope])).code,
    ).toBe(0);
    expect((await run(['profile', 'set', 'home', '--url', 'https://home.example'])).code).toBe(0);
    expect((await run(['profile', 'list'])).stdout).toBe(
      `home\t\thttps://home.example\t\t\nwork\tcurrent\t${world.service.url}\t${world.scope}\t\n`,
    );
    expect((await run(['profile', 'use', 'home'])).code).toBe(0);
    const env = { DOORWARD_TOKEN: world.project.owner.token };
    expect((await run(['roles', 'list', '--profile', 'work'], { env })).stdout).toContain('Project Admin');
    const byVariable = await run(['roles', 'list'], { env: { ...env, DOORWARD_PROFILE: 'work' } });
    expect(byVariable.code).toBe(0);
    expect((await run(['profile', 'remove', 'work'])).code).toBe(0);
    expect((await run(['roles', 'list', '--profile', 'work'], { env })).code).toBe(2);
    expect((await run(['profile', 'remove', 'work'])).code).toBe(5);
    for (const name of ['../x', '', '__proto__', 'a b'])
      expect((await run(['profile', 'set', name, '--url', 'https://x.example'])).code, name).toBe(2);
  });

  test('yield to the environment, and that to flags', async () => {
    await run(['profile', 'set', '--url', 'http://127.0.0.1:9']);
    const env = { DOORWARD_TOKEN: world.project.owner.token };
    expect((await run(['whoami'], { env })).code).toBe(7);
    expect((await run(['whoami'], { env: { ...env, DOORWARD_URL: world.service.url } })).code).toBe(0);
    const flag = await run(['whoami', '--url', 'http://127.0.0.1:9'], {
      env: { ...env, DOORWARD_URL: world.service.url },
    });
    expect(flag.code).toBe(7);
  });
});
