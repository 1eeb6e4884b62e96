import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { preparedDataDir } from '../../../server/test/support/databases/prepared-data.ts';
import { callOrThrow, signUp, startService } from '../../../../scripts/service.ts';
import type { Programs } from '../../src/environment/programs.ts';
import { builtPrograms } from '../support/machine/built-programs.ts';
import { doorward, startDoorward } from '../support/run/doorward.ts';
import { emptyFolder } from '../support/folder.ts';
import type { How } from '../support/run/how.ts';

/**
 * Operators on the machine of the service, in its embedded database and without a token. Opening it takes a second, so tests
 * that don't depend on it run on PostgreSQL (`packages/server/test/journeys/operators-on-postgres`).
 */
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

test('the first operator of an installation', { timeout: 480_000 }, async () => {
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

  const first = await startService({ dataDir: data });
  await signUp(first, 'ada');
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

  const last = startDoorward(['operator', 'remove', 'ada@example.test'], {
    columns: 100,
    env: { DATA_DIR: data },
    programs,
  });
  await last.printed(/Remove the operator .*\[y\/N\]/);
  last.type('y\n');
  const kept = await last.ended;
  expect([kept.code, kept.stdout]).toEqual([6, expect.stringContaining('the last Installation Operator')]);
  expect((await run(['remove', 'ada@example.test', '--yes'])).code).toBe(0);

  const entries = await recorded(data);
  expect(entries.map(({ operation, event }) => [operation, event])).toEqual([
    ['addOperator', null],
    ['appointOperator', 'operator.added'],
    ['removeOperator', 'operator.removed'],
  ]);
  expect(new Set(entries.map(({ actor }) => actor.type))).toEqual(new Set(['system']));
  expect(entries[0]?.metadata).toMatchObject({ address: 'ada@example.test', reason: 'The first operator' });
});
