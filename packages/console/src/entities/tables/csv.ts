import type { Column } from '../../ui/tables/table.tsx';

/** Matches text that a spreadsheet would run as a formula. */
const formulaStart = /^[=+\-@\t\r]/;

/** Formats a cell (RFC 4180). Rows contain text from other people, so `'` before a formula turns it into text. */
function csvCell(text: string): string {
  const safe = formulaStart.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const record = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`;

/** Formats rows as CSV, with the visible columns. The id of each row comes first. */
export function csvOf<R extends { readonly id: string }>(
  columns: readonly Column<R>[],
  rows: readonly R[],
): string {
  const header = record(['id', ...columns.map(({ label }) => label)]);
  return (
    header + rows.map((row) => record([row.id, ...columns.map((column) => textOf(column, row))])).join('')
  );
}

function textOf<R>({ text, cell }: Column<R>, row: R): string {
  if (text) return text(row);
  const shown = cell(row);
  return typeof shown === 'string' || typeof shown === 'number' ? String(shown) : '';
}
