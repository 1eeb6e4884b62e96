import type pg from 'pg';

/** The database of DATABASE_URL cannot be used. The message is one line: what is wrong, and how to correct it. */
export class DatabaseUnusable extends Error {
  override readonly name = 'DatabaseUnusable';
}

/** Connects. @throws DatabaseUnusable, which names the server and never the user or password of the address */
export async function connectTo(client: pg.Client): Promise<void> {
  try {
    await client.connect();
  } catch (error) {
    const where = `${client.host}:${client.port}`;
    throw new DatabaseUnusable(`DATABASE_URL: ${mendOf(error, where, client.database ?? '')}`, {
      cause: error,
    });
  }
}

function mendOf(error: unknown, where: string, database: string): string {
  const { code = '', message } = error as { code?: string; message: string };
  const known = mends(where, shown(database))[code];
  if (known) return `${known[0]} (${code}). ${known[1]}`;
  if (/^SASL/.test(message)) return `PostgreSQL at ${where} asks for a password. Write it into the address.`;
  if (/SSL/.test(message))
    return `PostgreSQL at ${where} and the address differ about TLS. Correct sslmode in it.`;
  return `no answer from PostgreSQL at ${where}${code && ` (${code})`}. Start it, or correct host and port.`;
}

/** By error code: what is wrong, and how to correct it. */
function mends(where: string, database: string): Readonly<Record<string, readonly [string, string]>> {
  const unknownHost = [`the host of ${where} is not known`, 'Correct it.'] as const;
  const refused = [
    `PostgreSQL at ${where} refuses this user or password`,
    'Correct them, or allow the user in pg_hba.conf.',
  ] as const;
  return {
    ECONNREFUSED: [`nothing listens at ${where}`, 'Start PostgreSQL there, or correct host and port.'],
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
    '08P01': [`the server at ${where} refuses a setting of the connection; it may be PgBouncer`, SESSIONS],
  };
}

const shown = (name: string): string => name.slice(0, 63).replaceAll(/[^\w-]/g, '?');

/** How to correct a pooler that does not give each client a session of its own. */
export const SESSIONS =
  'Let DATABASE_URL lead to PostgreSQL without a pooler between, or set pool_mode=session and ignore_startup_parameters=statement_timeout for this database.';
