import type { Config } from '../../config/config.ts';
import { composeMail, withoutLinks } from '../../events/mail/mail-layout.ts';
import type { Mail } from '../../kernel/ports.ts';
import type { Language } from '../../languages.ts';

interface Texts {
  readonly subject: string;
  readonly lines: readonly string[];
  readonly button: string;
  readonly small: readonly string[];
}

const hoursIn: Record<Language, (hours: number) => string> = {
  en: (hours) => (hours === 1 ? '1 hour' : `${hours} hours`),
  de: (hours) => (hours === 1 ? '1 Stunde' : `${hours} Stunden`),
  es: (hours) => (hours === 1 ? '1 hora' : `${hours} horas`),
  fr: (hours) => (hours === 1 ? '1 heure' : `${hours} heures`),
};

const verification: Record<Language, (hours: string) => Texts> = {
  en: (hours) => ({
    subject: 'Verify your e-mail address',
    lines: ['Welcome to Doorward.', 'Please confirm that this e-mail address is yours.'],
    button: 'Verify e-mail address',
    small: [
      `The link works once and expires in ${hours}.`,
      'If you did not register, ignore this e-mail: the address is not verified without the link.',
    ],
  }),
  de: (hours) => ({
    subject: 'Bestätigen Sie Ihre E-Mail-Adresse',
    lines: ['Willkommen bei Doorward.', 'Bitte bestätigen Sie, dass diese E-Mail-Adresse Ihnen gehört.'],
    button: 'E-Mail-Adresse bestätigen',
    small: [
      `Der Link gilt einmal und ${hours} lang.`,
      'Wenn Sie sich nicht registriert haben, ignorieren Sie diese E-Mail: Ohne den Link wird die Adresse nicht bestätigt.',
    ],
  }),
  es: (hours) => ({
    subject: 'Verifique su dirección de correo',
    lines: ['Le damos la bienvenida a Doorward.', 'Confirme que esta dirección de correo es suya.'],
    button: 'Verificar la dirección',
    small: [
      `El enlace sirve una sola vez y caduca en ${hours}.`,
      'Si no se ha registrado, ignore este mensaje: sin el enlace, la dirección no se verifica.',
    ],
  }),
  fr: (hours) => ({
    subject: 'Vérifiez votre adresse e-mail',
    lines: ['Bienvenue chez Doorward.', 'Veuillez confirmer que cette adresse e-mail est la vôtre.'],
    button: 'Vérifier l’adresse e-mail',
    small: [
      `Le lien fonctionne une seule fois et expire dans ${hours}.`,
      'Si vous ne vous êtes pas inscrit, ignorez cet e-mail : sans le lien, l’adresse n’est pas vérifiée.',
    ],
  }),
};

/** The mail for an address that a user adds to their account. It names the user. */
const added: Record<Language, (hours: string, user: string) => Texts> = {
  en: (hours, user) => ({
    subject: 'Is this e-mail address yours?',
    lines: [
      `The Doorward user ${user} wants to add this e-mail address to their account and to sign in with it.`,
      'Confirm only if you are this user: from then on, the address belongs to their account.',
    ],
    button: 'Add my address to this account',
    small: [
      `The link works once and expires in ${hours}.`,
      'If you are not this user, ignore this e-mail: the address is not added without the link.',
    ],
  }),
  de: (hours, user) => ({
    subject: 'Gehört diese E-Mail-Adresse Ihnen?',
    lines: [
      `Der Doorward-Benutzer ${user} möchte diese E-Mail-Adresse zum eigenen Konto hinzufügen und sich damit anmelden.`,
      'Bestätigen Sie das nur, wenn Sie dieser Benutzer sind: Die Adresse gehört danach zu diesem Konto.',
    ],
    button: 'Meine Adresse zu diesem Konto hinzufügen',
    small: [
      `Der Link gilt einmal und ${hours} lang.`,
      'Wenn Sie nicht dieser Benutzer sind, ignorieren Sie diese E-Mail: Ohne den Link wird die Adresse nicht hinzugefügt.',
    ],
  }),
  es: (hours, user) => ({
    subject: '¿Es suya esta dirección de correo?',
    lines: [
      `El usuario de Doorward ${user} quiere añadir esta dirección de correo a su cuenta e iniciar sesión con ella.`,
      'Confírmelo solo si usted es este usuario: a partir de entonces, la dirección pertenecerá a esa cuenta.',
    ],
    button: 'Añadir mi dirección a esta cuenta',
    small: [
      `El enlace sirve una sola vez y caduca en ${hours}.`,
      'Si usted no es este usuario, ignore este mensaje: sin el enlace, la dirección no se añade.',
    ],
  }),
  fr: (hours, user) => ({
    subject: 'Cette adresse e-mail est-elle la vôtre ?',
    lines: [
      `L’utilisateur Doorward ${user} souhaite ajouter cette adresse e-mail à son compte et se connecter avec elle.`,
      'Ne confirmez que si vous êtes cet utilisateur : l’adresse appartiendra ensuite à ce compte.',
    ],
    button: 'Ajouter mon adresse à ce compte',
    small: [
      `Le lien fonctionne une seule fois et expire dans ${hours}.`,
      'Si vous n’êtes pas cet utilisateur, ignorez cet e-mail : sans le lien, l’adresse n’est pas ajoutée.',
    ],
  }),
};

const taken: Record<Language, Omit<Texts, 'button'>> = {
  en: {
    subject: 'You already have an account',
    lines: [
      'We received a registration on Doorward with this e-mail address, but you already have an account.',
      'Sign in to your account. If you do not know the password, reset it.',
    ],
    small: ['If you did not try to register, ignore this e-mail: nothing has changed.'],
  },
  de: {
    subject: 'Sie haben bereits ein Konto',
    lines: [
      'Wir haben eine Registrierung bei Doorward mit dieser E-Mail-Adresse erhalten, aber Sie haben bereits ein Konto.',
      'Melden Sie sich mit Ihrem Konto an. Wenn Sie das Passwort nicht kennen, setzen Sie es zurück.',
    ],
    small: [
      'Wenn Sie sich nicht registrieren wollten, ignorieren Sie diese E-Mail: Es hat sich nichts geändert.',
    ],
  },
  es: {
    subject: 'Ya tiene una cuenta',
    lines: [
      'Hemos recibido un registro en Doorward con esta dirección de correo, pero usted ya tiene una cuenta.',
      'Inicie sesión en su cuenta. Si no sabe la contraseña, restablézcala.',
    ],
    small: ['Si no ha intentado registrarse, ignore este mensaje: nada ha cambiado.'],
  },
  fr: {
    subject: 'Vous avez déjà un compte',
    lines: [
      'Nous avons reçu une inscription à Doorward avec cette adresse e-mail, mais vous avez déjà un compte.',
      'Connectez-vous à votre compte. Si vous ne connaissez pas le mot de passe, réinitialisez-le.',
    ],
    small: ['Si vous n’avez pas essayé de vous inscrire, ignorez cet e-mail : rien n’a changé.'],
  },
};

const owned: typeof taken = {
  en: {
    subject: 'Your e-mail address was entered for another account',
    lines: [
      'Another Doorward user tried to add this e-mail address to their account. The address still belongs to your account.',
    ],
    small: ['Nothing has changed. You do not need to do anything.'],
  },
  de: {
    subject: 'Ihre E-Mail-Adresse wurde für ein anderes Konto eingetragen',
    lines: [
      'Ein anderer Doorward-Benutzer wollte diese E-Mail-Adresse zu seinem Konto hinzufügen. Die Adresse gehört weiterhin zu Ihrem Konto.',
    ],
    small: ['Es hat sich nichts geändert. Sie müssen nichts tun.'],
  },
  es: {
    subject: 'Su dirección de correo se ha indicado en otra cuenta',
    lines: [
      'Otro usuario de Doorward ha intentado añadir esta dirección de correo a su cuenta. La dirección sigue perteneciendo a la cuenta de usted.',
    ],
    small: ['Nada ha cambiado. No tiene que hacer nada.'],
  },
  fr: {
    subject: 'Votre adresse e-mail a été saisie pour un autre compte',
    lines: [
      'Un autre utilisateur de Doorward a essayé d’ajouter cette adresse e-mail à son compte. L’adresse appartient toujours à votre compte.',
    ],
    small: ['Rien n’a changé. Vous n’avez rien à faire.'],
  },
};

/**
 * The link opens the frontend, or without a frontend the hosted page of this service. Its fragment names the account
 * that the address would join, so that the page can ask about it in any browser. Browsers send fragments to no server.
 */
const verificationLink = ({ appUrl, security }: Config, token: string, account: string | null): string => {
  const page =
    security.frontendUrl === undefined
      ? `${appUrl}/hosted/verify-email`
      : `${security.frontendUrl}/auth/verify-email`;
  return `${page}?token=${token}${account === null ? '' : `#account=${encodeURIComponent(account)}`}`;
};

/**
 * The mail with the link to verify an address. The owner of the address is not verified yet, so the mail contains no
 * text that a user chose: a name such as "You won, see evil.example" must not be sent under our sender address.
 * `addedBy`: the verified address of the user who adds the address; null for a registration.
 */
export function verificationMail(
  config: Config,
  to: string,
  language: Language,
  token: string,
  addedBy: string | null,
): Mail {
  const hours = hoursIn[language](config.auth.verificationTokenHours);
  const { subject, lines, button, small } =
    addedBy === null ? verification[language](hours) : added[language](hours, withoutLinks(addedBy));
  return composeMail({
    to,
    language,
    subject,
    paragraphs: lines,
    action: { label: button, url: verificationLink(config, token, addedBy) },
    footnotes: small,
  });
}

/**
 * Notifies the owner of an address that a registration used it. The API does not reveal to the caller that the address
 * exists.
 */
export function addressTakenMail(to: string, language: Language): Mail {
  const { subject, lines, small } = taken[language];
  return composeMail({ to, language, subject, paragraphs: lines, footnotes: small });
}

/**
 * Notifies the owner of an address that another user tried to add it. That user does not learn that the address exists.
 */
export function addressOwnedMail(to: string, language: Language): Mail {
  const { subject, lines, small } = owned[language];
  return composeMail({ to, language, subject, paragraphs: lines, footnotes: small });
}
