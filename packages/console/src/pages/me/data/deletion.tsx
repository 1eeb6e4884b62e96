import { useState, type FormEvent } from 'react';
import type { Api, components } from '@doorward/node/client';
import { useRequest } from '../../../api/use-api.ts';
import { common } from '../../../i18n/common.ts';
import { useTexts } from '../../../i18n/language.ts';
import { signOut } from '../../../session/session.ts';
import { Dialog } from '../../../ui/dialogs/dialog.tsx';
import { ErrorBox } from '../../../session/error-box.tsx';
import { Field } from '../../../ui/field.tsx';
import { dataTexts } from './data-texts.ts';

/** Deletes the user after they have typed their email address. */
export function Deletion({
  user,
  onClose,
}: {
  readonly user: components['schemas']['User'];
  readonly onClose: () => void;
}) {
  const t = useTexts(dataTexts);
  const c = useTexts(common);
  const [text, setText] = useState('');
  const [isAtOnce, setAtOnce] = useState(false);
  const [isWrong, setWrong] = useState(false);
  // A question instead of a change: afterwards the user no longer exists, so nothing can be read again.
  const erase = useRequest((api: Api, hardDelete: boolean) => api.deleteMe({ hardDelete }));
  const expected = user.email ?? user.name;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const isRight = text.trim().toLowerCase() === expected.toLowerCase();
    setWrong(!isRight);
    if (isRight) erase.mutate(isAtOnce, { onSuccess: () => void signOut() });
  };
  return (
    <Dialog title={t.deletion} onClose={onClose}>
      <ul>
        {t.consequences.map((consequence) => (
          <li key={consequence}>{consequence}</li>
        ))}
      </ul>
      <form onSubmit={submit}>
        <label className="switch">
          <input type="checkbox" checked={isAtOnce} onChange={(event) => setAtOnce(event.target.checked)} />
          <span>
            {t.atOnce}
            <small className="hint">{t.atOnceHint}</small>
          </span>
        </label>
        <Field
          label={user.email === null ? t.typeName(user.name) : t.typeEmail(user.email)}
          problem={isWrong ? t.wrongText : undefined}
        >
          {(attributes) => (
            <input
              {...attributes}
              autoComplete="off"
              spellCheck={false}
              required
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
        {erase.error && <ErrorBox error={erase.error} />}
        <div className="buttons">
          <button type="submit" className="bad" disabled={erase.isPending}>
            {t.erase}
          </button>
          <button type="button" onClick={onClose}>
            {c.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
