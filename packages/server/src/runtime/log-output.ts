import { pino, type DestinationStream } from 'pino';
import { readableLine } from './readable-line.ts';

/** Writes of up to PIPE_BUF bytes to a pipe are atomic, so lines of several workers do not mix. */
const MAX_WRITE_BYTES = 4096;
/** Maximum size of the buffer. If the reader of the log is stuck, further lines are dropped. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;

/**
 * Writes JSON lines to standard output asynchronously. Lines that arrive during a write are written together
 * afterwards. If the disk behind it is full, lines are lost and the service continues.
 */
export function jsonOutput(): DestinationStream {
  const output = pino.destination({
    dest: 1,
    sync: false,
    maxWrite: MAX_WRITE_BYTES,
    maxLength: MAX_BUFFERED_BYTES,
    // With 0, `flush` would call back before the lines are written.
    minLength: 1,
  });
  let isFailing = false;
  output.on('error', () => (isFailing = true)).on('drain', () => (isFailing = false));
  // On exit, pino writes its buffer, and would retry forever if writing fails.
  process.prependListener('exit', () => {
    if (isFailing) output.destroy();
  });
  return output;
}

/** Creates an output that writes readable lines, with colours if standard output is a terminal that supports them. */
export function readableOutput(): DestinationStream {
  const { stdout } = process;
  const hasColours = stdout.isTTY && stdout.hasColors();
  return { write: (line) => void stdout.write(readableLine(line, hasColours)) };
}
