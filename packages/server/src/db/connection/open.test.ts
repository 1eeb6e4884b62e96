import { sql } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { preparedFiles } from '../../../test/support/databases/prepared-files.ts';
import { openEmbedded } from './open.ts';

/** The embedded database works on the thread of the service, and its answers come without a turn of the event loop. */
it('many transactions in a row of the embedded database leave room for other work', async () => {
  const database = await openEmbedded(null, preparedFiles());
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  for (let round = 0; round < 20; round++) {
    await database.transaction((tx) => tx.execute(sql`select count(*) from generate_series(1, 200000)`));
  }
  clearInterval(timer);
  expect(turns).toBeGreaterThan(2);
  await database.close();
});
