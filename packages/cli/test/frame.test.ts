import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { slowness } from '../../server/test/support/slowness.ts';
import { builtCommand } from './support/built.ts';
import { doorward, startDoorward } from './support/doorward.ts';

/** What every command has: help, flags, exit codes, streams. The services here answer nothing, or nothing good. */
const token = `eyJhbGciOiJSUzI1NiJ9.${Buffer.from('{"sub":"x"}').toString('base64url')}.signature`;
let silent: Server;
let broken: Server;
let urls: { silent: string; broken: string };

const listen = async (server: Server): Promise<string> => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
beforeAll(async () => {
  silent = createServer(() => undefined);
  broken = createServer((_, response) => response.writeHead(502).end('<h1>Bad gateway</h1>'));
  urls = { silent: await listen(silent), broken: await listen(broken) };
});
afterAll(() => {
  for (const server of [silent, broken]) {
    server.closeAllConnections();
    server.close();
  }
});
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

  test('starts quickly', async () => {
    const main = pathToFileURL(await builtCommand()).href;
    // Processor time, because other work of this machine does not change it.
    const script = `process.on('exit', () => {
      const { user, system } = process.cpuUsage();
      process.stderr.write(String((user + system) / 1000));
    });
    process.argv = [process.execPath, 'doorward', '--help'];
    await import('${main}');`;
    const times: number[] = [];
    for (let round = 0; round < 3; round++) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let printed = '';
      child.stderr.on('data', (part: Buffer) => (printed += part.toString()));
      await once(child, 'close');
      times.push(Number(printed));
    }
    expect(Math.min(...times)).toBeGreaterThan(0);
    expect(Math.min(...times)).toBeLessThan(250 * slowness());
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
    [['completion', 'bsh'], 'did you mean bash?'],
    [['check', 'me', 'a:b', '-s', 'organisation:x'], 'did you mean organization?'],
    [['check', 'me', 'a:b', '-s', 'organization:acme'], 'organization:<id>'],
    [['check', 'me', 'a:b', '--org', 'x', '--account'], 'two scopes'],
    [['check', 'me', 'a:b', '--timeout', '0'], '0.1 to 120'],
    [['check', 'me', 'a:b', '--context', '{'], 'no JSON'],
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
  test('ends at once, and names the change that may have been made', async () => {
    const env = {
      ...at(urls.silent).env,
      DOORWARD_SCOPE: `organization:${'0'.repeat(8)}-0000-7000-8000-${'0'.repeat(12)}`,
    };
    const args = ['roles', 'create', '--set', 'name=x', '-v'];
    const asked = once(silent, 'request');
    const run = await startDoorward(args, { env });
    await asked;
    run.child.kill('SIGINT');
    const { code, stderr } = await run.ended;
    expect(code).toBe(130);
    expect(stderr).toContain('interrupted: sent without an answer');
    expect(stderr).toContain('POST /api/roles');
  });

  test('of a question says no more than that', async () => {
    const asked = once(silent, 'request');
    const run = await startDoorward(['whoami'], at(urls.silent));
    await asked;
    run.child.kill('SIGINT');
    expect(await run.ended).toEqual({ code: 130, stdout: '', stderr: 'interrupted\n' });
  });
});

test('a closed pipe ends quietly with 0', async () => {
  const main = await builtCommand();
  const { printed, ended } = await shell(
    `'${process.execPath}' '${main}' --help | true; echo "\${PIPESTATUS[0]}"`,
  );
  await ended;
  expect(printed()).toBe('0\n');
});

async function shell(command: string) {
  const child = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  child.stdout.on('data', (part: Buffer) => (text += part.toString()));
  child.stderr.on('data', (part: Buffer) => (text += part.toString()));
  return { printed: () => text, ended: once(child, 'close') };
}

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

  test('works in bash', async () => {
    const main = await builtCommand();
    const { printed, ended } = await shell(
      [
        `doorward() { '${process.execPath}' '${main}' "$@"; }`,
        'source <(doorward completion bash)',
        'COMP_WORDS=(doorward roles up); COMP_CWORD=2; _doorward; echo "${COMPREPLY[@]}"',
      ].join('\n'),
    );
    await ended;
    expect(printed()).toBe('update\n');
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
