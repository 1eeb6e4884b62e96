import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { OperatorRow } from '../../src/environment/programs.ts';
import { doorward, startDoorward } from '../support/run/doorward.ts';
import { emptyFolder } from '../support/folder.ts';
import type { How } from '../support/run/how.ts';
import { programsWith } from '../support/machine/programs-with.ts';

/** `operator` on the machine of the service: when it uses the database directly, and what it prints. */
const ada: OperatorRow = {
  userId: '01890000-0000-7000-8000-000000000001',
  name: 'Ada',
  email: 'ada@example.test',
  role: { id: '01890000-0000-7000-8000-000000000002', name: 'Installation Operator' },
  source: 'commandLine',
  createdBy: null,
  createdAt: new Date(0),
};
const nowhere = 'http://127.0.0.1:9';

/** Programs that fail with an error of the service. The command recognizes it by its name. */
const failing = (name: string, message: string, facts: object = {}) => ({
  operators: () => Promise.reject(Object.assign(new Error(message), { name, ...facts })),
});

const run = (args: readonly string[], programs: Parameters<typeof programsWith>[0], how: How = {}) =>
  doorward(['operator', ...args], { ...how, programs: programsWith(programs) });

/** Points the configuration to a folder with the stored session of a profile. */
async function signedIn(): Promise<Record<string, string>> {
  const folder = join(await emptyFolder(), 'profiles');
  await mkdir(folder, { mode: 0o700 });
  const session = { kind: 'session', url: nowhere, accessToken: 'a', refreshToken: 'r', renewAt: 0 };
  await writeFile(join(folder, 'credentials.json'), JSON.stringify({ default: session }), { mode: 0o600 });
  await writeFile(join(folder, 'config.json'), JSON.stringify({ profiles: { default: { url: nowhere } } }));
  return { DOORWARD_CONFIG_DIR: folder };
}

describe('the database is asked', () => {
  const list = { operators: async () => [ada] };
  const usesDatabase = async (args: readonly string[], env: Record<string, string>): Promise<boolean> => {
    const { code, stderr } = await run(['list', ...args], list, { env });
    if (code === 0) return true;
    expect([code, stderr]).toEqual([7, expect.stringContaining('UNREACHABLE')]);
    return false;
  };

  test('where the flags or the environment name it, or no sign-in is stored', async () => {
    expect(await usesDatabase([], {})).toBe(true);
    expect(await usesDatabase([], { ...(await signedIn()), DATA_DIR: '/data' })).toBe(true);
    expect(await usesDatabase([], { ...(await signedIn()), DATABASE_URL: 'postgres://db/x' })).toBe(true);
    expect(await usesDatabase(['--data-dir', '/data'], { DOORWARD_URL: nowhere })).toBe(true);
  });

  test('not where they name a service, or a sign-in is stored', async () => {
    expect(await usesDatabase([], await signedIn())).toBe(false);
    expect(await usesDatabase(['--url', nowhere], await signedIn())).toBe(false);
    expect(await usesDatabase([], { ...(await signedIn()), DOORWARD_URL: nowhere, DATA_DIR: '/data' })).toBe(
      false,
    );
  });

  test('in place of a service that uses it, if nobody has signed in', async () => {
    const inUse = failing('DataDirectoryInUse', '/data is in use by process 7. Stop it.');
    const alone = await run(['list'], inUse);
    expect([alone.code, alone.stderr]).toEqual([6, expect.stringContaining('in use by process 7')]);
    const how = { env: { ...(await signedIn()), DATA_DIR: '/data' } };
    const { code, stderr } = await run(['list'], inUse, how);
    expect(code).toBe(7);
    expect(stderr).toContain('/data is in use by process 7: the running service is asked instead.');
  });
});

test.each([
  ['ConfigError', {}, 2, 'CONFIG'],
  ['InvalidInput', {}, 2, 'USAGE'],
  ['DatabaseUnusable', {}, 7, 'DATABASE_UNUSABLE'],
  ['MigrationsPending', {}, 6, 'doorward migrate'],
  ['NewerDatabase', {}, 6, 'use that version'],
  ['OperatorRefused', { fault: 'unknown' }, 5, 'doorward operator list'],
  ['OperatorRefused', { fault: 'exists' }, 6, 'CONFLICT'],
  ['OperatorRefused', { fault: 'last' }, 6, 'add another operator first'],
  ['Error', {}, 7, 'UNEXPECTED'],
])('%s %j ends with %i', async (name, facts, code, text) => {
  const { stderr, ...ended } = await run(['list'], failing(name, 'It failed.', facts));
  expect(ended).toEqual({ code, stdout: '' });
  expect(stderr).toContain('It failed.');
  expect(stderr).toContain(text);
});

test('operators are listed, and one of a development installation is explained', async () => {
  const operators = async () => [ada, { ...ada, source: 'development' as const }];
  const { code, stdout, stderr } = await run(['list'], { operators });
  expect(code).toBe(0);
  expect(stdout).toContain(
    `${ada.userId}\tAda\tada@example.test\tInstallation Operator\tcommandLine\t1970-01-01T00:00:00.000Z\n`,
  );
  expect(stderr).toContain('does not run in production');
});

describe('an operator is added', () => {
  test('with what was given, and a note if nobody has verified the address', async () => {
    const sent: object[] = [];
    const addOperator = async (_: object, input: object) => {
      sent.push(input);
      return { ...ada, userId: null, source: 'prepared' as const };
    };
    const args = ['add', 'ada@example.test', '--role', 'support', '--reason', 'They help'];
    const { code, stderr } = await run(args, { addOperator });
    expect([code, stderr]).toEqual([0, expect.stringContaining('No user has verified')]);
    await run(['add', 'grace@example.test'], { addOperator });
    expect(sent).toEqual([
      { email: 'ada@example.test', role: 'support', reason: 'They help' },
      { email: 'grace@example.test', role: 'operator', reason: undefined },
    ]);
  });

  test('not in a dry run', async () => {
    const { code, stdout } = await run(['add', 'ada@example.test', '--dry-run'], {});
    expect([code, stdout]).toEqual([0, 'Would add ada@example.test as operator; nothing was changed.\n']);
  });
});

describe('an operator is removed', () => {
  const operators = async () => [{ ...ada, source: 'configuration' as const }, ada];
  const recording = () => {
    const sent: object[] = [];
    const removeOperator = async (_: object, input: object) => void sent.push(input);
    return { sent, programs: { operators, removeOperator } };
  };

  test('after a yes, which does not remove the last one', async () => {
    const { sent, programs } = recording();
    expect((await run(['remove', 'ada@example.test'], programs)).code).toBe(2);
    const asked = startDoorward(['operator', 'remove', 'ADA@example.test'], {
      columns: 100,
      programs: programsWith(programs),
    });
    await asked.printed(/Remove the operator Ada\? \[y\/N\]/);
    asked.type('y\n');
    expect((await asked.ended).code).toBe(0);
    expect(sent).toEqual([{ email: 'ADA@example.test', reason: undefined, evenLast: false }]);
  });

  test('with --yes even the last one; who is in OPERATORS too stays one', async () => {
    const { sent, programs } = recording();
    const { code, stderr } = await run(['remove', 'ada@example.test', '--yes'], programs);
    expect([code, stderr]).toEqual([0, expect.stringContaining('OPERATORS')]);
    expect(sent).toEqual([{ email: 'ada@example.test', reason: undefined, evenLast: true }]);
  });

  test('not in a dry run', async () => {
    const { stdout } = await run(['remove', 'ada@example.test', '--dry-run'], { operators });
    expect(stdout).toContain('nothing was changed');
  });
});
