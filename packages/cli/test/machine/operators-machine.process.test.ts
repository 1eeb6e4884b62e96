import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { preparedDataDir } from '../../../server/test/support/databases/prepared-data.ts';
import { callOrThrow, signUp, startService } from '../../../../scripts/service.ts';
import type { Programs } from '../../src/installation/programs.ts';
import { builtPrograms } from '../support/machine/built-programs.ts';
import { doorward, startDoorward } from '../support/run/doorward.ts';
import { emptyFolder } from '../support/folder.ts';
import type { How } from '../support/run/how.ts';

/** Operators on the machine of the service, in its embedded database and without a token. */
let programs: Programs;
beforeAll(async () => {
  programs = await builtPrograms();
});

/** Deleted after the test. */
async function dataDirOfTest(): Promise<string> {
  const data = await preparedDataDir();
  onTestFinished(() => rm(data, { recursive: true }));
  return data;
}

interface Row {
  readonly userId: string | null;
  readonly email: string;
  readonly role: { readonly name: string };
  readonly source: string;
}
interface Entry {
  readonly operation: string;
  readonly event: string | null;
  readonly actor: { readonly type: string };
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The entries that these commands and the service wrote about operators. */
async function recorded(data: string): Promise<readonly Entry[]> {
  const database = await PGlite.create(join(data, 'database'));
  try {
    const { rows } = await database.query<Entry>(
      `select operation, event, actor, metadata from audit_log
       where operation in ('addOperator', 'appointOperator', 'removeOperator') order by sequence`,
    );
    return rows;
  } finally {
    await database.close();
  }
}

test('the first operator of an installation, and the others', { timeout: 480_000 }, async () => {
  const data = await dataDirOfTest();
  const run = (args: readonly string[], how: How = {}) =>
    doorward(['operator', ...args], { programs, ...how, env: { DATA_DIR: data, ...how.env } });
  const list = async () => {
    const { code, stdout, stderr } = await run(['list', '--json']);
    expect(code, stderr).toBe(0);
    const { items } = JSON.parse(stdout) as { items: Row[] };
    return items.map(({ email, role, source, userId }) => [email, role.name, source, userId !== null]);
  };

  const early = await run(['list'], { env: { DATA_DIR: await emptyFolder() } });
  expect([early.code, early.stderr]).toEqual([6, expect.stringContaining('doorward migrate')]);
  for (const [args, text] of [
    [['add', 'ada'], 'not an e-mail address'],
    [['add', 'ada@example.test', '--role', 'king'], 'operator, support or auditor'],
    [['add', 'ada@example.test', '--reason', 'short'], '10 to 500'],
  ] as const)
    expect(await run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(text) as string });
  const prepared = await run(['add', ' Ada@example.test', '--reason', 'The first operator']);
  expect([prepared.code, prepared.stderr]).toEqual([0, expect.stringContaining('No user has verified')]);
  expect(await list()).toEqual([['ada@example.test', 'Installation Operator', 'prepared', false]]);
  expect((await run(['add', 'typo@example.test'])).code).toBe(0);
  expect((await run(['remove', 'typo@example.test', '--yes'])).code).toBe(0);

  const first = await startService({ dataDir: data });
  await signUp(first, 'ada');
  await signUp(first, 'grace');
  const inUse = await run(['add', 'grace@example.test']);
  expect([inUse.code, inUse.stderr]).toEqual([6, expect.stringContaining(`in use by process ${first.pid}`)]);
  await first.stop();

  // Its start appoints whom a verified address names.
  const second = await startService({ dataDir: data });
  const { accessToken: token } = await callOrThrow<{ accessToken: string }>(`${second.base}/api/auth/login`, {
    body: {
      provider: 'email',
      providerId: 'ada@example.test',
      providerData: { password: 'three-lanterns-in-the-harbour' },
    },
  });
  const online = await run(['list', '--json', '--data-dir', data], {
    env: { DOORWARD_URL: second.base, DOORWARD_TOKEN: token },
  });
  expect([online.code, online.stderr]).toEqual([0, expect.stringContaining('running service is asked')]);
  expect((JSON.parse(online.stdout) as { items: Row[] }).items).toMatchObject([
    { email: 'ada@example.test', source: 'commandLine' },
  ]);
  await second.stop();
  expect(await list()).toEqual([['ada@example.test', 'Installation Operator', 'commandLine', true]]);

  const grace = await run(['add', 'grace@example.test', '--role', 'support']);
  expect(grace).toMatchObject({ code: 0, stderr: '' });
  const twice = await run(['add', 'grace@example.test']);
  expect([twice.code, twice.stderr]).toEqual([6, expect.stringContaining('operator already')]);
  const lost = await run(['remove', 'lost@example.test', '--yes']);
  expect([lost.code, lost.stderr]).toEqual([5, expect.stringContaining('No operator has this address')]);
  const last = startDoorward(['operator', 'remove', 'ada@example.test'], {
    columns: 100,
    env: { DATA_DIR: data },
    programs,
  });
  await last.printed(/Remove the operator .*\[y\/N\]/);
  last.type('y\n');
  const kept = await last.ended;
  expect([kept.code, kept.stdout]).toEqual([6, expect.stringContaining('the last Installation Operator')]);
  expect((await run(['remove', 'grace@example.test', '--yes'])).code).toBe(0);
  expect((await run(['remove', 'ada@example.test', '--yes'])).code).toBe(0);
  expect(await list()).toEqual([]);

  const entries = await recorded(data);
  expect(entries.map(({ operation, event }) => [operation, event])).toEqual([
    ['addOperator', null],
    ['addOperator', null],
    ['removeOperator', null],
    ['appointOperator', 'operator.added'],
    ['addOperator', 'operator.added'],
    ['removeOperator', 'operator.removed'],
    ['removeOperator', 'operator.removed'],
  ]);
  expect(new Set(entries.map(({ actor }) => actor.type))).toEqual(new Set(['system']));
  expect(entries[0]?.metadata).toMatchObject({ address: 'ada@example.test', reason: 'The first operator' });
});

test(
  'the first user of a development installation, who is no operator in production',
  { timeout: 480_000 },
  async () => {
    const data = await dataDirOfTest();
    const development = { DATA_DIR: data };
    const production = {
      ...development,
      NODE_ENV: 'production',
      APP_URL: 'http://localhost:4000',
      APP_URL_ALLOW_HTTP: 'true',
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      MAIL_CONSOLE_IN_PRODUCTION: 'true',
    };
    const run = (args: readonly string[], env: Record<string, string>) =>
      doorward(['operator', ...args], { env, programs });
    const list = async (env: Record<string, string>) => {
      const { code, stdout, stderr } = await run(['list', '--json'], env);
      expect(code, stderr).toBe(0);
      const { items } = JSON.parse(stdout) as { items: Row[] };
      return items.map(({ email, role, source }) => [email, role.name, source]);
    };
    const service = await startService({ dataDir: data });
    await expect.poll(() => service.output(), { timeout: 20_000 }).toMatch(/[?#&]token=[\w-]{43}/);
    const token = /[?#&]token=([\w-]{43})/.exec(service.output())?.[1];
    const body = { token, email: 'ada@example.test', password: 'three-lanterns-in-the-harbour', name: 'Ada' };
    await callOrThrow(`${service.base}/api/auth/first-user`, { body });
    await service.stop();

    expect(await list(development)).toEqual([['ada@example.test', 'Installation Operator', 'development']]);
    expect((await run(['list'], development)).stderr).toContain('does not run in production');
    expect(await list(production)).toEqual([]);
    // Where they are operator, only this role can be made one that counts everywhere.
    const other = await run(['add', 'ada@example.test', '--role', 'support'], development);
    expect([other.code, other.stderr]).toEqual([6, expect.stringContaining('operator already')]);
    const added = await run(['add', 'ada@example.test', '--json'], production);
    expect([added.code, added.stderr]).toEqual([0, '']);
    const everywhere = [['ada@example.test', 'Installation Operator', 'commandLine']];
    expect([await list(production), await list(development)]).toEqual([everywhere, everywhere]);
    const twice = await run(['add', 'ada@example.test'], production);
    expect([twice.code, twice.stderr]).toEqual([6, expect.stringContaining('operator already')]);
    // OPERATORS names them too, so that they stay operator.
    const named = { ...production, OPERATORS: 'ada@example.test' };
    const removed = await run(['remove', 'ada@example.test', '--yes'], named);
    expect([removed.code, removed.stderr]).toEqual([0, expect.stringContaining('OPERATORS')]);
    expect(await list(named)).toEqual([['ada@example.test', 'Installation Operator', 'configuration']]);
  },
);
