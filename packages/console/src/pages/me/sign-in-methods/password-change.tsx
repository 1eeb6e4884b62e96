import { useState, type FormEvent } from 'react';
import { DoorwardError, type Api } from '@doorward/node/client';
import { useChange, useRead } from '../../../api/use-api.ts';
import { useTexts, type Texts } from '../../../i18n/language.ts';
import { isRefused } from '../../../session/session.ts';
import { announce } from '../../../ui/announcer.tsx';
import { ErrorBox } from '../../../session/error-box.tsx';
import { Field } from '../../../ui/field.tsx';
import { readMethods } from './sign-in-methods.tsx';

interface PasswordTexts {
  readonly title: string;
  readonly about: string;
  readonly current: string;
  readonly next: string;
  readonly again: string;
  readonly different: string;
  readonly submit: string;
  readonly done: string;
  readonly wrong: string;
}

const texts: Texts<PasswordTexts> = {
  en: {
    title: 'Password',
    about: 'A new password signs you out everywhere else.',
    current: 'Current password',
    next: 'New password',
    again: 'New password again',
    different: 'This differs from the new password.',
    submit: 'Change the password',
    done: 'The password is changed.',
    wrong: 'This is not your password.',
  },
  de: {
    title: 'Passwort',
    about: 'Ein neues Passwort meldet Sie überall sonst ab.',
    current: 'Jetziges Passwort',
    next: 'Neues Passwort',
    again: 'Neues Passwort noch einmal',
    different: 'Das weicht vom neuen Passwort ab.',
    submit: 'Passwort ändern',
    done: 'Das Passwort ist geändert.',
    wrong: 'Das ist nicht Ihr Passwort.',
  },
  es: {
    title: 'Contraseña',
    about: 'Una contraseña nueva cierra su sesión en todos los demás lugares.',
    current: 'Contraseña actual',
    next: 'Contraseña nueva',
    again: 'Repita la contraseña nueva',
    different: 'No coincide con la contraseña nueva.',
    submit: 'Cambiar la contraseña',
    done: 'La contraseña ha cambiado.',
    wrong: 'Esta no es su contraseña.',
  },
  fr: {
    title: 'Mot de passe',
    about: 'Un nouveau mot de passe vous déconnecte partout ailleurs.',
    current: 'Mot de passe actuel',
    next: 'Nouveau mot de passe',
    again: 'Nouveau mot de passe, encore une fois',
    different: 'Ceci diffère du nouveau mot de passe.',
    submit: 'Changer le mot de passe',
    done: 'Le mot de passe est changé.',
    wrong: 'Ce n’est pas votre mot de passe.',
  },
};

const empty = { currentPassword: '', newPassword: '', confirmPassword: '' };
type Passwords = typeof empty;

/** Changes the password. Hidden if the user has none: they set one when they add their first email address. */
export function PasswordChange() {
  const t = useTexts(texts);
  const [values, setValues] = useState<Passwords>(empty);
  const [isDifferent, setDifferent] = useState(false);
  const change = useChange((api: Api, input: Passwords) => api.changeMyPassword(input), { isProof: true });
  const { data: methods = [] } = useRead(['AuthenticationMethod', 'mine'], readMethods);
  if (!methods.some(({ provider }) => provider === 'email')) return null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const differs = values.newPassword !== values.confirmPassword;
    setDifferent(differs);
    if (differs) return;
    change.mutate(values, {
      onSuccess: () => {
        setValues(empty);
        announce(t.done);
      },
    });
  };
  const problems = problemsOf(change.error);
  const field = (name: keyof Passwords, label: string, autoComplete: string, problem?: string) => (
    <Field label={label} problem={problem ?? problems.get(name)}>
      {(attributes) => (
        <input
          {...attributes}
          type="password"
          autoComplete={autoComplete}
          required
          maxLength={128}
          value={values[name]}
          onChange={(event) => setValues((before) => ({ ...before, [name]: event.target.value }))}
        />
      )}
    </Field>
  );
  return (
    <section>
      <h2>{t.title}</h2>
      <p>{t.about}</p>
      <form className="narrow" onSubmit={submit}>
        {field(
          'currentPassword',
          t.current,
          'current-password',
          isRefused(change.error) ? t.wrong : undefined,
        )}
        {field('newPassword', t.next, 'new-password')}
        {field('confirmPassword', t.again, 'new-password', isDifferent ? t.different : undefined)}
        {change.error && problems.size === 0 && !isRefused(change.error) && <ErrorBox error={change.error} />}
        <button type="submit" className="main" disabled={change.isPending}>
          {t.submit}
        </button>
      </form>
    </section>
  );
}

/** Returns the messages of an error by field. */
function problemsOf(error: unknown): ReadonlyMap<string, string> {
  const details = error instanceof DoorwardError ? (error.details ?? []) : [];
  return new Map(details.map(({ path, message }) => [path, message]));
}
