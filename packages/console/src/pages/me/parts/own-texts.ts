import type { Texts } from '../../../i18n/language.ts';

/** Texts that several of the user's own pages share. */
export interface OwnTexts {
  readonly email: string;
  readonly password: string;
  readonly verified: string;
  readonly unverified: string;
  readonly mailSent: string;
  readonly sendAgain: string;
  readonly lastUsed: string;
  readonly never: string;
  readonly remove: string;
}

export const ownTexts: Texts<OwnTexts> = {
  en: {
    email: 'E-mail address',
    password: 'Password',
    verified: 'verified',
    unverified: 'not verified',
    mailSent: 'A mail with a link is on its way.',
    sendAgain: 'Send the mail again',
    lastUsed: 'Last used',
    never: 'never',
    remove: 'Remove',
  },
  de: {
    email: 'E-Mail-Adresse',
    password: 'Passwort',
    verified: 'bestätigt',
    unverified: 'nicht bestätigt',
    mailSent: 'Eine Mail mit einem Link ist unterwegs.',
    sendAgain: 'Mail erneut senden',
    lastUsed: 'Zuletzt benutzt',
    never: 'nie',
    remove: 'Entfernen',
  },
  es: {
    email: 'Correo electrónico',
    password: 'Contraseña',
    verified: 'verificado',
    unverified: 'sin verificar',
    mailSent: 'Hay un correo con un enlace en camino.',
    sendAgain: 'Enviar el correo otra vez',
    lastUsed: 'Último uso',
    never: 'nunca',
    remove: 'Quitar',
  },
  fr: {
    email: 'Adresse e-mail',
    password: 'Mot de passe',
    verified: 'vérifiée',
    unverified: 'non vérifiée',
    mailSent: 'Un e-mail avec un lien est en route.',
    sendAgain: 'Renvoyer l’e-mail',
    lastUsed: 'Dernière utilisation',
    never: 'jamais',
    remove: 'Retirer',
  },
};
