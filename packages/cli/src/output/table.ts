import { cellText, cut, padded, widthOf } from './text.ts';
import { relativeTime } from './times.ts';

/** A column of a list, and a line of a single record. */
export interface Column {
  readonly name: string;
  /** The member of the row, or a function that computes the value. Default: the member named like the column. */
  readonly of?: string | ((row: Row) => unknown);
  /** `id` is never cut off. `time` is shown relative to now on a terminal. */
  readonly kind?: 'id' | 'time';
}
export type Row = Readonly<Record<string, unknown>>;

const valueOf = ({ name, of = name }: Column, row: Row): unknown =>
  typeof of === 'string' ? row[of] : of(row);

const isTime = ({ kind }: Column): boolean => kind === 'time';

/** Formats a row as tab-separated exact values, for programs. */
export const separated = (columns: readonly Column[], row: Row): string =>
  columns.map((column) => cellText(valueOf(column, row))).join('\t');

const GAP = 2;
const LEAST = 8;

/** Formats a table for people, fitted to the width of the window. */
export function table(
  columns: readonly Column[],
  rows: readonly Row[],
  width: number,
  now: number,
): string[] {
  const cells = rows.map((row) =>
    columns.map((column) => {
      const value = valueOf(column, row);
      return isTime(column) ? cellText(relativeTime(value, now)) : cellText(value);
    }),
  );
  const header = columns.map(({ name }) => name.toUpperCase());
  const widths = columns.map((_, at) =>
    Math.max(...[header, ...cells].map((line) => widthOf(line[at] ?? ''))),
  );
  shrink(widths, columns, width);
  return [header, ...cells].map((line) =>
    line
      .map((cell, at) =>
        at === line.length - 1
          ? cut(cell, widths[at] ?? 0)
          : padded(cut(cell, widths[at] ?? 0), widths[at] ?? 0),
      )
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
}

/** Narrows the widest columns until a line fits. Ids are never cut off. */
function shrink(widths: number[], columns: readonly Column[], width: number): void {
  const total = () => widths.reduce((sum, columns) => sum + columns, 0) + GAP * (widths.length - 1);
  while (total() > width) {
    let widest = -1;
    for (let at = 0; at < widths.length; at++) {
      if (columns[at]?.kind === 'id' || (widths[at] ?? 0) <= LEAST) continue;
      if (widest < 0 || (widths[at] ?? 0) > (widths[widest] ?? 0)) widest = at;
    }
    if (widest < 0) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
}

/** Formats one row as lines of the form `name  value`. */
export function record(row: Row, columns: readonly Column[], now: number): string[] {
  const width = Math.max(...columns.map(({ name }) => widthOf(name)));
  return columns.map((column) => {
    const value = valueOf(column, row);
    const text = cellText(value);
    const relative = isTime(column) && value ? ` (${relativeTime(value, now)})` : '';
    return `${padded(column.name, width)}  ${text}${relative}`.trimEnd();
  });
}
