import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../src/exit-codes.ts';
import { doorward } from '../support/run/doorward.ts';
import {
  all,
  asking,
  at,
  expectInterrupted,
  expectRefusals,
  filesOfFolder,
  isEnvelope,
  isPlain,
  others,
  startRefusing,
} from '../support/every-command.ts';
import { emptyFolder } from '../support/folder.ts';
import { Servers } from '../support/servers.ts';
import { patient, typed, withoutCredential, withoutService } from '../support/typed.ts';

/** Guarantees of docs/cli.md for every command. every-command.exhaustive.test.ts checks every combination. */
const codes: readonly (number | null)[] = Object.values(exitCodes);
const servers = new Servers();
let folder: string;
let refusing: string;

beforeAll(async () => {
  folder = await emptyFolder();
  for (const [name, text] of Object.entries(filesOfFolder)) await writeFile(join(folder, name), text);
  refusing = (await startRefusing(servers)).url;
});
afterAll(servers.close);

test('the exceptions exist', () => {
  const names = all.map(({ name }) => name);
  const exceptions = [...Object.keys(withoutService), ...withoutCredential, ...patient];
  expect(exceptions.filter((name) => !names.includes(name))).toEqual([]);
});

test('every command has a help, and refuses an unknown flag', async () => {
  for (const { name, command } of all) {
    const help = await doorward([...command.path, '--help'], { env: { FORCE_COLOR: '0' } });
    expect([help.code, help.stderr], name).toEqual([0, '']);
    expect(help.stdout).toContain(`Usage: doorward ${name}`);
    expect(help.stdout, name).toContain(command.summary);
    expect(isPlain(help.stdout), name).toBe(true);
    const wrong = await doorward([...command.path, '--no-such-flag', '--json']);
    expect([wrong.code, wrong.stdout], name).toEqual([2, '']);
    expect(isEnvelope(wrong.stderr), name).toBe(true);
  }
});

describe.each([
  ['an identity', 'whoami'],
  ['a question', 'check'],
  ['a list', 'roles list'],
  ['a change', 'roles create'],
  ['a deletion by id', 'groups delete'],
  ['a policy', 'policy plan'],
  ['an import', 'users import'],
  ['a download', 'audit export'],
  ['a stream', 'events tail'],
  ['an operation by name', 'api'],
  ['operators over the API', 'operator list'],
])('%s (%s)', (_, name) => {
  const entry = asking.filter((each) => each.name === name);

  test('needs a service and a sign-in', async () => {
    expect(entry).toHaveLength(1);
    for (const each of entry) await expectRefusals(each, folder, refusing);
  });

  test('ends with 130 on Ctrl-C', async () => {
    for (const each of entry) await expectInterrupted(each, folder, servers);
  });
});

test('commands without a service or a credential end with documented codes, without colours', async () => {
  for (const { name, command } of others) {
    const json = await doorward([...typed(command), '--json'], at(folder, 'http://127.0.0.1:9'));
    const text = await doorward(typed(command), at(folder, 'http://127.0.0.1:9', { DOORWARD_TOKEN: '' }));
    for (const { code, stdout, stderr } of [json, text]) {
      expect(codes, name).toContain(code);
      expect(isPlain(stdout + stderr), name).toBe(true);
    }
    if (json.code !== 0 && json.stdout === '') expect(isEnvelope(json.stderr), name).toBe(true);
  }
});
