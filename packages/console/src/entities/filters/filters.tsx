import { useState, type FormEvent } from 'react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTexts, type Texts } from '../../i18n/language.ts';
import { Control } from '../controls/control.tsx';
import type { Filter, Values } from '../declarations/form-field.ts';

const texts: Texts<{
  readonly filters: (count: number) => string;
  readonly apply: string;
  readonly clear: string;
  readonly all: string;
}> = {
  en: {
    filters: (count) => (count > 0 ? `Filters (${count})` : 'Filters'),
    apply: 'Apply',
    clear: 'Clear filters',
    all: 'All',
  },
  de: {
    filters: (count) => (count > 0 ? `Filter (${count})` : 'Filter'),
    apply: 'Anwenden',
    clear: 'Filter leeren',
    all: 'Alle',
  },
  es: {
    filters: (count) => (count > 0 ? `Filtros (${count})` : 'Filtros'),
    apply: 'Aplicar',
    clear: 'Quitar filtros',
    all: 'Todos',
  },
  fr: {
    filters: (count) => (count > 0 ? `Filtres (${count})` : 'Filtres'),
    apply: 'Appliquer',
    clear: 'Retirer les filtres',
    all: 'Tous',
  },
};

/** Returns the values of the filters that are set in the URL. */
export function filterValues(
  filters: readonly Filter[],
  search: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    filters.flatMap(({ name }) => {
      const value = search[name];
      return value ? [[name, value]] : [];
    }),
  );
}

/** The filters of a list. Applying them writes them to the URL. */
export function Filters({ filters }: { readonly filters: readonly Filter[] }) {
  const values = filterValues(filters, useSearch({ strict: false }));
  // The key resets the form if other filters are in the URL, for example after a link.
  return <FilterForm key={JSON.stringify(values)} filters={filters} values={values} />;
}

function FilterForm({
  filters,
  values,
}: {
  readonly filters: readonly Filter[];
  readonly values: Readonly<Record<string, string>>;
}) {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const [draft, setDraft] = useState<Values>(values);
  const count = Object.keys(values).length;
  const apply = (next: Values): void =>
    void navigate({
      to: '.',
      search: (before) => ({
        ...before,
        ...Object.fromEntries(
          filters.map(({ name }) => [name, (next[name] as string | null | undefined) || undefined]),
        ),
      }),
    });
  return (
    <details className="filters" open={count > 0}>
      <summary>{t.filters(count)}</summary>
      <form
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          apply(draft);
        }}
      >
        <div className="filter-fields">
          {filters.map((filter) => (
            <Control
              key={filter.name}
              field={
                filter.kind === 'option'
                  ? { ...filter, options: [{ id: '', name: t.all }, ...filter.options] }
                  : filter
              }
              value={draft[filter.name]}
              problem={undefined}
              onChange={(value) => setDraft((before) => ({ ...before, [filter.name]: value }))}
            />
          ))}
        </div>
        <div className="row">
          <button type="submit">{t.apply}</button>
          {count > 0 && (
            <button type="button" className="quiet" onClick={() => apply({})}>
              {t.clear}
            </button>
          )}
        </div>
      </form>
    </details>
  );
}
