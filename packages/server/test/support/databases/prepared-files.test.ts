import { sql } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { openEmbedded } from '../../../src/db/connection/open.ts';
import { preparedFiles } from './prepared-files.ts';

it('gives each database its own files', async () => {
  for (const text of ['first', 'second']) {
    const database = await openEmbedded(null, preparedFiles());
    await database.pool.execute(sql`create table notes (text text not null)`);
    await database.pool.execute(sql`insert into notes values (${text})`);
    const { rows } = (await database.pool.execute(sql`select text from notes`)) as { rows: unknown[] };
    await database.close();
    expect(rows).toEqual([{ text }]);
  }
});
