/** Structured lines with allow-listed fields. What a failure says of itself is cut down to what cannot hold a secret. */
export interface Log {
  /** Whether lines of this level are written at all. */
  readonly writes: (level: 'info' | 'warn' | 'error') => boolean;
  info(line: LogLine): void;
  warn(line: LogLine): void;
  error(line: LogLine): void;
}

export type LogLine = Readonly<Record<string, unknown>> & { readonly error?: unknown };

const levels = { debug: 20, info: 30, warn: 40, error: 50, fatal: 60, silent: 100 } as const;

export function createLog(options: {
  readonly level: keyof typeof levels;
  readonly pretty: boolean;
  readonly write: (text: string) => void;
}): Log {
  const at = (level: 'info' | 'warn' | 'error') => (line: LogLine) => {
    if (levels[level] < levels[options.level]) return;
    const { error, ...fields } = line;
    const entry = {
      time: new Date().toISOString(),
      level,
      ...fields,
      ...(error ? { error: described(error) } : {}),
    };
    options.write(options.pretty ? `${prettified(entry)}\n` : `${JSON.stringify(entry)}\n`);
  };
  const writes = (level: 'info' | 'warn' | 'error') => levels[level] >= levels[options.level];
  return { writes, info: at('info'), warn: at('warn'), error: at('error') };
}

/**
 * Name, code, and the stack's places. Of database errors the message stays out: it may quote values of a statement.
 */
function described(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error;
  const { code, constraint, table } = error as { code?: unknown; constraint?: unknown; table?: unknown };
  const fromDatabase =
    constraint !== undefined || 'query' in error || /^(DatabaseError|error)$/.test(error.name);
  return {
    name: error.name,
    ...(code === undefined ? {} : { code }),
    ...(constraint === undefined ? {} : { constraint, table }),
    ...(fromDatabase ? {} : { message: error.message }),
    at: (error.stack ?? '')
      .split('\n')
      .filter((place) => /^\s+at /.test(place))
      .slice(0, 6)
      .map((place) => place.trim()),
    ...(error.cause && depth < 3 ? { cause: described(error.cause, depth + 1) } : {}),
  };
}

interface Entry {
  readonly time: string;
  readonly level: string;
  readonly message?: string;
  readonly method?: string;
  readonly route?: string;
  readonly status?: number;
  readonly ms?: number;
}

function prettified({ time, level, method, route, status, ms, message, ...rest }: Entry): string {
  const clock = time.slice(11, 23);
  if (route !== undefined) return `${clock} ${method} ${route} → ${status} ${ms} ms`;
  return `${clock} ${level} ${message ?? ''} ${Object.keys(rest).length ? JSON.stringify(rest) : ''}`;
}
