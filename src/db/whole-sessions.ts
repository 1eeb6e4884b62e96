import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { connectTo, DatabaseUnusable, SESSIONS } from './unusable.ts';

/** Several rounds, because a pooler may choose the connection that was used last, or all of them in turn. */
const ROUNDS = 5;

/**
 * Asserts that a connection is a session: what is set on it stays set, and no other client gets it. A pooler in
 * transaction mode gives the client another session for each transaction. The role that the service sets would then be
 * lost after its first statement, or reach another client of the pooler; and LISTEN would receive nothing.
 *
 * @throws DatabaseUnusable
 */
export async function assertWholeSessions(client: pg.Client, connection: pg.ClientConfig): Promise<void> {
  const other = new pg.Client({ ...connection, application_name: 'doorward start' });
  await connectTo(other);
  try {
    const mark = randomUUID();
    await client.query(`select set_config('doorward.session', $1, false)`, [mark]);
    let whole = true;
    for (let round = 0; round < ROUNDS && whole; round++) whole = (await settingOf(other)) !== mark;
    // While this transaction is open, a pooler that shares sessions must use another one for the next statement.
    await other.query('begin');
    whole &&= (await settingOf(client)) === mark;
    await other.query('rollback');
    if (!whole) throw new DatabaseUnusable(`DATABASE_URL leads to a pooler in transaction mode. ${SESSIONS}`);
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
