import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../test/support/app/app.ts';
import { sampleOfHashes } from './hash-sample.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startOwnApp();
});
afterAll(() => app.close());

const add = async (count: number, hash: string) => {
  await app.database.pool.execute(sql`with people as (
    insert into users (id, name) select gen_random_uuid(), 'Ada' from generate_series(1, ${count}) returning id)
    insert into passwords (user_id, hash) select id, ${hash} from people`);
};

it('is taken from all users, also from those who came last', async () => {
  expect(await sampleOfHashes(app.database.pool)).toEqual([]);
  await add(10_000, 'early'.padEnd(90, '-'));
  await add(10_000, 'late'.padEnd(90, '-'));
  const sample = await sampleOfHashes(app.database.pool);
  const late = sample.filter((hash) => hash.startsWith('late')).length;
  expect(sample.length).toBeGreaterThan(500);
  expect(sample.length).toBeLessThanOrEqual(4000);
  expect(late / sample.length).toBeGreaterThan(0.15);
  expect(late / sample.length).toBeLessThan(0.85);
});
