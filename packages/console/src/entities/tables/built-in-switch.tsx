import { useNavigate } from '@tanstack/react-router';
import { useTexts, type Texts } from '../../i18n/language.ts';

const texts: Texts<string> = {
  en: 'Show the built-in ones too',
  de: 'Auch eingebaute zeigen',
  es: 'Mostrar también los integrados',
  fr: 'Montrer aussi ce qui est intégré',
};

/** Shows the built-in rows of a list if it is on. They are many and never change, so they are hidden by default. */
export function BuiltInSwitch({ isOn }: { readonly isOn: boolean }) {
  const t = useTexts(texts);
  const navigate = useNavigate();
  return (
    <label className="switch">
      <input
        type="checkbox"
        checked={isOn}
        onChange={() =>
          void navigate({
            to: '.',
            search: (before) => ({ ...before, builtIn: isOn ? undefined : 'yes' }),
            replace: true,
          })
        }
      />
      <span>{t}</span>
    </label>
  );
}
