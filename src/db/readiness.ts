import { sql } from 'drizzle-orm';
import type { Executor } from '../kernel/scoped-db.ts';
import type { Changes } from './changes.ts';

type Check = 'ok' | 'failing';

/** What a process needs before it can serve. The key opened the database at start, or there would be no process. */
export async function checkDatabase(
  pool: Executor,
  changes: Changes,
): Promise<Record<'database' | 'migrations' | 'encryptionKey' | 'invalidation', Check>> {
  return {
    database: await answers(() => pool.execute(sql`select 1`)),
    migrations: await answers(() => pool.execute(sql`select 1 from installation limit 1`)),
    encryptionKey: 'ok',
    invalidation: changes.isTrusted() ? 'ok' : 'failing',
  };
}

async function answers(ask: () => PromiseLike<unknown>): Promise<Check> {
  try {
    await ask();
    return 'ok';
  } catch {
    return 'failing';
  }
}
