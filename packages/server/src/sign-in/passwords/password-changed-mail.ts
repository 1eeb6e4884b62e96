import { composeMail, withoutLinks } from '../../events/mail/mail-layout.ts';
import type { Mail } from '../../kernel/ports.ts';
import type { UserRow } from '../../schema/people/user.ts';

type Language = NonNullable<UserRow['locale']>;

/** Other sign-in methods of a user who has just reset the password. */
export interface RemainingSignIns {
  /** Verified addresses, and addresses of accounts at providers, except the address that was proved. */
  readonly addresses: readonly string[];
  readonly passkeys: number;
}

interface Texts {
  readonly subject: string;
  readonly lines: readonly string[];
  /** A sentence about the other sign-in methods, which replace `{list}`. */
  readonly remaining: string;
  readonly passkeys: (number: number) => string;
  readonly small: string;
}

const texts: Record<Language, Texts> = {
  en: {
    subject: 'Your password was changed',
    lines: [
      'The password of your Doorward account was changed.',
      'Devices that were signed in before have to sign in again with the new password.',
    ],
    remaining: 'These still work for signing in to the account: {list}. Remove any that are not yours.',
    passkeys: (number) => (number === 1 ? '1 passkey' : `${number} passkeys`),
    small: 'If it was not you, reset the password at once with “Forgot password” on the sign-in page.',
  },
  de: {
    subject: 'Ihr Passwort wurde geändert',
    lines: [
      'Das Passwort Ihres Kontos bei Doorward wurde geändert.',
      'Geräte, die vorher angemeldet waren, müssen sich mit dem neuen Passwort wieder anmelden.',
    ],
    remaining: 'Weiterhin am Konto anmelden können sich: {list}. Entfernen Sie, was nicht Ihnen gehört.',
    passkeys: (number) => (number === 1 ? '1 Passkey' : `${number} Passkeys`),
    small:
      'Wenn Sie es nicht waren, setzen Sie das Passwort sofort mit „Passwort vergessen“ auf der Anmeldeseite zurück.',
  },
  es: {
    subject: 'Su contraseña ha cambiado',
    lines: [
      'Se ha cambiado la contraseña de su cuenta de Doorward.',
      'Los dispositivos que tenían la sesión abierta deben iniciarla de nuevo con la contraseña nueva.',
    ],
    remaining: 'Todavía pueden iniciar sesión en la cuenta: {list}. Elimine lo que no sea suyo.',
    passkeys: (number) => (number === 1 ? '1 llave de acceso' : `${number} llaves de acceso`),
    small:
      'Si no ha sido usted, restablezca la contraseña de inmediato con «He olvidado mi contraseña» en la página de inicio de sesión.',
  },
  fr: {
    subject: 'Votre mot de passe a été modifié',
    lines: [
      'Le mot de passe de votre compte Doorward a été modifié.',
      'Les appareils qui étaient connectés doivent se reconnecter avec le nouveau mot de passe.',
    ],
    remaining: 'Peuvent encore se connecter au compte : {list}. Supprimez ce qui n’est pas à vous.',
    passkeys: (number) => (number === 1 ? '1 clé d’accès' : `${number} clés d’accès`),
    small:
      "Si ce n'était pas vous, réinitialisez tout de suite le mot de passe avec « Mot de passe oublié » sur la page de connexion.",
  },
};

/**
 * The mail about a changed password. Contains no link: a security warning must not train users to click. After a reset
 * it lists the other sign-in methods, because the reset does not end them, and someone else may have added them.
 */
export function passwordChangedMail(to: string, language: Language, remaining?: RemainingSignIns): Mail {
  const { subject, lines, small, ...words } = texts[language];
  const list = [
    ...(remaining?.addresses ?? []).map(withoutLinks),
    ...(remaining?.passkeys ? [words.passkeys(remaining.passkeys)] : []),
  ];
  const others = list.length === 0 ? [] : [words.remaining.replace('{list}', () => list.join(', '))];
  return composeMail({ to, language, subject, paragraphs: [...lines, ...others], footnotes: [small] });
}
