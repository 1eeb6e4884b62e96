/**
 * Many callers change one tenant at once, and after a thousand changes each costs the database as much as at first
 * (decision 0026).
 */
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { rowsOf } from '../../src/db/query/rows.ts';
import { startApp, type TestApp } from '../support/app.ts';
import type { Person } from '../support/client.ts';

const CHANGES = 1000;
const AT_A_TIME = 50;
/** Of eight kilobytes each. One page holds the versions of a row that two transactions at a time change. */
const MOST_PAGES = 6;

let app: TestApp;
let ada: Person;
beforeAll(async () => {
  app = await startApp();
  ada = await app.person();
});
afterAll(() => app.close());

const pages = async (): Promise<number> => {
  const [row] = await rowsOf<{ pages: number }>(
    app.owner,
    sql`select (pg_relation_size('nodes') / 8192)::int as pages`,
  );
  return row?.pages ?? 0;
};

// A connection for each call, so that this many transactions could be open at once.
test.runIf(inject('postgresUrl') && !process.env['TEST_POOL_MAX'])(
  `${CHANGES} changes of one tenant leave its row where it is`,
  async () => {
    const before = await pages();
    let next = 0;
    const changing = async (): Promise<void> => {
      while (next < CHANGES) {
        const name = `crowd ${next++}`;
        const { status } = await app.call('createTag', { scope: ada.account, name }, { token: ada.token });
        expect(status).toBe(201);
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, changing));
    const grown = (await pages()) - before;
    process.stdout.write(`crowded tenant: ${CHANGES} changes, ${grown} more pages of nodes\n`);
    expect(grown).toBeLessThanOrEqual(MOST_PAGES);
  },
);
