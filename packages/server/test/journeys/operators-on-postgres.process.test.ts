import { rm, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import {
  buildService,
  callOrThrow,
  signUp,
  startService,
  type Service,
} from '../../../../scripts/service.ts';
import type { Programs } from '../../src/programs/programs.ts';
import { postgresDatabase, type TestDatabase } from '../support/databases/postgres.ts';

/**
 * Manages operators with the programs of the command line, on PostgreSQL: it opens faster than the embedded database, and a
 * running service doesn't lock it. `packages/cli` tests the embedded database.
 */
let programs: Programs;
let database: TestDatabase;
let dataDir: string;
let service: Service | undefined;

const start = async (): Promise<Service> => {
  service = await startService({ dataDir, env: { DATABASE_URL: database.url } });
  return service;
};
const machine = (env: Readonly<Record<string, string>> = {}) => ({
  env: { DATABASE_URL: database.url, DATA_DIR: dataDir, ...env },
  now: Date.now,
});

interface Entry {
  readonly operation: string;
  readonly event: string | null;
  readonly actor: { readonly type: string };
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** What was recorded about operators. */
async function recorded(): Promise<readonly Entry[]> {
  const client = new pg.Client(database.url);
  await client.connect();
  try {
    const { rows } = await client.query<Entry>(
      `select operation, event, actor, metadata from audit_log
       where operation in ('addOperator', 'appointOperator', 'removeOperator') order by sequence`,
    );
    return rows;
  } finally {
    await client.end();
  }
}

describe.runIf(inject('postgresUrl'))('operators', { timeout: 180_000 }, () => {
  beforeAll(async () => {
    await buildService();
    const built = join(import.meta.dirname, '../../dist/programs.js');
    ({ programs } = (await import(built)) as { programs: Programs });
  });
  beforeEach(async () => {
    database = await postgresDatabase(inject('postgresUrl'), null);
    dataDir = await mkdtemp(join(tmpdir(), 'doorward-'));
  });
  afterEach(async () => {
    await service?.kill();
    service = undefined;
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  test('beside a running service', async () => {
    const { migrate, operators, addOperator, removeOperator } = programs;
    await expect(operators(machine())).rejects.toThrow('not that of this version');
    await migrate(machine().env);
    const first = { email: 'ada@example.test', role: 'operator', reason: 'The first operator' };
    expect(await addOperator(machine(), first)).toMatchObject({ source: 'prepared', userId: null });
    const { userId } = await signUp(await start(), 'grace');
    const grace = { email: 'grace@example.test', role: 'support' };
    expect(await addOperator(machine(), grace)).toMatchObject({ source: 'commandLine', userId });
    await expect(addOperator(machine(), grace)).rejects.toThrow('operator already');
    expect((await operators(machine())).map(({ email }) => email)).toEqual([grace.email, first.email]);
    const remove = (email: string, evenLast = false) => removeOperator(machine(), { email, evenLast });
    await expect(remove('lost@example.test')).rejects.toThrow('No operator has this address');
    await remove(first.email);
    await remove(grace.email);
    expect(await operators(machine())).toEqual([]);

    await addOperator(machine(), { ...grace, role: 'operator' });
    await expect(remove(grace.email)).rejects.toThrow('the last Installation Operator');
    await remove(grace.email, true);
    expect(await operators(machine())).toEqual([]);
    const entries = await recorded();
    expect(entries.map(({ operation, event }) => [operation, event])).toEqual([
      ['addOperator', null],
      ['addOperator', 'operator.added'],
      ['removeOperator', null],
      ['removeOperator', 'operator.removed'],
      ['addOperator', 'operator.added'],
      ['removeOperator', 'operator.removed'],
    ]);
    expect(new Set(entries.map(({ actor }) => actor.type))).toEqual(new Set(['system']));
    expect(entries[0]?.metadata).toMatchObject({ address: first.email, reason: first.reason });
  });

  test('the first user of a development installation is not an operator in production', async () => {
    const { operators, addOperator, removeOperator } = programs;
    const production = {
      NODE_ENV: 'production',
      APP_URL: 'http://localhost:4000',
      APP_URL_ALLOW_HTTP: 'true',
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      MAIL_CONSOLE_IN_PRODUCTION: 'true',
    };
    const list = async (env = {}) =>
      (await operators(machine(env))).map(({ email, role, source }) => [email, role.name, source]);
    const { base, output } = await start();
    await expect.poll(output, { timeout: 60_000 }).toMatch(/[?#&]token=[\w-]{43}/);
    const token = /[?#&]token=([\w-]{43})/.exec(output())?.[1];
    const [email, password] = ['ada@example.test', 'three-lanterns-in-the-harbour'];
    await callOrThrow(`${base}/api/auth/first-user`, { body: { token, email, password, name: 'Ada' } });

    expect(await list()).toEqual([[email, 'Installation Operator', 'development']]);
    expect(await list(production)).toEqual([]);
    // In development they are an operator already, so another role is refused.
    await expect(addOperator(machine(), { email, role: 'support' })).rejects.toThrow('operator already');
    const operator = { email, role: 'operator' };
    expect(await addOperator(machine(production), operator)).toMatchObject({ source: 'commandLine' });
    const everywhere = [[email, 'Installation Operator', 'commandLine']];
    expect([await list(production), await list()]).toEqual([everywhere, everywhere]);
    await expect(addOperator(machine(production), operator)).rejects.toThrow('operator already');
    // OPERATORS names them too, so they remain an operator.
    const named = { ...production, OPERATORS: email };
    await removeOperator(machine(named), { email, evenLast: true });
    expect(await list(named)).toEqual([[email, 'Installation Operator', 'configuration']]);
  });
});
