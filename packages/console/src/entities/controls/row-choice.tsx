import { useId, useState } from 'react';
import { useRead } from '../../api/use-api.ts';
import { common } from '../../i18n/common.ts';
import { formatNumber } from '../../i18n/format.ts';
import { useLanguage, useTexts } from '../../i18n/language.ts';
import { useRights, useScope } from '../../scopes/use-scope.ts';
import { ErrorBox } from '../../session/error-box.tsx';
import { targetOf } from '../declarations/entity.ts';
import type { Choice, FormField } from '../declarations/form-field.ts';
import { formTexts } from '../declarations/form-texts.ts';

/** The maximum number of rows that a source returns. */
const MAX_ROWS = 100;

/** Lets the user choose rows with checkboxes, or one row with radio buttons. If there are many, a search appears. */
export function RowChoice({
  field,
  value,
  problem,
  onChange,
}: {
  readonly field: Extract<FormField, { readonly kind: 'rows' | 'row' }>;
  readonly value: unknown;
  readonly problem: string | undefined;
  readonly onChange: (value: unknown) => void;
}) {
  const t = useTexts(common);
  const f = useTexts(formTexts);
  const scope = useScope();
  const { can } = useRights(scope);
  const language = useLanguage();
  const group = useId();
  const [search, setSearch] = useState('');
  const [start] = useState(() => idsOf(value));
  const {
    data = [],
    error,
    isPending,
    refetch,
  } = useRead([field.noun, scope, 'choices', search, language], (api) =>
    field.source(api, { ...targetOf(scope), ...(search.length > 1 ? { search } : {}) }, can),
  );
  // A list has up to 100 rows, so it may lack some that are chosen.
  const missing =
    search === '' && data.length > 0 ? start.filter((id) => !data.some((row) => row.id === id)) : [];
  const { data: others = [] } = useRead(
    [field.noun, scope, 'choices', missing, language],
    (api) => field.source(api, { ...targetOf(scope), ids: missing.slice(0, MAX_ROWS) }, can),
    { isEnabled: missing.length > 0, keepsFormer: false },
  );
  const chosen = idsOf(value);
  // Rows that were chosen when the form opened come first, so that they aren't hidden far down in a long list.
  const wasChosen = (id: string): boolean => start.includes(id);
  const rows = [
    ...data.filter(({ id }) => wasChosen(id)),
    ...others.filter(({ id }) => missing.includes(id)),
    ...data.filter(({ id }) => !wasChosen(id)),
  ];
  const isFolded = ({ id, isBuiltIn = false }: Choice): boolean => isBuiltIn && !wasChosen(id);
  const own = rows.filter((row) => !isFolded(row));
  const builtIn = rows.filter(isFolded);
  const toggle = (id: string): void => {
    if (field.kind === 'row') onChange(id);
    else onChange(chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id]);
  };
  const choice = (row: Choice) => (
    <OneChoice
      key={row.id}
      choice={row}
      type={field.kind === 'row' ? 'radio' : 'checkbox'}
      group={group}
      isChosen={chosen.includes(row.id)}
      onToggle={() => toggle(row.id)}
    />
  );
  return (
    <fieldset className="field choice">
      <legend>{field.label}</legend>
      {field.hint && <small className="hint">{field.hint}</small>}
      {(search !== '' || data.length > 8) && (
        <input
          type="search"
          aria-label={`${t.search}: ${field.label}`}
          placeholder={t.search}
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
      )}
      {error && <ErrorBox error={error} onRetry={() => refetch()} />}
      <div className="choices">
        {field.kind === 'row' && !field.isRequired && (
          <label>
            <input type="radio" name={group} checked={chosen.length === 0} onChange={() => onChange(null)} />{' '}
            {t.none}
          </label>
        )}
        {own.map(choice)}
        {builtIn.length > 0 && (
          // Open after a search, so that the matches are visible.
          <details
            key={search}
            open={search.length > 1 || own.length === 0 || builtIn.some(({ id }) => chosen.includes(id))}
          >
            <summary>{f.builtIn(formatNumber(builtIn.length))}</summary>
            {builtIn.map(choice)}
          </details>
        )}
        {data.length >= MAX_ROWS && <small className="hint">{f.rowLimit(formatNumber(MAX_ROWS))}</small>}
        {data.length === 0 && !error && (
          <small className="hint">{isPending ? t.loading : search ? t.noMatch : t.nothingToChoose}</small>
        )}
      </div>
      {problem && <small className="problem">{problem}</small>}
    </fieldset>
  );
}

/** The value of a list field, or the value of a field for one row as a list. */
const idsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? (value as string[]) : typeof value === 'string' ? [value] : [];

/** A checkbox or radio button, labeled with the name of the row. The text below is its accessible description. */
function OneChoice({
  choice: { name, description },
  type,
  group,
  isChosen,
  onToggle,
}: {
  readonly choice: Choice;
  readonly type: 'radio' | 'checkbox';
  /** The name that all rows of the field share. Arrow keys move between radio buttons of one name. */
  readonly group: string;
  readonly isChosen: boolean;
  readonly onToggle: () => void;
}) {
  const id = useId();
  return (
    <label>
      <input
        type={type}
        name={group}
        checked={isChosen}
        onChange={onToggle}
        aria-labelledby={`${id}-name`}
        {...(description ? { 'aria-describedby': `${id}-about` } : {})}
      />
      <span>
        <bdi id={`${id}-name`}>{name}</bdi>
        {description && (
          <small id={`${id}-about`} className="hint">
            {description}
          </small>
        )}
      </span>
    </label>
  );
}
