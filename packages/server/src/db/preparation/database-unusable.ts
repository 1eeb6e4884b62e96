import type pg from 'pg';
import { pgCode } from '../statements/pg-error.ts';
import { MAY_BE_IDLE } from '../statements/session-settings.ts';

/** Thrown if the database of DATABASE_URL cannot be used. The message is one line: the problem and its fix. */
export class DatabaseUnusable extends Error {
  override readonly name = 'DatabaseUnusable';
}

/**
 * Connects to the server.
 *
 * @throws DatabaseUnusable that names host and port, but never the user or password of the URL
 */
export async function connectTo(client: pg.Client): Promise<void> {
  // If the server ends the connection, its next query fails; without a listener the event would end this process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(MAY_BE_IDLE);
  } catch (error) {
    const where = `${client.host}:${client.port}`;
    throw new DatabaseUnusable(`DATABASE_URL: ${describeFailure(error, where, client.database ?? '')}`, {
      cause: error,
    });
  }
}

/**
 * Explains which privilege the user of DATABASE_URL lacks for preparing the database, and how to fix it. Returns other
 * errors unchanged.
 */
export function preparationFault(error: unknown, client: pg.Client): unknown {
  const [database, user] = [printable(client.database ?? ''), printable(client.user ?? '')];
  const messages: Readonly<Record<string, string>> = {
    // Since PostgreSQL 15 only the owner of a database may create tables in it.
    '42501': `user "${user}" lacks privileges on database "${database}" (42501). Make it the owner: alter database "${database}" owner to "${user}"`,
    '25006': readOnlyFault(database),
  };
  const message = messages[pgCode(error) ?? ''];
  if (message === undefined) return error;
  return new DatabaseUnusable(`DATABASE_URL: ${message}`, { cause: error });
}

export const readOnlyFault = (database: string): string =>
  `database "${database}" is read-only (25006): it is a standby, or default_transaction_read_only is on. Point DATABASE_URL at the primary, or turn that setting off.`;

function describeFailure(error: unknown, where: string, database: string): string {
  const { code = '', message } = error as { code?: string; message: string };
  const remedy = remedies(where, printable(database))[code];
  if (remedy) return `${remedy[0]} (${code}). ${remedy[1]}`;
  if (/^SASL/.test(message)) return `PostgreSQL at ${where} asks for a password. Write it into the address.`;
  if (/SSL/.test(message))
    return `PostgreSQL at ${where} and the address differ about TLS. Correct sslmode in it.`;
  return `no answer from PostgreSQL at ${where}${code && ` (${code})`}. Start it, or correct host and port.`;
}

/** By error code: the problem and its fix. */
function remedies(where: string, database: string): Readonly<Record<string, readonly [string, string]>> {
  const unknownHost = [`the host of ${where} is unknown`, 'Correct it.'] as const;
  const refused = [
    `PostgreSQL at ${where} refuses this user or password`,
    'Correct them, or allow the user in pg_hba.conf.',
  ] as const;
  return {
    ECONNREFUSED: [`no server listens at ${where}`, 'Start PostgreSQL there, or correct host and port.'],
    ENOTFOUND: unknownHost,
    EAI_AGAIN: unknownHost,
    '28P01': refused,
    '28000': refused,
    '3D000': [`there is no database "${database}" at ${where}`, 'Create it with createdb, or name another.'],
    '53300': [
      `PostgreSQL at ${where} has no connection left`,
      'Raise its max_connections, or lower DATABASE_POOL_MAX.',
    ],
    '57P03': [`PostgreSQL at ${where} is starting up or shutting down`, 'Start again in a moment.'],
    '08P01': [
      `the server at ${where} refuses a setting of the connection; it may be PgBouncer`,
      SESSION_POOLING_REMEDY,
    ],
  };
}

export const printable = (name: string): string => name.slice(0, 63).replaceAll(/[^\w-]/g, '?');

/** The fix for a pooler that shares sessions between clients. */
export const SESSION_POOLING_REMEDY =
  'Let DATABASE_URL refer to PostgreSQL directly, without a pooler, or set pool_mode=session and ignore_startup_parameters=statement_timeout for this database.';
