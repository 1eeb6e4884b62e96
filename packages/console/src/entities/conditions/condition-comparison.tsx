import { useId } from 'react';
import { useTexts } from '../../i18n/language.ts';
import { operators, valueTypes, type Comparison, type Operator, type ValueType } from './condition-model.ts';
import { conditionTexts } from './condition-texts.ts';

/** Attributes that always exist. Others below `resource` and `metadata` depend on the product. */
const paths = [
  'resource.id',
  'resource.ownerId',
  'resource.status',
  'user.id',
  'user.name',
  'user.email',
  'user.emailVerified',
  'user.metadata.',
  'role.id',
  'role.name',
  'role.metadata.',
  'group.id',
  'group.name',
  'group.metadata.',
  'scope.tenant',
  'scope.id',
  'scope.accountId',
  'scope.organizationId',
  'scope.projectId',
];

/** Edits a comparison: an attribute, an operator and a value. */
export function ConditionComparison({
  node,
  problem,
  onChange,
  onRemove,
}: {
  readonly node: Comparison;
  readonly problem: string | undefined;
  readonly onChange: (node: Comparison) => void;
  readonly onRemove: () => void;
}) {
  const t = useTexts(conditionTexts);
  const id = useId();
  const allowed: readonly ValueType[] = valueTypes[node.operator];
  const types = allowed.includes(node.type) ? allowed : [...allowed, node.type];
  const setOperator = (operator: Operator): void => {
    const [first = 'text'] = valueTypes[operator];
    const fits = valueTypes[operator].includes(node.type);
    onChange({ ...node, operator, type: fits ? node.type : first });
  };
  return (
    <div className="comparison">
      <input
        aria-label={t.attribute}
        list={`${id}-paths`}
        spellCheck={false}
        autoComplete="off"
        value={node.path}
        {...(problem ? { 'aria-invalid': true, 'aria-describedby': `${id}-problem` } : {})}
        onChange={(event) => onChange({ ...node, path: event.target.value.trim() })}
      />
      <select
        aria-label={t.comparison}
        value={node.operator}
        onChange={(event) => setOperator(event.target.value as Operator)}
      >
        {operators.map((operator) => (
          <option key={operator} value={operator}>
            {t.operators[operator]}
          </option>
        ))}
      </select>
      <select
        aria-label={t.valueType}
        value={node.type}
        onChange={(event) => {
          const type = event.target.value as ValueType;
          onChange({ ...node, type, text: type === 'boolean' ? 'true' : node.text });
        }}
      >
        {types.map((type) => (
          <option key={type} value={type}>
            {t.types[type]}
          </option>
        ))}
      </select>
      <Value node={node} paths={`${id}-paths`} onChange={(text) => onChange({ ...node, text })} />
      <button type="button" className="icon" onClick={onRemove} aria-label={`${t.removeIt}: ${node.path}`}>
        ×
      </button>
      <datalist id={`${id}-paths`}>
        {paths.map((path) => (
          <option key={path} value={path} />
        ))}
      </datalist>
      {problem && (
        <small id={`${id}-problem`} className="problem">
          {problem}
        </small>
      )}
    </div>
  );
}

function Value({
  node: { type, text },
  paths,
  onChange,
}: {
  readonly node: Comparison;
  readonly paths: string;
  readonly onChange: (text: string) => void;
}) {
  const t = useTexts(conditionTexts);
  if (type === 'null') return null;
  if (type === 'boolean')
    return (
      <select aria-label={t.value} value={text} onChange={(event) => onChange(event.target.value)}>
        <option value="true">{t.yes}</option>
        <option value="false">{t.no}</option>
      </select>
    );
  if (type === 'list')
    return (
      <textarea
        aria-label={`${t.value}. ${t.listHint}`}
        placeholder={t.listHint}
        rows={3}
        value={text}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  return (
    <input
      aria-label={t.value}
      autoComplete="off"
      {...(type === 'attribute' ? { list: paths, spellCheck: false } : {})}
      {...(type === 'number' ? { inputMode: 'decimal' as const } : {})}
      value={text}
      onChange={(event) => onChange(type === 'attribute' ? event.target.value.trim() : event.target.value)}
    />
  );
}
