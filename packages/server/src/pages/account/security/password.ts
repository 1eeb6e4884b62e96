import { DoorwardError } from '../../../errors.ts';
import { html } from '../../../html/html.ts';
import type { Language } from '../../../languages.ts';
import { passwordField, passwordRule, showPasswordScript } from '../../sign-in/methods/form-parts.ts';
import { accountForm, FieldProblem, pathOf, problemOf, type AccountPage } from '../account-page.ts';

interface Texts {
  readonly about: string;
  readonly current: string;
  readonly next: string;
  readonly submit: string;
  readonly wrong: string;
  readonly without: string;
  readonly withoutText: string;
  readonly mail: string;
}

const texts: Record<Language, Texts> = {
  en: {
    about: 'A new password ends all other sessions.',
    current: 'Current password',
    next: 'New password',
    submit: 'Change the password',
    wrong: 'This is not your password, or there were too many wrong ones.',
    without: 'No password yet, or forgotten?',
    withoutText: 'Set one with a code that we mail to you. It ends all your sessions, and you sign in again.',
    mail: 'Set a password by mail',
  },
  de: {
    about: 'Ein neues Passwort beendet alle anderen Sitzungen.',
    current: 'Jetziges Passwort',
    next: 'Neues Passwort',
    submit: 'Passwort ändern',
    wrong: 'Das ist nicht Ihr Passwort, oder es gab zu viele falsche.',
    without: 'Noch kein Passwort, oder vergessen?',
    withoutText:
      'Setzen Sie eines mit einem Code, den wir Ihnen mailen. Das beendet alle Ihre Sitzungen, und Sie melden sich neu an.',
    mail: 'Passwort per Mail setzen',
  },
  es: {
    about: 'Una contraseña nueva cierra todas las demás sesiones.',
    current: 'Contraseña actual',
    next: 'Contraseña nueva',
    submit: 'Cambiar la contraseña',
    wrong: 'Esta no es su contraseña, o hubo demasiadas incorrectas.',
    without: '¿Aún sin contraseña, o la olvidó?',
    withoutText:
      'Establezca una con un código que le enviamos por correo. Se cierran todas sus sesiones y vuelve a iniciar sesión.',
    mail: 'Establecer una contraseña por correo',
  },
  fr: {
    about: 'Un nouveau mot de passe met fin à toutes les autres sessions.',
    current: 'Mot de passe actuel',
    next: 'Nouveau mot de passe',
    submit: 'Changer le mot de passe',
    wrong: 'Ce n’est pas votre mot de passe, ou il y en a eu trop de faux.',
    without: 'Pas encore de mot de passe, ou oublié ?',
    withoutText:
      'Définissez-en un avec un code que nous vous envoyons. Cela met fin à toutes vos sessions, et vous vous reconnectez.',
    mail: 'Définir un mot de passe par e-mail',
  },
};

const section = 'password';

/** Lets users change their password, or leads to the sign-in pages, which set a first password after a mailed code. */
export const passwordPage: AccountPage = {
  section,
  script: showPasswordScript,
  lengths: { newPassword: 128, currentPassword: 128 },
  async body(view) {
    const { language, passwordMinLength, caller, addresses } = view;
    const words = texts[language];
    const { user } = (await caller.call('me', {})) as { readonly user: { readonly email: string | null } };
    const reset = addresses.signInAddress(pathOf(section), {
      action: 'reset',
      ...(user.email !== null && { login_hint: user.email }),
    });
    const fields = html`${passwordField(language, {
      name: 'currentPassword',
      label: words.current,
      autocomplete: 'current-password',
      problem: problemOf(view, 'change', 'currentPassword'),
    })}
    ${passwordField(language, {
      name: 'newPassword',
      label: words.next,
      autocomplete: 'new-password',
      minLength: passwordMinLength,
      hint: passwordRule(language, passwordMinLength),
      problem: problemOf(view, 'change', 'newPassword'),
    })}`;
    return html`<p>${words.about}</p>
      ${accountForm(view, { name: 'change', section, button: words.submit, fields })}
      <h2>${words.without}</h2>
      <p>${words.withoutText}</p>
      <a class="button plain" href="${reset}">${words.mail}</a>`;
  },
  forms: {
    async change({ currentPassword = '', newPassword = '' }, { caller, language }) {
      try {
        await caller.call('changeMyPassword', { currentPassword, newPassword });
      } catch (error) {
        const isWrong = error instanceof DoorwardError && error.code === 'UNAUTHENTICATED';
        throw isWrong ? new FieldProblem('currentPassword', texts[language].wrong) : error;
      }
      return 'saved';
    },
  },
};
