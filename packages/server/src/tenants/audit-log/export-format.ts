import { AuditLogEntry } from '../../schema/events/audit-log-entry.ts';

type Entry = Readonly<Record<string, unknown>>;

interface FormatDefinition {
  readonly mediaType: string;
  readonly header: string | null;
  readonly line: (entry: Entry) => string;
}

const columns = Object.keys(AuditLogEntry.schema.shape);

/** Matches text that a spreadsheet would run as a formula. */
const formulaStart = /^[=+\-@\t\r]/;

/**
 * A cell of RFC 4180. Entries contain text from unauthenticated callers, such as the user agent of a refused sign-in,
 * so a leading `'` turns formulas into text (events §7).
 */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const isText = typeof value === 'string' || typeof value === 'number';
  const text = value instanceof Date ? value.toISOString() : isText ? String(value) : JSON.stringify(value);
  const safe = formulaStart.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const csvRecord = (cells: readonly unknown[]): string => `${cells.map(csvCell).join(',')}\r\n`;

/** The formats of an export. Only ndjson can be verified: each line is an entry exactly as `auditLogs` returns it. */
export const formats = {
  ndjson: {
    mediaType: 'application/x-ndjson; charset=utf-8',
    header: null,
    line: (entry) => `${JSON.stringify(entry)}\n`,
  },
  csv: {
    mediaType: 'text/csv; charset=utf-8; header=present',
    header: csvRecord(columns),
    line: (entry) => csvRecord(columns.map((name) => entry[name])),
  },
} as const satisfies Record<string, FormatDefinition>;

export type Format = keyof typeof formats;
