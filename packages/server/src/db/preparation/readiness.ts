import { sql } from 'drizzle-orm';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { Changes } from '../cache/changes.ts';

type Check = 'ok' | 'failing';

/** Checks the requirements for serving requests. The encryption key was already verified when the process started. */
export async function checkDatabase(
  pool: Executor,
  changes: Changes,
): Promise<Record<'database' | 'migrations' | 'encryptionKey' | 'invalidation', Check>> {
  return {
    database: await checkQuery(() => pool.execute(sql`select 1`)),
    migrations: await checkQuery(() => pool.execute(sql`select 1 from installation limit 1`)),
    encryptionKey: 'ok',
    invalidation: changes.isTrusted() ? 'ok' : 'failing',
  };
}

async function checkQuery(ask: () => PromiseLike<unknown>): Promise<Check> {
  try {
    await ask();
    return 'ok';
  } catch {
    return 'failing';
  }
}
