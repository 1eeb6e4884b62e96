import { memo, useRef, type KeyboardEvent, type ReactNode } from 'react';
import { useTexts } from '../../i18n/language.ts';
import { common } from '../../i18n/common.ts';

export interface Column<R> {
  readonly key: string;
  readonly label: string;
  /** The field by which the API sorts this column. Without it the column can't be sorted. */
  readonly sortField?: string;
  readonly cell: (row: R) => ReactNode;
  /** The full content, if the cell shows only the beginning. */
  readonly full?: (row: R) => ReactNode;
  /** The text of the cell in a download. Needed if the cell isn't plain text. */
  readonly text?: (row: R) => string;
}

export interface Sort {
  readonly field: string;
  readonly isDescending: boolean;
}

/** The rows that the user has selected, for operations on several rows. */
interface Selection {
  readonly ids: ReadonlySet<string>;
  /** Must be the same function at each render, so that unchanged rows aren't rendered again. */
  readonly onToggle: (ids: readonly string[], isSelected: boolean) => void;
}

/**
 * A table; on a narrow screen each row becomes a card. `j`, `k` and the arrow keys move between rows, and Enter opens
 * the link of a row.
 */
export function Table<R extends { readonly id: string }>({
  label,
  columns,
  rows,
  sort,
  onSort,
  nameOf,
  selection,
}: {
  readonly label: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  readonly sort?: Sort | null;
  readonly onSort?: (sort: Sort) => void;
  /** Returns the name of a row for the label of its checkbox. */
  readonly nameOf?: (row: R) => string;
  readonly selection?: Selection | undefined;
}) {
  const t = useTexts(common);
  const body = useRef<HTMLTableSectionElement>(null);
  return (
    <table className="table" aria-label={label}>
      <thead>
        <tr>
          {selection && (
            <th scope="col" className="select">
              <input
                type="checkbox"
                aria-label={t.selectAll}
                checked={rows.every(({ id }) => selection.ids.has(id))}
                onChange={(event) =>
                  selection.onToggle(
                    rows.map(({ id }) => id),
                    event.target.checked,
                  )
                }
              />
            </th>
          )}
          {columns.map((column) => {
            const sorted = sort && sort.field === column.sortField ? sort : null;
            const direction = sorted?.isDescending ? 'descending' : 'ascending';
            return (
              <th key={column.key} scope="col" {...(sorted ? { 'aria-sort': direction } : {})}>
                {column.sortField !== undefined && onSort ? (
                  <button
                    type="button"
                    className="sort"
                    title={t.sortBy(column.label)}
                    onClick={() =>
                      onSort({
                        field: column.sortField ?? '',
                        isDescending: sorted ? !sorted.isDescending : false,
                      })
                    }
                  >
                    {column.label}
                    <span aria-hidden="true">{sorted ? (sorted.isDescending ? ' ↓' : ' ↑') : ''}</span>
                  </button>
                ) : (
                  column.label
                )}
              </th>
            );
          })}
        </tr>
      </thead>
      <tbody ref={body} onKeyDown={(event) => moveFocus(event, body.current)}>
        {rows.map((row) => (
          <TableRow
            key={row.id}
            row={row}
            columns={columns}
            selectLabel={nameOf ? t.selectRow(nameOf(row)) : ''}
            isSelected={selection?.ids.has(row.id) ?? false}
            onToggle={selection?.onToggle}
          />
        ))}
      </tbody>
    </table>
  );
}

function PlainRow<R extends { readonly id: string }>({
  row,
  columns,
  selectLabel,
  isSelected,
  onToggle,
}: {
  readonly row: R;
  readonly columns: readonly Column<R>[];
  readonly selectLabel: string;
  readonly isSelected: boolean;
  readonly onToggle: Selection['onToggle'] | undefined;
}) {
  return (
    <tr className={isSelected ? 'selected' : ''}>
      {onToggle && (
        <td className="select">
          <input
            type="checkbox"
            aria-label={selectLabel}
            checked={isSelected}
            onChange={(event) => onToggle([row.id], event.target.checked)}
          />
        </td>
      )}
      {columns.map((column) => (
        <td key={column.key} data-label={column.label}>
          {/* A single element, so that the label and the value are next to each other in a card. */}
          <div>{column.cell(row)}</div>
        </td>
      ))}
    </tr>
  );
}

/** `memo` loses the type parameter of the component, so the cast restores it. */
const TableRow = memo(PlainRow) as typeof PlainRow;

const moves: Readonly<Record<string, number>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

/** Moves the focus to the first link of the next or previous row. */
function moveFocus(event: KeyboardEvent, body: HTMLTableSectionElement | null): void {
  const move = moves[event.key];
  if (move === undefined || !body || !(event.target instanceof HTMLAnchorElement)) return;
  const links = [...body.rows].flatMap((row) => row.querySelector('a') ?? []);
  const at = links.findIndex((link) => link.closest('tr')?.contains(event.target as Node));
  const next = links[at + move];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
