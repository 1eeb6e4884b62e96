import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOf } from '../../../server/src/db/statements/rows.ts';
import { emptyFolder } from '../support/folder.ts';
import { startWorldOfOperator } from '../support/service/operator-world.ts';
import { startDoorwardProcess } from '../support/run/process.ts';
import type { World } from '../support/service/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorldOfOperator();
});
afterAll(() => world.service.close());

const usersAt = async (domain: string) =>
  rowsOf<{ email: string }>(
    world.service.app.database.pool,
    sql`select email from users where email like ${`%@${domain}`}`,
  );

test('an import goes on after it was killed, and doubles no user', async () => {
  const count = 3000;
  const users = Array.from({ length: count }, (_, at) =>
    JSON.stringify({ email: `user${at}@killed.test`, emailVerified: true }),
  );
  const path = join(await emptyFolder(), 'killed.jsonl');
  await writeFile(path, users.join('\n'));
  const running = await startDoorwardProcess(['users', 'import', path], { env: world.owner });
  while ((await usersAt('killed.test')).length === 0 && running.child.exitCode === null) await nextTick();
  running.child.kill('SIGKILL');
  await running.ended;
  const before = (await usersAt('killed.test')).length;
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(count);

  const rest = await world.json<{ created: number; existing: number }>(['users', 'import', path]);
  expect(rest.created + rest.existing).toBe(count);
  expect(await usersAt('killed.test')).toHaveLength(count);
});
