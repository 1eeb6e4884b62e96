import '../../styles/conditions.css';
import { useState } from 'react';
import type { ConditionProblem } from '@doorward/decision';
import { useTexts } from '../../i18n/language.ts';
import { ConditionClauses } from './condition-clauses.tsx';
import { readCondition, writeCondition, type Clauses } from './condition-model.ts';
import { problemsOf, problemText } from './condition-problems.ts';
import { conditionTexts } from './condition-texts.ts';
import { formTexts } from '../declarations/form-texts.ts';

/** Edits a condition either as comparisons or as JSON. Switching keeps the changes that were made in the other view. */
export default function ConditionControl({
  label,
  hint,
  value,
  problem,
  onChange,
}: {
  readonly label: string;
  readonly hint: string | undefined;
  readonly value: unknown;
  /** The error message of the service. If there is one, each part of the condition also shows its own problem. */
  readonly problem: string | undefined;
  readonly onChange: (value: unknown) => void;
}) {
  const t = useTexts(conditionTexts);
  const [root, setRoot] = useState<Clauses | null>(() => readCondition(value));
  const [isJson, setJson] = useState(root === null);
  const [refusal, setRefusal] = useState({ problem, value });
  if (refusal.problem !== problem) setRefusal({ problem, value });
  const places = problem === undefined ? [] : problemsOf(value);
  // A string means that the JSON is invalid, which the JSON editor reports itself.
  const isReadable = typeof value !== 'string';
  const isElsewhere = places.every((place) => problemText(place, t) === undefined);
  const change = (next: Clauses): void => {
    setRoot(next);
    onChange(writeCondition(next));
  };
  return (
    <fieldset className="field condition-control">
      <legend>{label}</legend>
      {hint && <small className="hint">{hint}</small>}
      {isJson || !root ? (
        <JsonCondition
          label={label}
          value={value}
          onChange={(next) => {
            setRoot(readCondition(next));
            onChange(next);
          }}
        />
      ) : (
        <>
          {root.nodes.length === 0 && <Examples onChoose={change} />}
          <ConditionClauses node={root} isChecked={problem !== undefined} onChange={change} />
        </>
      )}
      {isJson && isReadable && places.length > 0 && <Places places={places} />}
      {problem && isElsewhere && (places.length > 0 || value === refusal.value) && (
        <small className="problem" role="alert">
          {problem}
        </small>
      )}
      <p className="row">
        <button type="button" className="quiet" disabled={isJson && !root} onClick={() => setJson(!isJson)}>
          {isJson ? t.asTree : t.asJson}
        </button>
        {isJson && !root && isReadable && <small className="hint">{t.noTree}</small>}
      </p>
    </fieldset>
  );
}

const owner: Clauses = {
  kind: 'all',
  nodes: [
    { kind: 'comparison', operator: 'Equals', path: 'resource.ownerId', type: 'attribute', text: 'user.id' },
  ],
};
const status: Clauses = {
  kind: 'all',
  nodes: [{ kind: 'comparison', operator: 'In', path: 'resource.status', type: 'list', text: 'draft\nopen' }],
};

function Examples({ onChoose }: { readonly onChoose: (example: Clauses) => void }) {
  const t = useTexts(conditionTexts);
  return (
    <p className="row">
      <small className="hint">
        {t.noCondition} {t.examples}
      </small>
      <button type="button" className="quiet" onClick={() => onChoose(owner)}>
        {t.exampleOwner}
      </button>
      <button type="button" className="quiet" onClick={() => onChoose(status)}>
        {t.exampleStatus}
      </button>
    </p>
  );
}

/** Lists problems by their paths, because the JSON editor can't show them at their positions. */
function Places({ places }: { readonly places: readonly ConditionProblem[] }) {
  const t = useTexts(conditionTexts);
  return (
    <ul className="problem">
      {places.map((place) => (
        <li key={`${place.path} ${place.code}`}>
          <code>{place.path}</code> {problemText(place, t)}
        </li>
      ))}
    </ul>
  );
}

/**
 * Edits a condition as JSON. Invalid JSON is passed on as a string, which the service refuses, because otherwise the
 * form would save the last valid value.
 */
function JsonCondition({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}) {
  const f = useTexts(formTexts);
  const [text, setText] = useState(() =>
    value === null || value === undefined
      ? ''
      : typeof value === 'string'
        ? value
        : JSON.stringify(value, null, 2),
  );
  const read = (next: string): unknown => {
    try {
      return next.trim() === '' ? null : (JSON.parse(next) as unknown);
    } catch {
      return next;
    }
  };
  return (
    <>
      <textarea
        aria-label={`${label}: JSON`}
        className="code"
        rows={8}
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          onChange(read(event.target.value));
        }}
      />
      {typeof read(text) === 'string' && <small className="problem">{f.noJson}</small>}
    </>
  );
}
