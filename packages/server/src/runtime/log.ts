import { pino, type DestinationStream, type LevelWithSilent } from 'pino';

/** The fields of a log line. Other fields do not compile, so no query, body, token or secret is logged by accident. */
export interface LogLine {
  readonly message?: string;
  /** Any thrown value. `serializeError` removes what must not be logged. */
  readonly error?: unknown;
  readonly requestId?: string;
  readonly method?: string;
  /** Template of the route. */
  readonly route?: string;
  readonly status?: number;
  readonly ms?: number;
  readonly address?: string | undefined;
  /** Ids of the user and of the credential of a request. */
  readonly subject?: string;
  readonly credential?: string;
  /** The URL at which this process listens, and the public URL if it is different. */
  readonly url?: string;
  readonly appUrl?: string;
  readonly worker?: number;
  readonly ended?: string | number;
  readonly pauseMs?: number;
  /** Numbers of rows, by table. */
  readonly purged?: object;
  readonly resealed?: object;
  readonly entries?: number;
}

/** A structured log. */
export interface Log {
  info(line: LogLine): void;
  warn(line: LogLine): void;
  error(line: LogLine): void;
  readonly isLevelEnabled: (level: 'info' | 'warn' | 'error') => boolean;
  /** Calls `done` when every line is written. */
  readonly flush: (done: () => void) => void;
}

/** Creates a log that writes each line to the stream as JSON, with time and level. */
export const createLog = (level: LevelWithSilent, stream: DestinationStream): Log =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (name) => ({ level: name }) },
      serializers: { error: (error: unknown) => serializeError(error) },
    },
    stream,
  );

/**
 * Returns name, code, message and stack frames of an error. The message of a database error is omitted, because it may
 * contain values from a statement.
 */
function serializeError(error: unknown, depth = 0): unknown {
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
      .filter((frame) => /^\s+at /.test(frame))
      .slice(0, 6)
      .map((frame) => frame.trim()),
    ...(error.cause && depth < 3 ? { cause: serializeError(error.cause, depth + 1) } : {}),
  };
}
