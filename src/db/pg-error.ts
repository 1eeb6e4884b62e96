/** Reading what PostgreSQL said: drivers and the query builder wrap it in different ways. */

interface PgFailure {
  readonly code: string;
  readonly constraint?: string | undefined;
}

export function pgFailure(error: unknown): PgFailure | null {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    const { code, constraint } = cause as { code?: unknown; constraint?: unknown };
    if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) {
      return { code, constraint: typeof constraint === 'string' ? constraint : undefined };
    }
  }
  return null;
}

export const pgCode = (error: unknown): string | null => pgFailure(error)?.code ?? null;

/**
 * The input field whose uniqueness was violated. Unique indexes that a caller can run into are named
 * `<table>_<field>_taken`.
 */
export function takenField(error: unknown): string | null {
  const failure = pgFailure(error);
  if (failure?.code !== '23505') return null;
  return /_([a-z_]+)_taken$/.exec(failure.constraint ?? '')?.[1] ?? null;
}
