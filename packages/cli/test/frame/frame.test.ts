import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { doorward, startDoorward } from '../support/run/doorward.ts';
import { emptyFolder } from '../support/folder.ts';
import { Servers } from '../support/servers.ts';
import { token } from '../support/token.ts';

/** Help, flags, exit codes and streams, common to all commands. The services here don't respond, or respond badly. */
const id = '01890000-0000-7000-8000-000000000001';
const servers = new Servers();
let urls: { silent: string; broken: string };

beforeAll(async () => {
  const silent = await servers.listen(() => undefined);
  const broken = await servers.listen((_, response) => response.writeHead(502).end('<h1>Bad gateway</h1>'));
  urls = { silent: silent.url, broken: broken.url };
});
afterAll(servers.close);
const at = (url: string) => ({ env: { DOORWARD_URL: url, DOORWARD_TOKEN: token } });

describe('help', () => {
  test('lists the commands, and nothing that does not exist', async () => {
    const { code, stdout, stderr } = await doorward(['--help']);
    expect([code, stderr]).toEqual([0, '']);
    for (const word of [
      'login',
      'check',
      'who-can',
      'keys',
      'policy',
      'audit',
      'events',
      'completion',
      'start',
      'migrate',
      'doctor',
    ])
      expect(stdout).toMatch(new RegExp(`^ {2}${word}`, 'm'));
    expect(stdout).not.toMatch(/__complete|--device/);
  });

  test('is there for each command, with the flags of all', async () => {
    const { code, stdout } = await doorward(['keys', 'create', '--help']);
    expect(code).toBe(0);
    for (const flag of ['--expires', '--secret-only', '--scope', '--json']) expect(stdout).toContain(flag);
    expect((await doorward(['roles', 'update', '-h'])).stdout).toContain('groupIds (list)');
  });

  test('the version', async () => {
    expect((await doorward(['-V'])).stdout).toMatch(/^\d+\.\d+\.\d+(-rc\.\d+)?\n$/);
  });
});

describe('what is not understood ends with 2', () => {
  test.each([
    [['chek'], 'did you mean check?'],
    [['keys', 'lst'], 'did you mean list?'],
    [['keys', 'list', '--serch', 'x'], 'did you mean --search?'],
    [['keys', 'list', '--limit', '0'], '1 to 100'],
    [['check', 'me'], "argument 'permission'"],
    [['check', 'me', 'a:b', 'c'], 'arguments'],
    [['check', 'me', 'order'], '<resource>:<action>'],
    [['check', 'usr:1', 'a:b'], 'did you mean user?'],
    [['keys'], 'Which command?'],
    [['keys'], 'doorward keys --help lists them'],
    [['-s', 'account:x', 'users', 'delete'], 'doorward users --help lists what there is'],
    [['users', 'list', '--zzzz'], 'doorward users list --help lists what there is'],
    [['destroy'], 'doorward --help lists what there is'],
    [['completion', 'bsh'], 'did you mean bash?'],
    [['check', 'me', 'a:b', '-s', 'organisation:x'], 'did you mean organization?'],
    [['check', 'me', 'a:b', '-s', 'organization:acme'], 'organization:<id>'],
    [['check', 'me', 'a:b', '--org', 'x', '--account'], 'two scopes'],
    [['check', 'me', 'a:b', '--timeout', '0'], '0.1 to 120'],
    [['check', 'me', 'a:b', '--context', '{'], 'not valid JSON'],
    [['check', 'me', 'a:b', '--context', '{"owner":1}'], 'resource'],
    [['check', 'me', 'a:b', '--context', '@/nowhere.json'], 'ENOENT'],
    [['check', 'me', 'a:b', '--url', 'http://access.example.com'], 'must be https'],
    [['check', 'me', 'a:b', '--url', 'https://u:p@access.example.com'], 'user name or password'],
    [['audit', 'verify', '/nowhere'], 'ENOENT'],
    [['api', 'creatRole'], 'did you mean createRole?'],
    [['profile', 'use', 'no/such'], 'profile'],
  ])('%j', async (args, text) => {
    const { code, stdout, stderr } = await doorward(args, at(urls.broken));
    expect(code, stderr).toBe(args[0] === 'profile' ? 5 : 2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^error: .*[A-Z_]+$/m);
    expect(stderr).toContain(text);
  });

  test('also as JSON', async () => {
    const { code, stderr } = await doorward(['chek', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(stderr)).toEqual({
      error: "Unknown command 'chek'.",
      code: 'USAGE',
      fix: 'did you mean check?',
    });
  });
});

describe('a service', () => {
  test('that nobody named', async () => {
    const { code, stderr } = await doorward(['whoami'], { env: { DOORWARD_TOKEN: token } });
    expect([code, stderr]).toEqual([2, expect.stringContaining('DOORWARD_URL')]);
  });

  test('that is not reached', async () => {
    const { code, stderr } = await doorward(['whoami'], at('http://127.0.0.1:9'));
    expect([code, stderr]).toEqual([7, expect.stringContaining('UNREACHABLE')]);
  });

  test('that is something else', async () => {
    const { code, stderr } = await doorward(['whoami', '--json'], at(urls.broken));
    expect([code, JSON.parse(stderr)]).toEqual([7, expect.objectContaining({ code: 'BAD_ANSWER' })]);
  });

  test('that does not answer in time', async () => {
    const { code, stderr } = await doorward(
      ['roles', 'create', '--set', 'name=x', '--timeout', '0.3'],
      at(urls.silent),
    );
    expect([code, stderr]).toEqual([7, expect.stringContaining('TIMEOUT')]);
  });

  test('without a sign-in', async () => {
    const { code, stderr } = await doorward(['whoami'], { env: { DOORWARD_URL: urls.silent } });
    expect([code, stderr]).toEqual([3, expect.stringContaining('doorward login')]);
  });
});

describe('Ctrl-C', () => {
  const interruptedAt = async (args: readonly string[], times: number) => {
    const { server, url } = await servers.listen(() => undefined);
    const asked = once(server, 'request');
    const env = {
      ...at(url).env,
      DOORWARD_SCOPE: `organization:${id}`,
    };
    const run = startDoorward(args, { env });
    await asked;
    for (let time = 0; time < times; time++) run.interrupt();
    return run.ended;
  };

  test('ends at once, and names the change that may have been made', async () => {
    const { code, stderr } = await interruptedAt(['roles', 'create', '--set', 'name=x', '-v'], 1);
    expect(code).toBe(130);
    expect(stderr).toContain('interrupted: no response to these requests');
    expect(stderr).toContain('POST /api/roles');
  });

  test('of a question says no more than that', async () => {
    expect(await interruptedAt(['whoami'], 1)).toEqual({ code: 130, stdout: '', stderr: 'interrupted\n' });
  });

  test('ends the run that gets it and no other', async () => {
    const answers: ServerResponse[] = [];
    const { server, url } = await servers.listen((_, response) => void answers.push(response));
    const start = async () => {
      const asked = once(server, 'request');
      const run = startDoorward(['roles', 'create', '--set', 'name=x'], at(url));
      await asked;
      return run;
    };
    const [first, second] = [await start(), await start()];
    first.interrupt();
    expect((await first.ended).code).toBe(130);
    answers.forEach((answer) => answer.writeHead(502).end());
    expect((await second.ended).code).toBe(7);
  });

  test('waits until a renewed session is stored, because the former tokens are used up', async () => {
    const answers: ServerResponse[] = [];
    const { server, url } = await servers.listen((_, response) => void answers.push(response));
    const path = join(await emptyFolder(), 'credentials.json');
    const session = { kind: 'session', url, accessToken: token, refreshToken: 'former', renewAt: 0 };
    await writeFile(path, JSON.stringify({ default: session }), { mode: 0o600 });
    const asked = once(server, 'request');
    const run = startDoorward(['roles', 'list', '--url', url, '-s', `organization:${id}`], {
      env: { DOORWARD_CONFIG_DIR: dirname(path) },
    });
    await asked;
    run.interrupt();
    const data = { accessToken: token, refreshToken: 'renewed', expiresIn: 600 };
    answers[0]
      ?.writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ success: true, data }));
    expect(await run.ended).toEqual({ code: 130, stdout: '', stderr: 'interrupted\n' });
    expect(await readFile(path, 'utf8')).toContain('renewed');
  });

  test('twice ends without a word', async () => {
    expect(await interruptedAt(['whoami'], 2)).toEqual({ code: 130, stdout: '', stderr: '' });
  });
});

describe('completion', () => {
  test.each([
    [['ke'], ['keys']],
    [['keys', 're'], ['revoke']],
    [['keys', 'create', '--ex'], ['--expires']],
    [['api', 'createWeb'], ['createWebhookSubscription']],
    [['completion', 'z'], ['zsh']],
  ])('of %j', async (words, candidates) => {
    const { stdout } = await doorward(['__complete', '--', ...words]);
    expect(stdout.trim().split('\n')).toEqual(candidates);
  });

  test.each(['zsh', 'fish', 'powershell'])('of %s is a script', async (name) => {
    expect((await doorward(['completion', name])).stdout).toContain('doorward __complete --');
  });
});

describe('colour', () => {
  const red = '\u001b[31m';
  test.each([
    ['on a terminal', {}, [], true],
    ['not with NO_COLOR', { NO_COLOR: '1' }, [], false],
    ['not in CI', { CI: 'true' }, [], false],
    ['not with --color never', {}, ['--color', 'never'], false],
  ])('%s', async (_, env, flags, isOn) => {
    const { stdout } = await doorward(['check', 'me', 'order', '--url', urls.broken, ...flags], {
      columns: 80,
      env,
    });
    expect(stdout.includes(red)).toBe(isOn);
    expect(stdout).toContain('error:');
  });

  test('not into a pipe, unless it is forced', async () => {
    const args = ['check', 'me', 'order', '--url', urls.broken];
    expect((await doorward(args)).stderr).not.toContain(red);
    expect((await doorward(args, { env: { FORCE_COLOR: '1' } })).stderr).toContain(red);
  });
});
