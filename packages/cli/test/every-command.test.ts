import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commands } from '../src/commands.ts';
import { exitCodes } from '../src/exit-codes.ts';
import { doorward, emptyFolder, startDoorward, type Ended, type How } from './support/doorward.ts';
import { nameOf, patient, typed, withoutCredential, withoutService } from './support/typed.ts';
import { startWorld, type World } from './support/world.ts';

/** What is promised of every command (docs/cli.md): from the list of commands, so that a new one is covered. */
const token = `eyJhbGciOiJSUzI1NiJ9.${Buffer.from('{"sub":"x"}').toString('base64url')}.signature`;
const scope = 'accountProject:01890000-0000-7000-8000-000000000002:01890000-0000-7000-8000-000000000003';
const codes: readonly (number | null)[] = Object.values(exitCodes);

let folder: string;
const servers: Server[] = [];

async function serve(answer: RequestListener): Promise<{ server: Server; url: string }> {
  const server = createServer(answer);
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
beforeAll(async () => {
  folder = await emptyFolder();
  const policy = `version: 1\nroles: { Clerk: {} }\ntests:\n  - { name: x, permission: 'a:b', expect: { authorized: true } }\n`;
  await writeFile(join(folder, 'doorward.yaml'), policy);
});
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

const at = (url: string, more: Record<string, string> = {}): How => ({
  cwd: folder,
  stdin: 'dwk_x',
  env: { DOORWARD_URL: url, DOORWARD_TOKEN: token, DOORWARD_SCOPE: scope, NO_COLOR: '1', ...more },
});
const isPlain = (text: string): boolean => !text.includes('\u001b');
const isEnvelope = (text: string): boolean => {
  const { error, code } = JSON.parse(text) as { error?: unknown; code?: unknown };
  return typeof error === 'string' && typeof code === 'string';
};

const all = commands.map((command) => ({ name: nameOf(command), command }));
const asking = all.filter(({ name }) => !(name in withoutService) && !withoutCredential.includes(name));

test('exceptions are commands that there are', () => {
  const names = all.map(({ name }) => name);
  expect(
    [...Object.keys(withoutService), ...withoutCredential, ...patient].filter(
      (name) => !names.includes(name),
    ),
  ).toEqual([]);
});

describe.each(all)('$name', ({ name, command }) => {
  test('has a help, and takes no flag that there is not', async () => {
    const [help, wrong] = await Promise.all([
      doorward([...command.path, '--help'], { env: { FORCE_COLOR: '0' } }),
      doorward([...command.path, '--no-such-flag', '--json']),
    ]);
    expect([help.code, help.stderr]).toEqual([0, '']);
    expect(help.stdout).toContain(`Usage: doorward ${name}`);
    expect(help.stdout).toContain(command.summary);
    expect(isPlain(help.stdout)).toBe(true);
    expect([wrong.code, wrong.stdout]).toEqual([2, '']);
    expect(isEnvelope(wrong.stderr)).toBe(true);
  });
});

describe.each(asking)('$name', ({ name, command }) => {
  test('without a service, a sign-in and a person', async () => {
    const refusing = await serve((_, response) => {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: 'Sign in.', code: 'UNAUTHENTICATED', requestId: 'r-1' }));
    });
    const [missing, refused, nobody] = await Promise.all([
      patient.includes(name) ? null : doorward([...typed(command), '--json'], at('http://127.0.0.1:9')),
      doorward([...typed(command), '--json'], at(refusing.url)),
      doorward(typed(command), at(refusing.url, { DOORWARD_TOKEN: '' })),
    ]);
    if (missing) {
      expect([missing.code, missing.stdout], missing.stderr).toEqual([7, '']);
      expect(JSON.parse(missing.stderr)).toMatchObject({ code: 'UNREACHABLE' });
    }
    expect([refused.code, refused.stdout], refused.stderr).toEqual([3, '']);
    expect(JSON.parse(refused.stderr)).toMatchObject({
      code: 'UNAUTHENTICATED',
      status: 401,
      requestId: 'r-1',
    });
    expect([nobody.code, nobody.stdout]).toEqual([3, '']);
    expect(nobody.stderr).toMatch(/^error: .* {2}NOT_SIGNED_IN$/m);
    expect(isPlain(nobody.stderr)).toBe(true);
  });

  test('ends with 130 on Ctrl-C', async () => {
    const { server, url } = await serve(() => undefined);
    const asked = once(server, 'request');
    const run = await startDoorward(typed(command), at(url));
    const first = await Promise.race([asked.then(() => null), run.ended]);
    expect(first).toBeNull();
    run.child.kill('SIGINT');
    const { code, stdout, stderr } = await run.ended;
    expect([code, stdout]).toEqual([130, '']);
    expect(stderr).toMatch(/interrupted/);
  });
});

describe('commands that ask no service, or need no credential', () => {
  const others = all.filter((entry) => !asking.includes(entry));
  test.each(others)('$name ends with a code that is documented, and without colours', async ({ command }) => {
    const runs: Ended[] = await Promise.all([
      doorward([...typed(command), '--json'], at('http://127.0.0.1:9')),
      doorward(typed(command), at('http://127.0.0.1:9', { DOORWARD_TOKEN: '' })),
    ]);
    for (const { code, stdout, stderr } of runs) {
      expect(codes).toContain(code);
      expect(isPlain(stdout + stderr)).toBe(true);
    }
    const [json] = runs;
    if (json?.code !== 0 && json?.stdout === '') expect(isEnvelope(json.stderr)).toBe(true);
  });
});

describe('with a service', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world.service.close());

  /** They only read, and need no argument. */
  const reading = asking.filter(
    ({ name, command }) =>
      Object.keys(command.arguments ?? {}).every((argument) => argument.startsWith('[')) &&
      / (list|versions|export|sessions)$|^(whoami|permissions)$/.test(name),
  );

  test('there are such commands', () => expect(reading.length).toBeGreaterThan(10));

  test.each(reading)(
    '$name gives one JSON value, plain lines to a pipe, and a closed pipe is no fault',
    async ({ name, command }) => {
      const how: How = { cwd: folder, env: { NO_COLOR: '1' } };
      const json = await world.run([...command.path, '--json'], how);
      if (json.code !== 0) {
        // Not in the scope of a project, or not for its owner.
        expect([2, 4, 5], json.stderr).toContain(json.code);
        expect([json.stdout, isEnvelope(json.stderr)]).toEqual(['', true]);
        return;
      }
      if (name !== 'audit export') expect(JSON.parse(json.stdout)).toBeTypeOf('object');
      const lines = await world.run(command.path, how);
      expect([lines.code, isPlain(lines.stdout + lines.stderr)]).toEqual([0, true]);
      const cut = await startDoorward(command.path, { ...how, env: { ...world.owner, ...how.env } });
      cut.child.stdout?.destroy();
      const { code, stderr } = await cut.ended;
      expect([code, stderr]).toEqual([0, '']);
    },
  );
});
