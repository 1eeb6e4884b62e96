import '../../styles/why.css';
import { useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTexts } from '../../i18n/language.ts';
import { useRights, useScope } from '../../scopes/use-scope.ts';
import { Failure, Forbidden } from '../../scopes/failure.tsx';
import { Empty, Skeleton } from '../../ui/states.tsx';
import { Answer } from './answer.tsx';
import { parseAttributes, type Question, type Attributes } from './question.ts';
import { WhyForm } from './why-form.tsx';
import { whyTexts } from './why-texts.ts';

/**
 * Shows whether a user may do something here, and why. User and permission are in the URL, so that a question can be
 * shared. The attributes of the resource are not, because they are data of the customer's own product.
 */
export default function WhyPage() {
  const t = useTexts(whyTexts);
  const scope = useScope();
  const rights = useRights(scope);
  const navigate = useNavigate();
  const { user, resource = '', action = '' } = useSearch({ strict: false });
  const question: Question = { user: user ?? null, resource, action };
  const queries = useQueryClient();
  // The key under which the attributes are cached, so that a user who returns after a change needn't type them again.
  const attributesKey = (of: Question) => ['why', 'attributes', scope, of];
  const [context, setContext] = useState(() => queries.getQueryData<string>(attributesKey(question)) ?? '');
  const [thing, setThing] = useState<Attributes | null>(() => parseAttributes(context) ?? null);
  const [round, setRound] = useState(0);
  const [draft, setDraft] = useState(question);
  const ask = (next: Question): void => {
    setDraft(next);
    setRound((before) => before + 1);
    void navigate({
      to: '.',
      search: {
        ...(next.user === null ? {} : { user: next.user }),
        resource: next.resource,
        action: next.action,
      },
      replace: true,
    });
  };

  if (rights.isLoading) return <Skeleton />;
  if (rights.error) return <Failure error={rights.error} onRetry={rights.readAgain} />;
  if (!rights.can('Authorization:Explain')) return <Forbidden permission="Authorization:Explain" />;
  return (
    <>
      <header className="page-head">
        <div>
          <h1>{t.title}</h1>
          <p>{t.about}</p>
        </div>
      </header>
      <WhyForm
        question={draft}
        context={context}
        onChange={setDraft}
        onContext={setContext}
        onAsk={(next, asked) => {
          setThing(asked);
          queries.setQueryData(attributesKey(next), context);
          ask(next);
        }}
      />
      {resource && action ? (
        <Answer
          question={question}
          thing={thing}
          round={round}
          onAsk={(part) => ask({ ...question, ...part })}
        />
      ) : (
        <Empty title={t.start} />
      )}
    </>
  );
}
