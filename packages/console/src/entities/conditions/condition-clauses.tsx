import { useTexts } from '../../i18n/language.ts';
import { ConditionComparison } from './condition-comparison.tsx';
import { writeNode, type Clauses, type Comparison, type ConditionNode } from './condition-model.ts';
import { problemsOf, problemText } from './condition-problems.ts';
import { conditionTexts } from './condition-texts.ts';

const kinds = ['all', 'any', 'none'] as const;
const comparison: Comparison = {
  kind: 'comparison',
  operator: 'Equals',
  path: 'resource.',
  type: 'text',
  text: '',
};

/** Edits a group of comparisons and nested groups. With `isChecked` each of them shows its problem. */
export function ConditionClauses({
  node,
  isChecked,
  onChange,
  onRemove,
}: {
  readonly node: Clauses;
  readonly isChecked: boolean;
  readonly onChange: (node: Clauses) => void;
  readonly onRemove?: () => void;
}) {
  const t = useTexts(conditionTexts);
  const replace = (index: number, next: ConditionNode): void =>
    onChange({ ...node, nodes: node.nodes.map((inner, at) => (at === index ? next : inner)) });
  const remove = (index: number): void =>
    onChange({ ...node, nodes: node.nodes.filter((_, at) => at !== index) });
  const add = (next: ConditionNode): void => onChange({ ...node, nodes: [...node.nodes, next] });
  return (
    <div className="clauses" role="group" aria-label={t.groups[node.kind]}>
      {(node.nodes.length > 1 || node.kind !== 'all' || onRemove) && (
        <div className="row">
          <select
            aria-label={t.group}
            value={node.kind}
            onChange={(event) => onChange({ ...node, kind: event.target.value as Clauses['kind'] })}
          >
            {kinds.map((kind) => (
              <option key={kind} value={kind}>
                {t.groups[kind]}
              </option>
            ))}
          </select>
          {onRemove && (
            <button type="button" onClick={onRemove}>
              {t.removeIt}
            </button>
          )}
        </div>
      )}
      {node.nodes.map((inner, index) =>
        inner.kind === 'comparison' ? (
          <ConditionComparison
            key={index}
            node={inner}
            problem={isChecked ? firstProblem(inner, t) : undefined}
            onChange={(next) => replace(index, next)}
            onRemove={() => remove(index)}
          />
        ) : (
          <ConditionClauses
            key={index}
            node={inner}
            isChecked={isChecked}
            onChange={(next) => replace(index, next)}
            onRemove={() => remove(index)}
          />
        ),
      )}
      {isChecked && onRemove && node.nodes.length === 0 && (
        <small className="problem">{t.emptyProblem}</small>
      )}
      <p className="row">
        <button type="button" className="quiet" onClick={() => add(comparison)}>
          {t.addComparison}
        </button>
        <button type="button" className="quiet" onClick={() => add({ kind: 'any', nodes: [comparison] })}>
          {t.addGroup}
        </button>
      </p>
    </div>
  );
}

function firstProblem(node: Comparison, t: (typeof conditionTexts)['en']): string | undefined {
  const [first] = problemsOf(writeNode(node));
  return first && problemText(first, t);
}
