import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditLog } from '../../../server/src/schema/events/audit-log-entry.ts';
import { emptyFolder } from '../support/folder.ts';
import { doorwardProcess } from '../support/run/process.ts';
import { startWorld, type World } from '../support/service/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.service.close());

/** A refresh token works only once. The lock file lets one process use it; the others read the result. */
test('processes renew a session once', async () => {
  const folder = await emptyFolder();
  const { url, app } = world.service;
  const person = await app.person();
  const session = {
    ...{ kind: 'session', url, renewAt: 0 },
    ...{ accessToken: person.token, refreshToken: person.refreshToken },
  };
  const path = join(folder, 'credentials.json');
  await writeFile(path, JSON.stringify({ default: session }), { mode: 0o600 });
  const how = { env: { DOORWARD_CONFIG_DIR: folder, DOORWARD_URL: url } };
  const runs = await Promise.all([1, 2, 3].map(() => doorwardProcess(['whoami'], how)));
  expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual([1, 2, 3].map(() => [0, '']));
  const renewals = await app.database.pool
    .select()
    .from(auditLog)
    .where(eq(auditLog.operation, 'refreshSession'));
  expect(renewals).toHaveLength(1);
  expect(await readFile(path, 'utf8')).not.toContain(person.refreshToken);
});
