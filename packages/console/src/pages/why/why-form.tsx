import { useState, type FormEvent } from 'react';
import { targetOf } from '../../entities/declarations/entity.ts';
import type { ChoiceSource } from '../../entities/declarations/form-field.ts';
import { formTexts } from '../../entities/declarations/form-texts.ts';
import { RowChoice } from '../../entities/controls/row-choice.tsx';
import { useTexts } from '../../i18n/language.ts';
import { useMe } from '../../scopes/use-scopes.ts';
import { useRights, useScope } from '../../scopes/use-scope.ts';
import { Field } from '../../ui/field.tsx';
import { PermissionFields } from './permission-fields.tsx';
import { parseAttributes, type Question, type Attributes } from './question.ts';
import { whyTexts } from './why-texts.ts';

/** Asks for a user, a permission and, if conditions need them, the attributes of a resource. */
export function WhyForm({
  question,
  context,
  onChange,
  onContext,
  onAsk,
}: {
  readonly question: Question;
  readonly context: string;
  readonly onChange: (question: Question) => void;
  readonly onContext: (text: string) => void;
  readonly onAsk: (question: Question, thing: Attributes | null) => void;
}) {
  const t = useTexts(whyTexts);
  const f = useTexts(formTexts);
  const scope = useScope();
  const rights = useRights(scope);
  const { data: me } = useMe();
  const [start] = useState(question);
  const [problems, setProblems] = useState<{ readonly [part in 'resource' | 'action' | 'context']?: string }>(
    {},
  );
  const mayAskForOthers = rights.can('Authorization:Check') && rights.can('User:Query');

  function submit(event: FormEvent): void {
    event.preventDefault();
    const asked = { ...question, resource: question.resource.trim(), action: question.action.trim() };
    const thing = parseAttributes(context);
    const found = {
      ...(asked.resource ? {} : { resource: f.required }),
      ...(asked.action ? {} : { action: f.required }),
      ...(thing === undefined ? { context: t.noObject } : {}),
    };
    setProblems(found);
    if (Object.keys(found).length === 0) onAsk(asked, thing ?? null);
  }

  /** Lists the current user first, then the user in the URL, then the others. */
  const subjects: ChoiceSource = async (api, input) => {
    const { items } = await api.users({ ...input, limit: 50 });
    const others = items.filter(({ id }) => id !== me?.user.id).map(({ id, name }) => ({ id, name }));
    const isNamed =
      start.user === null || input.search !== undefined || others.some(({ id }) => id === start.user);
    const named = isNamed
      ? []
      : await api.users({ ...targetOf(scope), ids: [start.user] }).then(
          (page) => page.items,
          () => [],
        );
    return [
      { id: '', name: t.me(me?.user.name ?? '') },
      ...named.map(({ id, name }) => ({ id, name })),
      ...others,
    ];
  };

  return (
    <form className="why-form" onSubmit={submit} noValidate>
      {mayAskForOthers && me && (
        <RowChoice
          field={{
            kind: 'row',
            name: 'user',
            label: t.who,
            hint: t.whoHint,
            noun: 'Subject',
            source: subjects,
            isRequired: true,
            initial: '',
          }}
          value={question.user ?? ''}
          problem={undefined}
          onChange={(user) => onChange({ ...question, user: user === '' ? null : (user as string) })}
        />
      )}
      <PermissionFields
        permission={question}
        problems={problems}
        onChange={(permission) => onChange({ ...question, ...permission })}
      />
      <Field label={t.context} hint={t.contextHint} problem={problems.context}>
        {(attributes) => (
          <textarea
            {...attributes}
            className="code"
            rows={3}
            spellCheck={false}
            value={context}
            onChange={(event) => onContext(event.target.value)}
          />
        )}
      </Field>
      <button type="submit" className="main">
        {t.ask}
      </button>
    </form>
  );
}
