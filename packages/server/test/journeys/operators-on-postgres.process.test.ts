import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { buildService, signUp, startService } from '../../../../scripts/service.ts';
import type { Programs } from '../../src/programs/programs.ts';
import { postgresDatabase } from '../support/databases/postgres.ts';

/** Operators by the command line on PostgreSQL, where a running service does not keep it away; `packages/cli` has the rest. */
const programs = async (): Promise<Programs> => {
  const built = join(import.meta.dirname, '../../dist/programs.js');
  return ((await import(built)) as { programs: Programs }).programs;
};

test.runIf(inject('postgresUrl'))('beside a running service', { timeout: 180_000 }, async () => {
  await buildService();
  const database = await postgresDatabase(inject('postgresUrl'), null);
  const dataDir = await mkdtemp(join(tmpdir(), 'doorward-'));
  const env = { DATABASE_URL: database.url, DATA_DIR: dataDir };
  const machine = { env, now: Date.now };
  try {
    const { migrate, operators, addOperator, removeOperator } = await programs();
    await expect(operators(machine)).rejects.toThrow('not that of this version');
    await migrate(env);
    const first = { email: 'ada@example.test', role: 'operator' };
    expect(await addOperator(machine, first)).toMatchObject({ source: 'prepared', userId: null });
    const service = await startService({ dataDir, env: { DATABASE_URL: database.url } });
    try {
      const { userId } = await signUp(service, 'grace');
      const grace = { email: 'grace@example.test', role: 'support' };
      expect(await addOperator(machine, grace)).toMatchObject({ source: 'commandLine', userId });
      await expect(addOperator(machine, grace)).rejects.toThrow('operator already');
      expect((await operators(machine)).map(({ email }) => email)).toEqual([grace.email, first.email]);
      await removeOperator(machine, { email: first.email, evenLast: false });
      await removeOperator(machine, { email: grace.email, evenLast: false });
      expect(await operators(machine)).toEqual([]);
    } finally {
      await service.stop();
    }
  } finally {
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  }
});
