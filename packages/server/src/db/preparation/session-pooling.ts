import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { connectTo, DatabaseUnusable, SESSION_POOLING_REMEDY } from './database-unusable.ts';

/** Several rounds, because a pooler may pick the most recently used connection or rotate through all of them. */
const ROUNDS = 5;

/**
 * Asserts that the connection has a session of its own: settings persist, and no other client uses it. A pooler in
 * transaction mode may assign another session to each transaction. The service role would then be lost or apply to
 * another client of the pooler, and LISTEN would receive nothing.
 *
 * @throws DatabaseUnusable
 */
export async function assertSessionPooling(client: pg.Client, connection: pg.ClientConfig): Promise<void> {
  const other = new pg.Client({ ...connection, application_name: 'doorward start' });
  await connectTo(other);
  try {
    const mark = randomUUID();
    await client.query(`select set_config('doorward.session', $1, false)`, [mark]);
    let isDedicated = true;
    for (let round = 0; round < ROUNDS && isDedicated; round++)
      isDedicated = (await settingOf(other)) !== mark;
    // While this transaction is open, a pooler in transaction mode must use another session for the next statement.
    await other.query('begin');
    isDedicated &&= (await settingOf(client)) === mark;
    await other.query('rollback');
    if (!isDedicated)
      throw new DatabaseUnusable(
        `DATABASE_URL refers to a pooler in transaction mode. ${SESSION_POOLING_REMEDY}`,
      );
  } finally {
    await other.end();
  }
}

async function settingOf(client: pg.Client): Promise<string | null> {
  const { rows } = await client.query<{ value: string | null }>(
    `select current_setting('doorward.session', true) as value`,
  );
  return rows[0]?.value ?? null;
}
