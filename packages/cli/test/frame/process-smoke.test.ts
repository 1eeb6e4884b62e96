import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtCommand } from '../support/run/built.ts';
import { doorwardProcess, startDoorwardProcess } from '../support/run/process.ts';
import { emptyFolder } from '../support/folder.ts';
import { Servers } from '../support/servers.ts';
import { token } from '../support/token.ts';

/** Streams, signals and exit codes of a real process. frame.process.test.ts has more. */
const servers = new Servers();
let doorward: string;
beforeAll(async () => {
  doorward = `'${process.execPath}' '${await builtCommand()}'`;
});
afterAll(servers.close);

async function bash(script: string): Promise<string> {
  const shell = spawn('bash', ['-c', `exec 2>&1\n${script}`], { stdio: ['ignore', 'pipe', 'ignore'] });
  return text(shell.stdout);
}

test('help goes to stdout', async () => {
  const { code, stdout, stderr } = await doorwardProcess(['--help']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^ {2}who-can /m);
});

test('a refusal of its input goes to stderr and has an exit code', async () => {
  const cwd = await emptyFolder();
  await writeFile(join(cwd, 'fields.json'), '{"name": "Company"}');
  const args = ['connections', 'create', '--from', 'fields.json'];
  const { code, stdout, stderr } = await doorwardProcess(args, { cwd, stdin: 'two words' });
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('Client secret is missing');
});

test('Ctrl-C ends it while the service has not answered', async () => {
  const { server, url } = await servers.listen(() => undefined);
  const asked = once(server, 'request');
  const env = { DOORWARD_URL: url, DOORWARD_TOKEN: token };
  const run = await startDoorwardProcess(['roles', 'create', '--set', 'name=x'], { env });
  await asked;
  run.child.kill('SIGINT');
  const { code, stderr } = await run.ended;
  expect([code, stderr]).toEqual([130, expect.stringContaining('POST /api/roles')]);
});

test('a closed pipe ends it quietly with 0', async () => {
  expect(await bash(`${doorward} --help | true; echo "\${PIPESTATUS[0]}"`)).toBe('0\n');
});

test('completion works in bash', async () => {
  const script = [
    `doorward() { ${doorward} "$@"; }`,
    'source <(doorward completion bash)',
    'COMP_WORDS=(doorward roles up); COMP_CWORD=2; _doorward; echo "${COMPREPLY[@]}"',
  ];
  expect(await bash(script.join('\n'))).toBe('update\n');
});
