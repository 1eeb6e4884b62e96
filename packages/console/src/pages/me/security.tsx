import { useTexts, type Texts } from '../../i18n/language.ts';
import { Passkeys } from './passkeys/passkeys.tsx';
import { PasswordChange } from './sign-in-methods/password-change.tsx';
import { SecondFactors } from './second-factors/second-factors.tsx';
import { SignInMethods } from './sign-in-methods/sign-in-methods.tsx';

const titles: Texts<{ readonly title: string; readonly about: string }> = {
  en: { title: 'Security', about: 'How you sign in, and what else we ask for.' },
  de: { title: 'Sicherheit', about: 'Wie Sie sich anmelden, und wonach wir sonst fragen.' },
  es: { title: 'Seguridad', about: 'Cómo inicia sesión, y qué más le pedimos.' },
  fr: { title: 'Sécurité', about: 'Comment vous vous connectez, et ce que nous demandons en plus.' },
};

const Security = () => {
  const t = useTexts(titles);
  return (
    <div className="own">
      <header className="page-head">
        <div>
          <h1>{t.title}</h1>
          <p>{t.about}</p>
        </div>
      </header>
      <SignInMethods />
      <PasswordChange />
      <Passkeys />
      <SecondFactors />
    </div>
  );
};
export default Security;
