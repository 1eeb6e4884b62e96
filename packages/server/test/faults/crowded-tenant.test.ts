/**
 * Many callers change one tenant at once: the changes wait in the queue of their tenant, and not for the lock of its
 * row inside open transactions, which would keep all dead versions of the row (decision 0026).
 */
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { rowsOf } from '../../src/db/statements/rows.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import type { Person } from '../support/app/client.ts';

const CHANGES = 1000;
const AT_A_TIME = 50;
/** Two changes of a tenant run at a time, so that one of them can wait for the row that the other has locked. */
const MOST_WAITING = 1;

let app: TestApp;
let ada: Person;
beforeAll(async () => {
  app = await startOwnApp();
  ada = await app.person();
});
afterAll(() => app.close());

const waitingForLocks = async (): Promise<number> => {
  const [row] = await rowsOf<{ waiting: number }>(
    app.owner,
    sql`select count(*)::int as waiting from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend' and wait_event_type = 'Lock'`,
  );
  return row?.waiting ?? 0;
};

// A connection for each call, so that this many transactions could be open at once.
test.runIf(inject('postgresUrl') && !process.env['TEST_POOL_MAX'])(
  `${CHANGES} changes of one tenant do not wait inside open transactions`,
  async () => {
    let next = 0;
    const changing = async (): Promise<void> => {
      while (next < CHANGES) {
        const name = `crowd ${next++}`;
        const { status } = await app.call('createTag', { scope: ada.account, name }, { token: ada.token });
        expect(status).toBe(201);
      }
    };
    const changes = Promise.all(Array.from({ length: AT_A_TIME }, changing));
    let [ended, looks, mostWaiting] = [false, 0, 0];
    const end = (): void => void (ended = true);
    changes.then(end, end);
    while (!ended) {
      mostWaiting = Math.max(mostWaiting, await waitingForLocks());
      looks++;
    }
    await changes;
    process.stdout.write(
      `crowded tenant: ${CHANGES} changes, at most ${mostWaiting} waited for a lock (${looks} looks)\n`,
    );
    expect(looks).toBeGreaterThan(20);
    expect(mostWaiting).toBeLessThanOrEqual(MOST_WAITING);
  },
);
