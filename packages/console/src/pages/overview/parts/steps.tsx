import { Link } from '@tanstack/react-router';
import { useTexts, type Texts } from '../../../i18n/language.ts';
import type { Scope } from '../../../scopes/scope.ts';

interface Step {
  /** The page on which the user does this step. */
  readonly page: string;
  readonly name: string;
  readonly about: string;
  readonly isDone: boolean;
}

const texts: Texts<{ readonly title: string; readonly done: string; readonly open: string }> = {
  en: { title: 'First steps', done: 'Done', open: 'Open' },
  de: { title: 'Erste Schritte', done: 'Erledigt', open: 'Offen' },
  es: { title: 'Primeros pasos', done: 'Hecho', open: 'Pendiente' },
  fr: { title: 'Premiers pas', done: 'Fait', open: 'À faire' },
};

/** Lists the first steps in a new scope, in order. Shows nothing once all of them are done. */
export function Steps({ scope, steps }: { readonly scope: Scope; readonly steps: readonly Step[] }) {
  const t = useTexts(texts);
  if (steps.every(({ isDone }) => isDone)) return null;
  return (
    <section>
      <h2>{t.title}</h2>
      <ol className="steps">
        {steps.map(({ page, name, about, isDone }) => (
          <li key={name}>
            <strong>
              {isDone ? (
                name
              ) : (
                <Link to="/$tenant/$id/$page" params={{ ...scope, page }}>
                  {name}
                </Link>
              )}
            </strong>{' '}
            <small className={isDone ? 'gain' : ''}>{isDone ? `✓ ${t.done}` : t.open}</small>
            <p className="hint">{about}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}
