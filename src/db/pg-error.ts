/** Reading what PostgreSQL said: drivers and the query builder wrap it in different ways. */

interface PgFailure {
  readonly code: string;
  readonly constraint?: string | undefined;
  /** The function of PostgreSQL that refused. */
  readonly routine?: string | undefined;
  readonly severity?: string | undefined;
}

export function pgFailure(error: unknown): PgFailure | null {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    const { code, constraint, routine, severity } = cause as unknown as Readonly<Record<string, unknown>>;
    const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
    if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) {
      return { code, constraint: text(constraint), routine: text(routine), severity: text(severity) };
    }
  }
  return null;
}

/**
 * A row that was to be written is not of the scope (src/db/row-policies.ts). A right that lacks has the same code, and
 * is a mistake of ours: texts are translated, so the two are told apart by who refused.
 */
export function isBeyondPolicy(error: unknown): boolean {
  const failure = pgFailure(error);
  return failure?.code === '42501' && failure.routine === 'ExecWithCheckOptions';
}

/**
 * Whether the server refused, and took the transaction back. Not so where it ends, or the way to it: then nobody knows.
 * A server that speaks of it in another language is not understood, which is the careful answer.
 */
export const wasTakenBack = (error: unknown): boolean => pgFailure(error)?.severity === 'ERROR';

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
