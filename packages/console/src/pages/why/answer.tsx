import { useRead } from '../../api/use-api.ts';
import { conditionTexts } from '../../entities/conditions/condition-texts.ts';
import { targetOf } from '../../entities/declarations/entity.ts';
import { useTexts } from '../../i18n/language.ts';
import { useScope } from '../../scopes/use-scope.ts';
import { afterOwnChanges } from '../../session/session.ts';
import { Chip } from '../../ui/chips.tsx';
import { Failure } from '../../scopes/failure.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { Candidates } from './candidates.tsx';
import { Nearest, OpenUser } from './nearest.tsx';
import type { Decision, Question, Attributes } from './question.ts';
import { RowLink } from './row-link.tsx';
import { useExplainedRows } from './rows.ts';
import { whyTexts, type WhyTexts } from './why-texts.ts';

/** Answers the question in words, explains the decision, and shows what would change it. */
export function Answer({
  question: { user, resource, action },
  thing,
  round,
  onAsk,
}: {
  readonly question: Question;
  readonly thing: Attributes | null;
  /** Increases with each question, so that the same question can be asked again. */
  readonly round: number;
  readonly onAsk: (part: Partial<Question>) => void;
}) {
  const t = useTexts(whyTexts);
  const { colon } = useTexts(conditionTexts);
  const scope = useScope();
  const {
    data: decision,
    error,
    isPlaceholderData,
    refetch,
  } = useRead(['why', scope, user, resource, action, thing, round], (api, signal) =>
    api.isAuthorized(
      {
        ...targetOf(scope),
        ...afterOwnChanges(),
        permission: { resource, action },
        explain: true,
        ...(user === null ? {} : { subject: { userId: user } }),
        ...(thing ? { context: { resource: thing } } : {}),
      },
      { signal },
    ),
  );
  const isOld = isPlaceholderData;
  const explanation = isOld ? undefined : decision?.explanation;
  const { data: rows, isPlaceholderData: areOldRows } = useExplainedRows(scope, explanation);

  if (error)
    return (
      <Failure
        error={error}
        permission={user === null ? 'Authorization:Explain' : 'Authorization:Check'}
        onRetry={() => refetch()}
      />
    );
  if (!decision || isOld) return <Skeleton />;
  const name = user === null ? null : ((areOldRows ? null : rows?.user?.name) ?? user);
  return (
    <div aria-live="polite" className="answer">
      <div className={decision.authorized ? 'verdict yes' : 'verdict no'}>
        <h2>
          <strong>{decision.authorized ? t.yes : t.no}</strong> <bdi>{sentence(decision, name, t)}</bdi>{' '}
          <code>
            {resource}:{action}
          </code>
        </h2>
        <p>{t.reasons[decision.reason]}</p>
        {explanation?.unknown && (
          <Unknown unknown={explanation.unknown} asked={{ resource, action }} onAsk={onAsk} />
        )}
      </div>
      {explanation && decision.reason !== 'SUBJECT_INACTIVE' && (
        <p>
          {explanation.roles.length === 0 ? t.noRoles : `${t.roles}${colon} `}
          {explanation.roles.map(({ id, name }) => (
            <Chip key={id}>
              <RowLink scope={rows?.roles.get(id)?.scope} page="roles" id={id}>
                {name}
              </RowLink>
            </Chip>
          ))}
        </p>
      )}
      {explanation && rows && !areOldRows && (
        <>
          <Candidates explanation={explanation} rows={rows} thing={thing} />
          <Nearest explanation={explanation} rows={rows} />
          {!decision.authorized &&
            explanation.nearest.length === 0 &&
            explanation.subject.type === 'user' && (
              <p>
                <OpenUser rows={rows} userId={explanation.subject.id} />
              </p>
            )}
        </>
      )}
    </div>
  );
}

function sentence({ authorized }: Decision, name: string | null, t: WhyTexts): string {
  if (name === null) return authorized ? t.iMay : t.iMayNot;
  return authorized ? t.may(name) : t.mayNot(name);
}

/** Says that the resource or action doesn't exist, and offers to ask about the most similar name. */
function Unknown({
  unknown: { part, nearest },
  asked,
  onAsk,
}: {
  readonly unknown: { readonly part: 'resource' | 'action'; readonly nearest?: string };
  readonly asked: { readonly resource: string; readonly action: string };
  readonly onAsk: (part: Partial<Question>) => void;
}) {
  const t = useTexts(whyTexts);
  return (
    <p>
      {part === 'resource' ? t.noResource(asked.resource) : t.noAction(asked.action)}{' '}
      {nearest !== undefined && (
        <>
          {t.askInstead}{' '}
          <button type="button" onClick={() => onAsk({ [part]: nearest })}>
            <code>{nearest}</code>
          </button>
        </>
      )}
    </p>
  );
}
