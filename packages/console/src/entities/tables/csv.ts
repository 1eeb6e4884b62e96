import type { Column } from '../../ui/tables/table.tsx';

/** Text that a spreadsheet would run as a formula. */
const formulaStart = /^[=+\-@\t\r]/;

/** A cell of RFC 4180. Rows hold texts of strangers, so a leading `'` turns formulas into text, as in the audit export. */
function csvCell(text: string): string {
  const safe = formulaStart.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const record = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`;

/** The columns and rows of a view, with the id of each row first. */
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
