import { pino, type DestinationStream, type LevelWithSilent } from 'pino';

/**
 * What a line may say. A field that does not stand here does not compile, so that nothing is logged by accident: no
 * query, body, token or secret.
 */
export interface LogLine {
  readonly message?: string;
  /** Whatever was thrown; `described` cuts it down. */
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
  /** Where this process listens, and where the service is reached if that is elsewhere. */
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

/** Structured lines. */
export interface Log {
  info(line: LogLine): void;
  warn(line: LogLine): void;
  error(line: LogLine): void;
  readonly isLevelEnabled: (level: 'info' | 'warn' | 'error') => boolean;
  /** Calls back when the stream has handed on every line. */
  readonly flush: (done: () => void) => void;
}

/** Writes each line as JSON, with its time and level, to the stream. */
export const createLog = (level: LevelWithSilent, stream: DestinationStream): Log =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (name) => ({ level: name }) },
      serializers: { error: (error: unknown) => described(error) },
    },
    stream,
  );

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
