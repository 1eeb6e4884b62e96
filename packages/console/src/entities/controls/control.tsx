import { lazy, Suspense, useState } from 'react';
import { useTexts } from '../../i18n/language.ts';
import { Field } from '../../ui/field.tsx';
import { formTexts } from '../declarations/form-texts.ts';
import type { FormField } from '../declarations/form-field.ts';
import { RowChoice } from './row-choice.tsx';

const ConditionControl = lazy(() => import('../conditions/condition-control.tsx'));

export function Control({
  field,
  value,
  problem,
  onChange,
}: {
  readonly field: FormField;
  readonly value: unknown;
  readonly problem: string | undefined;
  readonly onChange: (value: unknown) => void;
}) {
  const { label, hint } = field;
  if (field.kind === 'switch')
    return (
      <label className="switch">
        <input
          type="checkbox"
          checked={value === true}
          onChange={(event) => onChange(event.target.checked)}
        />
        <span>
          {label}
          {hint && <small className="hint">{hint}</small>}
          {problem && (
            <small className="problem" role="alert">
              {problem}
            </small>
          )}
        </span>
      </label>
    );
  if (field.kind === 'rows' || field.kind === 'row')
    return <RowChoice field={field} value={value} problem={problem} onChange={onChange} />;
  if (field.kind === 'condition')
    return (
      <Suspense fallback={null}>
        <ConditionControl label={label} hint={hint} value={value} problem={problem} onChange={onChange} />
      </Suspense>
    );
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(attributes) => {
        const shared = { ...attributes, required: field.isRequired ?? false };
        const text = typeof value === 'string' ? value : '';
        switch (field.kind) {
          case 'textarea':
            return (
              <textarea
                {...shared}
                rows={3}
                value={text}
                onChange={(event) => onChange(emptied(event.target.value, field.isNullable))}
              />
            );
          case 'lines':
            return (
              <textarea
                {...shared}
                rows={4}
                value={Array.isArray(value) ? value.join('\n') : ''}
                onChange={(event) =>
                  onChange(event.target.value === '' ? [] : event.target.value.split('\n'))
                }
                onBlur={(event) =>
                  onChange(
                    event.target.value
                      .split('\n')
                      .map((line) => line.trim())
                      .filter(Boolean),
                  )
                }
              />
            );
          case 'json':
            return <JsonText attributes={shared} value={value} onChange={onChange} />;
          case 'option':
            return (
              <select {...shared} value={text} onChange={(event) => onChange(event.target.value)}>
                {field.options.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            );
          case 'number':
            return (
              <input
                {...shared}
                type="number"
                min={field.min}
                max={field.max}
                value={typeof value === 'number' ? value : ''}
                onChange={(event) =>
                  onChange(event.target.value === '' ? undefined : event.target.valueAsNumber)
                }
              />
            );
          case 'date':
            return (
              <input
                {...shared}
                type="datetime-local"
                value={typeof value === 'string' ? localTime(value) : ''}
                onChange={(event) =>
                  onChange(event.target.value === '' ? null : new Date(event.target.value).toISOString())
                }
              />
            );
          case 'text':
          case 'password':
          case 'url':
          case 'email':
            return (
              <>
                <input
                  {...shared}
                  type={field.kind}
                  autoComplete={
                    field.kind === 'password'
                      ? field.isForeign
                        ? 'new-password'
                        : 'current-password'
                      : 'off'
                  }
                  {...(field.suggestions ? { list: `${attributes.id}-list` } : {})}
                  value={text}
                  onChange={(event) => onChange(emptied(event.target.value, field.isNullable))}
                />
                {field.suggestions && (
                  <datalist id={`${attributes.id}-list`}>
                    {field.suggestions.map((suggestion) => (
                      <option key={suggestion} value={suggestion} />
                    ))}
                  </datalist>
                )}
              </>
            );
        }
      }}
    </Field>
  );
}

const emptied = (text: string, isNullable: boolean | undefined): string | null =>
  text === '' && isNullable ? null : text;

/** Formats a time for an input in the time zone of the browser: `2026-11-24T10:00`. */
function localTime(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return '';
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Edits JSON as text. The value changes with every valid JSON that is typed. */
function JsonText({
  attributes,
  value,
  onChange,
}: {
  readonly attributes: object;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}) {
  const t = useTexts(formTexts);
  const [text, setText] = useState(() =>
    value === null || value === undefined
      ? ''
      : // A string here is text that wasn't valid JSON, for example in a form that the service refused.
        typeof value === 'string'
        ? value
        : JSON.stringify(value, null, 2),
  );
  const [isWrong, setWrong] = useState(false);
  return (
    <>
      <textarea
        {...attributes}
        className="code"
        rows={6}
        spellCheck={false}
        value={text}
        onChange={(event) => {
          const next = event.target.value;
          setText(next);
          try {
            onChange(next.trim() === '' ? null : JSON.parse(next));
            setWrong(false);
          } catch {
            setWrong(true);
            // Invalid JSON is passed on as text, which the service refuses. Otherwise the last valid value would be
            // saved.
            onChange(next);
          }
        }}
      />
      {isWrong && <small className="problem">{t.noJson}</small>}
    </>
  );
}
