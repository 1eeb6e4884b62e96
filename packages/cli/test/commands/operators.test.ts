import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveOwnApp } from '../../../node/test/support/service.ts';
import { firstOperator, operatorEnvironment } from '../../../server/test/support/tenants/operators.ts';
import { emptyFolder } from '../support/folder.ts';
import { startWorld, type World } from '../support/service/world.ts';

/** Operators by the command line: over the API, with the rights of who runs it. */
let world: World;
let operator: { env: Record<string, string> };
let address: string;

beforeAll(async () => {
  world = await startWorld(operatorEnvironment, serveOwnApp);
  const { token } = await firstOperator(world.service.app);
  operator = { env: { DOORWARD_TOKEN: token } };
  address = (await world.service.app.person({ name: 'Ada' })).email;
});
afterAll(() => world.service.close());

const reason = 'The team is changed today';
const emails = async () =>
  (await world.json<{ items: { email: string }[] }>(['operator', 'list'], operator)).items.map(
    ({ email }) => email,
  );

test('an operator lists, adds and removes operators, with a reason', async () => {
  const without = await world.run(['operator', 'add', address], operator);
  expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('--reason')]);
  const badRole = ['operator', 'add', address, '--role', 'king', '--reason', reason];
  expect((await world.run(badRole, operator)).stderr).toContain('operator, support or auditor');
  const add = ['operator', 'add', address, '--role', 'support', '--reason', reason];
  expect(await world.json(add, operator)).toMatchObject({
    email: address,
    role: { name: 'Installation Support' },
    source: 'api',
  });
  expect(await emails()).toContain(address);
  const remove = ['operator', 'remove', address, '--reason', reason];
  expect((await world.run(remove, operator)).code).toBe(2);
  expect((await world.run([...remove, '--yes'], operator)).code).toBe(0);
  expect(await emails()).not.toContain(address);
  const again = await world.run([...remove, '--yes'], operator);
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('No operator')]);
});

test('who is no operator is refused', async () => {
  const { code, stderr } = await world.run(['operator', 'list']);
  expect([code, stderr]).toEqual([4, expect.stringContaining('FORBIDDEN')]);
});

test('an operator exports and proves the log of the installation', async () => {
  const file = join(await emptyFolder(), 'installation.ndjson');
  const scope = 'installation:00000000-0000-0000-0000-000000000000';
  const exported = await world.run(['audit', 'export', '--scope', scope, '-o', file], operator);
  expect(exported.code, exported.stderr).toBe(0);
  expect(await readFile(file, 'utf8')).toContain('"operation":"createOperator"');
  const verified = await world.run(['audit', 'verify', file], operator);
  expect(verified.code, verified.stdout + verified.stderr).toBe(0);
});
