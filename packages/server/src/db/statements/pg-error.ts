/* Reads PostgreSQL errors, which the drivers and Drizzle wrap in different ways. */

interface PgFailure {
  readonly code: string;
  readonly constraint?: string | undefined;
  /** The C function of PostgreSQL that raised the error. */
  readonly routine?: string | undefined;
  readonly severity?: string | undefined;
}

/** Finds the PostgreSQL error in the chain of causes; null if there is none. */
function pgFailure(error: unknown): PgFailure | null {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    const { code, constraint, routine, severity }: Error & Partial<Record<keyof PgFailure, unknown>> = cause;
    const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
    if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) {
      return { code, constraint: text(constraint), routine: text(routine), severity: text(severity) };
    }
  }
  return null;
}

/**
 * Whether a written row violates a row policy (src/db/tenancy/row-policies.ts). A missing privilege, which would be a
 * bug, has the same code. Messages may be translated, so the C function that raised the error tells the two apart.
 */
export function isPolicyViolation(error: unknown): boolean {
  const failure = pgFailure(error);
  return failure?.code === '42501' && failure.routine === 'ExecWithCheckOptions';
}

/**
 * Whether the server has certainly rolled the transaction back. After a lost connection or a server crash the outcome
 * is unknown. A server with translated messages also translates the severity; the result is then false, which is safe.
 */
export const wasRolledBack = (error: unknown): boolean => pgFailure(error)?.severity === 'ERROR';

/** The SQLSTATE of a PostgreSQL error, or null. */
export const pgCode = (error: unknown): string | null => pgFailure(error)?.code ?? null;

/**
 * The input field whose value is taken; null for any other error. Unique indexes that a caller can violate are named
 * `<table>_<field>_taken`.
 */
export function takenField(error: unknown): string | null {
  const failure = pgFailure(error);
  if (failure?.code !== '23505') return null;
  return /_([a-z_]+)_taken$/.exec(failure.constraint ?? '')?.[1] ?? null;
}
