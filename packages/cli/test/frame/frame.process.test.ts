import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { slowness } from '../../../server/test/support/app/slowness.ts';
import { builtCommand } from '../support/run/built.ts';
import { doorwardProcess, startDoorwardProcess } from '../support/run/process.ts';
import { Servers } from '../support/servers.ts';
import { token } from '../support/token.ts';

/** Behavior that only a separate process shows: startup, signals, a real terminal. */
const scope = 'organization:01890000-0000-7000-8000-000000000001';
const servers = new Servers();
afterAll(servers.close);

test('help starts quickly', async () => {
  const main = pathToFileURL(await builtCommand()).href;
  // Measures CPU time, because other load on the machine doesn't affect it.
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

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s ends it with 130', async (signal) => {
  const { server, url } = await servers.listen(() => undefined);
  const asked = once(server, 'request');
  // Without the signal, this request would keep the process alive until it times out.
  const run = await startDoorwardProcess(['check', 'me', 'a:b', '--timeout', '120'], {
    env: { DOORWARD_URL: url, DOORWARD_TOKEN: token, DOORWARD_SCOPE: scope },
  });
  await asked;
  run.child.kill(signal);
  expect(await run.ended).toEqual({ code: 130, stdout: '', stderr: 'interrupted\n' });
});

test('a terminal has colours and its width', async () => {
  const wrong = await doorwardProcess(['check', 'me', 'order', '--url', 'http://127.0.0.1:9'], {
    columns: 100,
  });
  expect(wrong.stdout).toContain('\u001b[31merror:');
  const help = await doorwardProcess(['--help'], { columns: 100 });
  const lines = help.stdout.split('\r\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
});

test('Ctrl-C is a key while a terminal asks', async () => {
  const args = ['login', '--key', '--client-id', 'x', '--url', 'http://127.0.0.1:9', '-s', scope];
  const run = await startDoorwardProcess(args, { columns: 100 });
  await run.printed(/Client secret: /);
  run.child.stdin?.write('hidden\u0003');
  const { code, stdout } = await run.ended;
  expect([code, stdout]).toEqual([130, expect.stringContaining('interrupted')]);
  expect(stdout).not.toContain('hidden');
});

test('input comes from a pipe', async () => {
  const args = ['check', 'me', 'a:b', '--context', '-', '--url', 'http://127.0.0.1:9'];
  const read = await doorwardProcess(args, { stdin: '{"owner": 1}' });
  expect([read.code, read.stderr]).toEqual([2, expect.stringContaining('--context has one member')]);
});

test('a stream ends quietly with 0 when its reader closes the pipe', async () => {
  // Larger than a pipe buffer, so that a write hits the closed end.
  const line = `${JSON.stringify({ sequence: 1, text: 'x'.repeat(1000) })}\n`;
  const { url } = await servers.listen((_, response) => response.end(line.repeat(1000)));
  const env = { DOORWARD_URL: url, DOORWARD_TOKEN: token, DOORWARD_SCOPE: scope };
  const run = await startDoorwardProcess(['audit', 'export'], { env });
  run.child.stdout?.destroy();
  const { code, stderr } = await run.ended;
  expect([code, stderr]).toEqual([0, '']);
});
