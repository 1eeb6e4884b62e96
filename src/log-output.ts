import { pino, type DestinationStream } from 'pino';
import type { LogLine } from './log.ts';

/** A pipe takes so many bytes as a whole (PIPE_BUF): lines of several workers never mix. */
const MOST_IN_A_WRITE = 4096;
/** What waits for a reader that is stuck is bounded; further lines are dropped. */
const MOST_WAITING = 16 * 1024 * 1024;

/**
 * Standard output, written outside the event loop: lines that come while a write is under way wait for the next one and
 * go together. A full disk behind it loses lines and stops nothing.
 */
export function jsonOutput(): DestinationStream {
  const output = pino.destination({
    dest: 1,
    sync: false,
    maxWrite: MOST_IN_A_WRITE,
    maxLength: MOST_WAITING,
    // With 0 `flush` calls back without having waited.
    minLength: 1,
  });
  let failing = false;
  output.on('error', () => (failing = true)).on('drain', () => (failing = false));
  // At the exit pino writes what is left, and would try for ever where writing fails.
  process.prependListener('exit', () => {
    if (failing) output.destroy();
  });
  return output;
}

/**
 * Lines for people. The printer is a package for development, which the image and `npm ci --omit=dev` leave out.
 * @returns undefined when it is not installed
 */
export async function prettyOutput(): Promise<DestinationStream | undefined> {
  const { prettyFactory } = await import('pino-pretty').catch(() => ({ prettyFactory: undefined }));
  const pretty = prettyFactory?.({
    messageKey: 'message',
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
    ignore: 'method,route,status,ms,address,subject,credential',
    messageFormat: textOf,
  });
  return pretty && { write: (line) => void process.stdout.write(pretty(line)) };
}

const textOf = ({ message = '', method, route, status, ms }: LogLine): string =>
  route === undefined ? message : `${method} ${route} → ${status} ${ms} ms`;
