import type { LogLine } from './log.ts';

/**
 * Returns a log line as text for people: time, level, message, the other fields as JSON, and below it an error with its
 * stack. It is implemented here, because a library would add nine packages to the service.
 *
 * @example 17:31:33.033 WARN  an idle database connection was lost {"worker":2}
 */
export function readableLine(json: string, hasColours: boolean): string {
  const { time, level, error, message = '', ...line } = JSON.parse(json) as WrittenLine;
  const { method, route, status, ms } = line;
  const fields = Object.fromEntries(Object.entries(line).filter(([field]) => !apart.has(field)));
  const text = route === undefined ? message : `${method} ${route} → ${status} ${ms} ms`;
  const rest = Object.keys(fields).length > 0 ? ` ${JSON.stringify(fields)}` : '';
  const name = level.toUpperCase().padEnd(5);
  const shown = hasColours ? `${colours[level] ?? ''}${name}\u001b[39m` : name;
  return `${clockOf(time)} ${shown} ${printable(text.replaceAll('\n', '\n    '))}${printable(rest)}${printable(stackOf(error))}\n`;
}

/** Fields of a request that are already in the text, and those about its sender, which a terminal need not show. */
const apart: ReadonlySet<string> = new Set([
  ...['method', 'route', 'status', 'ms'],
  ...['address', 'subject', 'credential'],
]);

interface WrittenLine extends LogLine {
  readonly time: string;
  readonly level: string;
  readonly error?: WrittenError | string;
}

const colours: Readonly<Record<string, string>> = {
  info: '\u001b[32m',
  warn: '\u001b[33m',
  error: '\u001b[31m',
};

/** Returns the local time of this machine, so that its user can relate lines to their own actions. */
function clockOf(time: string): string {
  const date = new Date(time);
  const digits = (number: number, count = 2): string => String(number).padStart(count, '0');
  const hours = [date.getHours(), date.getMinutes(), date.getSeconds()].map((number) => digits(number));
  return `${hours.join(':')}.${digits(date.getMilliseconds(), 3)}`;
}

/** An error as `serializeError` writes it. */
interface WrittenError {
  readonly name: string;
  readonly code?: string | number;
  readonly message?: string;
  readonly at: readonly string[];
  readonly cause?: WrittenError | string;
}

function stackOf(error: WrittenError | string | undefined): string {
  if (error === undefined) return '';
  if (typeof error === 'string') return `\n    ${error}`;
  const { name, code, message, at, cause } = error;
  const head = code === undefined ? name : `${name} ${code}`;
  const text = message === undefined ? head : `${head}: ${message.replaceAll('\n', '\n    ')}`;
  return [text, ...at.map((frame) => `  ${frame}`)].map((each) => `\n    ${each}`).join('') + stackOf(cause);
}

/**
 * Escapes text that others have sent, so that it cannot move the cursor, colour the terminal, or change the direction
 * of the text. Line breaks stay; the callers indent the text after them, so that it cannot look like a log line.
 */
const printable = (text: string): string =>
  text.replace(
    /[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
