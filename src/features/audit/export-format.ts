import { AuditLogEntry } from './entry.ts';

type Entry = Readonly<Record<string, unknown>>;

interface Form {
  readonly mediaType: string;
  readonly header: string | null;
  readonly line: (entry: Entry) => string;
}

const columns = Object.keys(AuditLogEntry.schema.shape);

/** What a spreadsheet takes for a formula. */
const formula = /^[=+\-@\t\r]/;

/**
 * A cell of RFC 4180. An entry has text that anybody may have sent, the user agent of a refused sign-in say, so what
 * would be a formula is made text by a leading `'` (events §7).
 */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const isText = typeof value === 'string' || typeof value === 'number';
  const text = value instanceof Date ? value.toISOString() : isText ? String(value) : JSON.stringify(value);
  const safe = formula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const record = (cells: readonly unknown[]): string => `${cells.map(csvCell).join(',')}\r\n`;

/** The forms of an export. In the first a line is an entry as `auditLogs` answers it, which is what can be verified. */
export const formats = {
  ndjson: {
    mediaType: 'application/x-ndjson; charset=utf-8',
    header: null,
    line: (entry) => `${JSON.stringify(entry)}\n`,
  },
  csv: {
    mediaType: 'text/csv; charset=utf-8; header=present',
    header: record(columns),
    line: (entry) => record(columns.map((name) => entry[name])),
  },
} as const satisfies Record<string, Form>;

export type Format = keyof typeof formats;
