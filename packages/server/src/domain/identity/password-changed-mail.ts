import { composeMail } from '../../events/mail/mail-layout.ts';
import type { Mail } from '../../kernel/ports.ts';
import type { UserRow } from './sign-in.ts';

type Language = NonNullable<UserRow['locale']>;

const texts: Record<Language, { subject: string; lines: readonly string[]; small: string }> = {
  en: {
    subject: 'Your password was changed',
    lines: [
      'The password of your Doorward account was changed.',
      'Devices that were signed in before have to sign in again with the new password.',
    ],
    small: 'If it was not you, reset the password at once with “Forgot password” on the sign-in page.',
  },
  de: {
    subject: 'Ihr Passwort wurde geändert',
    lines: [
      'Das Passwort Ihres Kontos bei Doorward wurde geändert.',
      'Geräte, die vorher angemeldet waren, müssen sich mit dem neuen Passwort wieder anmelden.',
    ],
    small:
      'Wenn Sie es nicht waren, setzen Sie das Passwort sofort mit „Passwort vergessen“ auf der Anmeldeseite zurück.',
  },
  es: {
    subject: 'Su contraseña ha cambiado',
    lines: [
      'Se ha cambiado la contraseña de su cuenta de Doorward.',
      'Los dispositivos que tenían la sesión abierta deben iniciarla de nuevo con la contraseña nueva.',
    ],
    small:
      'Si no ha sido usted, restablezca la contraseña de inmediato con «He olvidado mi contraseña» en la página de inicio de sesión.',
  },
  fr: {
    subject: 'Votre mot de passe a été modifié',
    lines: [
      'Le mot de passe de votre compte Doorward a été modifié.',
      'Les appareils qui étaient connectés doivent se reconnecter avec le nouveau mot de passe.',
    ],
    small:
      "Si ce n'était pas vous, réinitialisez tout de suite le mot de passe avec « Mot de passe oublié » sur la page de connexion.",
  },
};

/** Contains no link: a security warning must not train users to click. */
export function passwordChangedMail(to: string, language: Language): Mail {
  const { subject, lines, small } = texts[language];
  return composeMail({ to, language, subject, paragraphs: lines, footnotes: [small] });
}
