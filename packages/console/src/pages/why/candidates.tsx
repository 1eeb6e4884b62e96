import { conditionTexts } from '../../entities/conditions/condition-texts.ts';
import { ConditionTree } from '../../entities/conditions/condition-tree.tsx';
import { operators } from '../../entities/conditions/condition-model.ts';
import { useTexts } from '../../i18n/language.ts';
import { useScope } from '../../scopes/use-scope.ts';
import { truthOfCandidate } from './attributes.ts';
import type { Candidate, Explanation, Attributes } from './question.ts';
import { RowLink } from './row-link.tsx';
import type { ExplainedRows } from './rows.ts';
import { whyTexts } from './why-texts.ts';

/** Lists the paths from a role to a matching permission, and whether each path allows the action. */
export function Candidates({
  explanation,
  rows,
  thing,
}: {
  readonly explanation: Explanation;
  readonly rows: ExplainedRows;
  readonly thing: Attributes | null;
}) {
  const t = useTexts(whyTexts);
  const scope = useScope();
  if (explanation.candidates.length === 0) return null;
  return (
    <section>
      <h2>{t.paths}</h2>
      <p className="hint">{t.pathsHint}</p>
      <ul className="candidates">
        {explanation.candidates.map((candidate) => {
          const { roleId, groupId, permissionId, result, failedAt } = candidate;
          const role = rows.roles.get(roleId);
          const group = rows.groups.get(groupId);
          const permission = rows.permissions.get(permissionId);
          const roleName = role?.name ?? explanation.roles.find(({ id }) => id === roleId)?.name ?? roleId;
          const truthOf = truthOfCandidate(candidate, rows, scope, thing);
          return (
            <li key={`${roleId} ${groupId} ${permissionId}`} className="box">
              <ol className="path">
                <li>
                  <small>{t.role}</small>{' '}
                  <RowLink scope={role?.scope} page="roles" id={roleId}>
                    {roleName}
                  </RowLink>
                </li>
                <li>
                  <small>{t.group}</small>{' '}
                  <RowLink scope={group?.scope} page="groups" id={groupId}>
                    {group?.name ?? groupId}
                  </RowLink>
                </li>
                <li>
                  <small>{t.permission}</small>{' '}
                  <RowLink scope={permission?.scope} page="permissions" id={permissionId}>
                    {permission?.name ?? permissionId}
                  </RowLink>
                </li>
              </ol>
              <p className={result === 'notMet' ? 'loss' : 'gain'}>
                <strong>
                  <span aria-hidden="true">{result === 'notMet' ? '✗ ' : '✓ '}</span>
                  {t.results[result]}
                </strong>
              </p>
              {permission?.condition && (
                <ConditionTree condition={permission.condition} truthOf={truthOf ?? undefined} />
              )}
              {failedAt && <FailedAt failedAt={failedAt} />}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function FailedAt({ failedAt }: { readonly failedAt: NonNullable<Candidate['failedAt']> }) {
  const t = useTexts(whyTexts);
  const c = useTexts(conditionTexts);
  const { operator: text, path } = failedAt;
  const isNegated = text.startsWith('Not ');
  const operator = operators.find((name) => name === (isNegated ? text.slice(4) : text));
  return (
    <p className="failed">
      {t.decided} {isNegated && t.not} <code>{path}</code> {operator ? c.operators[operator] : text}{' '}
      <Value value={failedAt.expected} /> – {failedAt.actual === undefined ? null : `${t.actual} `}
      <Value value={failedAt.actual} />
    </p>
  );
}

/** Shows a value as JSON, or says that it is missing. */
export function Value({ value }: { readonly value: unknown }) {
  const t = useTexts(whyTexts);
  return value === undefined ? (
    <em>{t.missing}</em>
  ) : (
    <code>
      <bdi>{JSON.stringify(value)}</bdi>
    </code>
  );
}
