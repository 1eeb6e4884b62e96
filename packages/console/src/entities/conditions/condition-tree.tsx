import '../../styles/conditions.css';
import { useTexts } from '../../i18n/language.ts';
import { readCondition, writeNode, type Comparison, type ConditionNode } from './condition-model.ts';
import { conditionTexts } from './condition-texts.ts';

export type Truth = 'true' | 'false' | 'unknown';
/** Evaluates a part of a condition, given as JSON. */
export type TruthOf = (part: Readonly<Record<string, unknown>>) => Truth;

/** Describes a condition in words. With `truthOf` each part also shows whether it is met. */
export function ConditionTree({
  condition,
  truthOf,
}: {
  readonly condition: unknown;
  readonly truthOf?: TruthOf | undefined;
}) {
  const t = useTexts(conditionTexts);
  const root = readCondition(condition);
  if (!root) return <pre>{JSON.stringify(condition, null, 2)}</pre>;
  const [first] = root.nodes;
  if (!first) return <>{t.always}</>;
  return (
    <ul className="condition">
      <Part node={root.nodes.length === 1 && root.kind === 'all' ? first : root} truthOf={truthOf} />
    </ul>
  );
}

function Part({ node, truthOf }: { readonly node: ConditionNode; readonly truthOf: TruthOf | undefined }) {
  const t = useTexts(conditionTexts);
  const truth = truthOf?.(writeNode(node));
  return (
    <li>
      {truth && (
        <span className={`truth ${truth}`}>
          <span aria-hidden="true">{marks[truth]} </span>
          {t.truths[truth]}
        </span>
      )}{' '}
      {node.kind === 'comparison' ? (
        <ComparisonText node={node} />
      ) : (
        <>
          {t.groups[node.kind]}
          {t.colon}
          <ul className="condition">
            {node.nodes.map((inner, index) => (
              <Part key={index} node={inner} truthOf={truthOf} />
            ))}
          </ul>
        </>
      )}
    </li>
  );
}

const marks: Readonly<Record<Truth, string>> = { true: '✓', false: '✗', unknown: '?' };

function ComparisonText({ node }: { readonly node: Comparison }) {
  const t = useTexts(conditionTexts);
  const values = node.type === 'list' ? node.text.split('\n') : [valueText(node, t)];
  return (
    <>
      <code>{node.path}</code> {t.operators[node.operator]}{' '}
      {values.map((value, index) => (
        <span key={index}>
          {index > 0 && ', '}
          <code>
            <bdi>{value}</bdi>
          </code>
        </span>
      ))}
    </>
  );
}

function valueText({ type, text }: Comparison, t: (typeof conditionTexts)['en']): string {
  if (type === 'null') return t.nothing;
  if (type === 'boolean') return text === 'true' ? t.yes : t.no;
  return type === 'text' ? JSON.stringify(text) : text;
}
