import { cellText, cut, padded, widthOf } from './text.ts';
import { relativeTime } from './times.ts';

/** One column of a list, and one line of a record. */
export interface Column {
  readonly name: string;
  /** The member of the row, or how to read it. Default: the name. */
  readonly of?: string | ((row: Row) => unknown);
  /** `id`: never cut. `time`: relative on a terminal. */
  readonly kind?: 'id' | 'time';
}
export type Row = Readonly<Record<string, unknown>>;

const valueOf = ({ name, of = name }: Column, row: Row): unknown =>
  typeof of === 'string' ? row[of] : of(row);

const isTime = ({ kind }: Column): boolean => kind === 'time';

/** Tab-separated, without a header: exact values, for programs. */
export const separated = (columns: readonly Column[], row: Row): string =>
  columns.map((column) => cellText(valueOf(column, row))).join('\t');

const GAP = 2;
const LEAST = 8;

/** Lines of a table for people, as wide as the window. */
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

/** Takes from the widest columns until the line fits; ids stay whole. */
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

/** Lines `name  value` of one row. */
export function record(row: Row, columns: readonly Column[], now: number): string[] {
  const width = Math.max(...columns.map(({ name }) => widthOf(name)));
  return columns.map((column) => {
    const value = valueOf(column, row);
    const text = cellText(value);
    const relative = isTime(column) && value ? ` (${relativeTime(value, now)})` : '';
    return `${padded(column.name, width)}  ${text}${relative}`.trimEnd();
  });
}
