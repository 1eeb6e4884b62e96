import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  asking,
  expectInterrupted,
  expectRefusals,
  filesOfFolder,
  isEnvelope,
  isPlain,
  startRefusing,
} from '../support/every-command.ts';
import { emptyFolder } from '../support/folder.ts';
import type { How } from '../support/run/how.ts';
import { Servers } from '../support/servers.ts';
import { startWorld, type World } from '../support/service/world.ts';

/** Checks every guarantee of docs/cli.md for every command that calls the service. */
const servers = new Servers();
let world: World;
let folder: string;
let refusing: string;

beforeAll(async () => {
  world = await startWorld();
  folder = await emptyFolder();
  for (const [name, text] of Object.entries(filesOfFolder)) await writeFile(join(folder, name), text);
  refusing = (await startRefusing(servers)).url;
});
afterAll(async () => {
  servers.close();
  await world.service.close();
});

test.each(asking)('$name needs a service and a sign-in, and ends with 130 on Ctrl-C', async (entry) => {
  await expectRefusals(entry, folder, refusing);
  await expectInterrupted(entry, folder, servers);
});

/** Read-only commands without required arguments. */
const reading = asking.filter(
  ({ name, command }) =>
    Object.keys(command.arguments ?? {}).every((argument) => argument.startsWith('[')) &&
    / (list|versions|export|sessions)$|^(whoami|permissions)$/.test(name),
);

test('some commands only read', () => expect(reading.length).toBeGreaterThan(10));

test.each(reading)('$name gives one JSON value, and plain lines to a pipe', async ({ name, command }) => {
  const how: How = { cwd: folder, env: { NO_COLOR: '1' } };
  const json = await world.run([...command.path, '--json'], how);
  if (json.code !== 0) {
    // The command isn't available in a project scope, or not to its owner.
    expect([2, 4, 5], json.stderr).toContain(json.code);
    expect([json.stdout, isEnvelope(json.stderr)]).toEqual(['', true]);
    return;
  }
  if (name !== 'audit export') expect(JSON.parse(json.stdout)).toBeTypeOf('object');
  const lines = await world.run(command.path, how);
  expect([lines.code, isPlain(lines.stdout + lines.stderr)]).toEqual([0, true]);
});
