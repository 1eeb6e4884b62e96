import { useState, type FormEvent } from 'react';
import { formTexts } from '../../entities/declarations/form-texts.ts';
import { useTexts } from '../../i18n/language.ts';
import { Field } from '../../ui/field.tsx';
import { PermissionFields, type PermissionPair } from '../why/permission-fields.tsx';
import { parseAttributes, type Attributes } from '../why/question.ts';
import { whyTexts } from '../why/why-texts.ts';

/** Asks for a permission and, if its conditions need them, for the attributes of a resource. */
export function WhoCanForm({
  initial,
  onAsk,
}: {
  readonly initial: PermissionPair;
  readonly onAsk: (permission: PermissionPair, thing: Attributes | null) => void;
}) {
  const t = useTexts(whyTexts);
  const f = useTexts(formTexts);
  const [permission, setPermission] = useState(initial);
  const [context, setContext] = useState('');
  const [problems, setProblems] = useState<{ readonly [part in keyof PermissionPair | 'context']?: string }>(
    {},
  );

  function submit(event: FormEvent): void {
    event.preventDefault();
    const trimmed = { resource: permission.resource.trim(), action: permission.action.trim() };
    const thing = parseAttributes(context);
    const wrong = {
      ...(trimmed.resource ? {} : { resource: f.required }),
      ...(trimmed.action ? {} : { action: f.required }),
      ...(thing === undefined ? { context: t.noObject } : {}),
    };
    setProblems(wrong);
    if (Object.keys(wrong).length === 0) onAsk(trimmed, thing ?? null);
  }

  return (
    <form className="subject-form" onSubmit={submit} noValidate>
      <PermissionFields permission={permission} problems={problems} onChange={setPermission} />
      <Field label={t.context} hint={t.contextHint} problem={problems.context}>
        {(attributes) => (
          <textarea
            {...attributes}
            className="code"
            rows={3}
            spellCheck={false}
            value={context}
            onChange={(event) => setContext(event.target.value)}
          />
        )}
      </Field>
      <button type="submit" className="main">
        {t.ask}
      </button>
    </form>
  );
}
