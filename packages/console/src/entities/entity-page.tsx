import { useCallback, useMemo, useState } from 'react';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useList } from '../api/use-api.ts';
import { AsRequest, pathOf } from './tables/as-request.tsx';
import { common } from '../i18n/common.ts';
import { useTexts } from '../i18n/language.ts';
import { idOf, keyOf } from '../scopes/scope.ts';
import { useRights, useScope } from '../scopes/use-scope.ts';
import { ListFoot } from '../ui/tables/list-foot.tsx';
import { download } from '../ui/dialogs/secret-dialog.tsx';
import { Failure, Forbidden } from '../scopes/failure.tsx';
import { Empty, Skeleton } from '../ui/states.tsx';
import { Table, type Column, type Sort } from '../ui/tables/table.tsx';
import { BuiltInSwitch } from './tables/built-in-switch.tsx';
import { BulkBar, useBulkActs } from './tables/bulk.tsx';
import { ColumnChoice, useHiddenColumns } from './tables/column-choice.tsx';
import { csvOf } from './tables/csv.ts';
import { filterValues, Filters } from './filters/filters.tsx';
import { EntityPanel } from './entity-panel.tsx';
import { targetOf, type Entity, type EntityTexts, type Row } from './declarations/entity.ts';
import { useFocusReturn } from './focus-return.ts';
import { NewRow } from './forms/new-row.tsx';
import { RowLink } from './tables/row-link.tsx';
import { SearchBox } from './filters/search-box.tsx';

const PAGE = 50;
const none: ReadonlySet<string> = new Set();

/** The list of an entity. Its search and order are in the URL; the row that the URL names is shown in a panel. */
export function EntityPage<R extends Row, T extends EntityTexts>({
  entity,
}: {
  readonly entity: Entity<R, T>;
}) {
  const t = useTexts(entity.texts);
  const c = useTexts(common);
  const scope = useScope();
  const rights = useRights(scope);
  const navigate = useNavigate();
  const { page = '', row } = useParams({ strict: false });
  const search = useSearch({ strict: false });
  useFocusReturn(row);
  const { q, sort: sortText } = search;
  const filters = filterValues(entity.filters?.(t, c) ?? [], search);
  const hidesBuiltIn = entity.hidesBuiltIn === true && search['builtIn'] !== 'yes';
  const isFiltered = Object.keys(filters).length > 0;
  const sort = sortOf(sortText);
  const [isCreating, setCreating] = useState(false);
  const [selected, setSelected] = useState(none);
  const { hidden, toggle } = useHiddenColumns(entity.noun);
  const acts = useBulkActs(entity);
  const list = useList(
    [entity.noun, scope, q, sortText, filters, hidesBuiltIn],
    (api, cursor, signal) =>
      entity.list(
        api,
        {
          ...filters,
          ...targetOf(scope),
          limit: PAGE,
          ...(hidesBuiltIn ? { isSystem: false } : {}),
          ...(cursor === undefined ? {} : { cursor }),
          ...(q && q.length > 1 ? { search: q } : {}),
          ...(sort
            ? {
                // Cast, because the input type lists the sortable fields, but this name comes from a column.
                sortField: sort.field as never,
                sortOrder: sort.isDescending ? ('DESC' as const) : ('ASC' as const),
              }
            : {}),
        },
        signal,
      ),
    { isEnabled: rights.can(`${entity.noun}:Query`) },
  );
  const setQuery = (query: { readonly q?: string | undefined; readonly sort?: string | undefined }): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, ...query }), replace: true });
  const columns = useMemo(
    () => linked(entity, entity.columns(t, c), `/${keyOf(scope)}/${page}`),
    [entity, t, c, scope, page],
  );
  const shown = useMemo(
    () => columns.filter(({ key }, at) => at === 0 || !hidden.has(key)),
    [columns, hidden],
  );
  const select = useCallback((ids: readonly string[], isSelected: boolean) => {
    setSelected((before) => {
      const next = new Set(before);
      for (const id of ids)
        if (isSelected) next.add(id);
        else next.delete(id);
      return next;
    });
  }, []);

  if (rights.isLoading) return <Skeleton />;
  if (!rights.can(`${entity.noun}:Query`))
    return rights.error ? (
      <Failure error={rights.error} onRetry={rights.readAgain} />
    ) : (
      <Forbidden permission={`${entity.noun}:Query`} />
    );
  const rows = list.data?.pages.flatMap(({ items }) => items) ?? [];
  const mayCreate = (entity.create ?? entity.createForm) !== undefined && rights.can(`${entity.noun}:Create`);
  const newButton = mayCreate && (
    <button type="button" className="main" onClick={() => setCreating(true)}>
      {t.create}
    </button>
  );
  return (
    <>
      <header className="page-head">
        <div>
          <h1>{t.title}</h1>
          <p>{t.about}</p>
        </div>
        {entity.tools?.()}
        {rows.length > 0 && newButton}
      </header>
      <div className="tools">
        {(entity.hasSearch ?? true) && (rows.length > 0 || q) && (
          <SearchBox value={q ?? ''} onChange={setQuery} />
        )}
        {entity.hidesBuiltIn && <BuiltInSwitch isOn={!hidesBuiltIn} />}
        {rows.length > 0 && columns.length > 2 && (
          <ColumnChoice columns={columns} hidden={hidden} onToggle={toggle} />
        )}
      </div>
      {entity.filters && (rows.length > 0 || isFiltered) && <Filters filters={entity.filters(t, c)} />}
      {list.isPending && <Skeleton />}
      {list.error && (
        <Failure error={list.error} permission={`${entity.noun}:Query`} onRetry={() => list.refetch()} />
      )}
      {list.data && rows.length === 0 && !q && !isFiltered && <Empty title={t.empty}>{newButton}</Empty>}
      {list.data && rows.length === 0 && (q || isFiltered) && (
        <Empty title={c.noMatch}>
          <button type="button" onClick={() => void navigate({ to: '.', search: {}, replace: true })}>
            {c.clearFilters}
          </button>
        </Empty>
      )}
      <BulkBar
        acts={acts}
        rows={rows.filter(({ id }) => selected.has(id))}
        nameOf={entity.name}
        onDone={(left) => setSelected(new Set(left.map(({ id }) => id)))}
      />
      {rows.length > 0 && (
        <>
          <Table
            label={t.title}
            columns={shown}
            rows={rows}
            sort={sort}
            onSort={({ field, isDescending }) => setQuery({ sort: `${isDescending ? '-' : ''}${field}` })}
            nameOf={entity.name}
            selection={acts.length > 0 ? { ids: selected, onToggle: select } : undefined}
          />
          <ListFoot list={list}>
            <button
              type="button"
              className="quiet"
              onClick={() => download(`${entity.noun}-${idOf(scope)}.csv`, csvOf(shown, rows), 'text/csv')}
            >
              {c.asCsv}
            </button>
            <AsRequest path={entity.path?.(scope) ?? pathOf(entity.noun)} />
          </ListFoot>
          {entity.footer?.(rows, filters)}
        </>
      )}
      {row !== undefined && <EntityPanel key={row} entity={entity} id={row} />}
      <NewRow entity={entity} isOpen={isCreating} onClose={() => setCreating(false)} />
    </>
  );
}

const sortOf = (text: string | undefined): Sort | null =>
  text ? { field: text.replace(/^-/, ''), isDescending: text.startsWith('-') } : null;

/** Makes the first column a link: to the panel of the row, or to the overview of the scope if the row is one. */
function linked<R extends Row, T extends EntityTexts>(
  { link, name }: Entity<R, T>,
  columns: readonly Column<R>[],
  list: string,
): readonly Column<R>[] {
  const [first, ...others] = columns;
  if (!first) return [];
  const cell = (row: R) => {
    const scope = link?.(row);
    return (
      <RowLink
        path={scope ? `/${keyOf(scope)}/overview` : `${list}/${encodeURIComponent(row.id)}`}
        keepsSearch={scope === undefined}
      >
        {first.cell(row)}
      </RowLink>
    );
  };
  return [{ text: name, ...first, cell }, ...others];
}
