import type { ReactNode } from 'react';
import type { Common } from '../../i18n/common.ts';
import { Chips } from '../../ui/chips.tsx';
import type { Column } from '../../ui/tables/table.tsx';
import { Time } from '../../ui/times/time.tsx';

/* Columns that many kinds of rows share. Each also has a text, which the CSV download of a list needs. */

export const textColumn = <R,>(
  key: string,
  label: string,
  text: (row: R) => string | null | undefined,
  more: { readonly sortField?: string; readonly cell?: (row: R) => ReactNode } = {},
): Column<R> => ({
  key,
  label,
  text: (row) => text(row) ?? '',
  cell: (row) => <bdi>{text(row) ?? '–'}</bdi>,
  ...more,
});

export const nameColumn = <R extends { readonly name: string }>(c: Common): Column<R> =>
  textColumn('name', c.name, ({ name }) => name, { sortField: 'name' });

export const descriptionColumn = <R extends { readonly description: string | null }>(c: Common): Column<R> =>
  textColumn('description', c.description, ({ description }) => description);

/** A column with a time. `never` is shown if a row has none. */
export const timeColumn = <R,>(
  key: string,
  label: string,
  time: (row: R) => string | null,
  { sortField, never }: { readonly sortField?: string; readonly never?: string } = {},
): Column<R> => ({
  key,
  label,
  ...(sortField === undefined ? {} : { sortField }),
  text: (row) => time(row) ?? '',
  cell: (row) => (time(row) === null && never !== undefined ? never : <Time iso={time(row)} />),
});

export const createdColumn = <R extends { readonly createdAt: string }>(c: Common): Column<R> =>
  timeColumn('createdAt', c.createdAt, ({ createdAt }) => createdAt, { sortField: 'createdAt' });

export const updatedColumn = <R extends { readonly updatedAt: string }>(c: Common): Column<R> =>
  timeColumn('updatedAt', c.updatedAt, ({ updatedAt }) => updatedAt, { sortField: 'updatedAt' });

/** Maximum number of chips in a cell. More would push the rows below out of view. */
const CHIPS = 6;

export const chipsColumn = <R,>(
  key: string,
  label: string,
  texts: (row: R) => readonly string[],
  { isCode = false }: { readonly isCode?: boolean } = {},
): Column<R> => ({
  key,
  label,
  text: (row) => texts(row).join(', '),
  cell: (row) => <Chips texts={texts(row)} isCode={isCode} limit={CHIPS} />,
  full: (row) => <Chips texts={texts(row)} isCode={isCode} />,
});
