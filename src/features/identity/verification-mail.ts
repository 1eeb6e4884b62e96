import type { Config } from '../../config.ts';
import { composeMail, withoutLinks } from '../../events/mail-layout.ts';
import type { Mail } from '../../kernel/ports.ts';

/**
 * The mails of a registration and of a new address. They go to an address that nobody has proved to own yet, so they
 * carry no text of whoever typed it in: a name like "You won, see evil.example" must not travel under our sender.
 */
type Language = 'en' | 'de' | 'es' | 'fr';

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
      `The link works once and for ${hours}.`,
      'If you did not ask for this, ignore this mail: without the link nothing happens.',
    ],
  }),
  de: (hours) => ({
    subject: 'Bestätigen Sie Ihre E-Mail-Adresse',
    lines: ['Willkommen bei Doorward.', 'Bitte bestätigen Sie, dass diese E-Mail-Adresse Ihnen gehört.'],
    button: 'E-Mail-Adresse bestätigen',
    small: [
      `Der Link gilt einmal und ${hours} lang.`,
      'Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail: Ohne den Link geschieht nichts.',
    ],
  }),
  es: (hours) => ({
    subject: 'Verifique su dirección de correo',
    lines: ['Le damos la bienvenida a Doorward.', 'Confirme que esta dirección de correo es suya.'],
    button: 'Verificar la dirección',
    small: [
      `El enlace sirve una sola vez y durante ${hours}.`,
      'Si no lo ha solicitado, ignore este mensaje: sin el enlace no ocurre nada.',
    ],
  }),
  fr: (hours) => ({
    subject: 'Vérifiez votre adresse e-mail',
    lines: ['Bienvenue chez Doorward.', 'Veuillez confirmer que cette adresse e-mail est la vôtre.'],
    button: "Vérifier l'adresse e-mail",
    small: [
      `Le lien fonctionne une seule fois, pendant ${hours}.`,
      "Si vous n'avez rien demandé, ignorez ce message : sans le lien, il ne se passe rien.",
    ],
  }),
};

/** For an address that is added to a user: whose it would be is the first thing to know. */
const added: Record<Language, (hours: string, user: string) => Texts> = {
  en: (hours, user) => ({
    subject: 'Is this e-mail address yours?',
    lines: [
      `The user of Doorward with the address ${user} wants to sign in with this e-mail address, too.`,
      'Confirm it only if that is you: from then on, this address belongs to that user.',
    ],
    button: 'Add my address to that user',
    small: [
      `The link works once and for ${hours}.`,
      'If it is not you, ignore this mail: without the link nothing happens.',
    ],
  }),
  de: (hours, user) => ({
    subject: 'Gehört diese E-Mail-Adresse Ihnen?',
    lines: [
      `Der Benutzer von Doorward mit der Adresse ${user} möchte sich auch mit dieser E-Mail-Adresse anmelden.`,
      'Bestätigen Sie das nur, wenn Sie das sind: Die Adresse gehört danach zu diesem Benutzer.',
    ],
    button: 'Meine Adresse zu diesem Benutzer hinzufügen',
    small: [
      `Der Link gilt einmal und ${hours} lang.`,
      'Wenn Sie es nicht sind, ignorieren Sie diese E-Mail: Ohne den Link geschieht nichts.',
    ],
  }),
  es: (hours, user) => ({
    subject: '¿Es suya esta dirección de correo?',
    lines: [
      `El usuario de Doorward con la dirección ${user} quiere iniciar sesión también con esta dirección de correo.`,
      'Confírmelo solo si es usted: a partir de entonces, la dirección pertenecerá a ese usuario.',
    ],
    button: 'Añadir mi dirección a ese usuario',
    small: [
      `El enlace sirve una sola vez y durante ${hours}.`,
      'Si no es usted, ignore este mensaje: sin el enlace no ocurre nada.',
    ],
  }),
  fr: (hours, user) => ({
    subject: 'Cette adresse e-mail est-elle la vôtre ?',
    lines: [
      `L'utilisateur de Doorward dont l'adresse est ${user} veut aussi se connecter avec cette adresse e-mail.`,
      "Ne confirmez que s'il s'agit de vous : l'adresse appartiendra ensuite à cet utilisateur.",
    ],
    button: 'Ajouter mon adresse à cet utilisateur',
    small: [
      `Le lien fonctionne une seule fois, pendant ${hours}.`,
      "Si ce n'est pas vous, ignorez ce message : sans le lien, il ne se passe rien.",
    ],
  }),
};

const taken: Record<Language, Omit<Texts, 'button'>> = {
  en: {
    subject: 'You already have an account',
    lines: [
      'Someone, probably you, tried to register at Doorward with this e-mail address.',
      'There is an account already: sign in with it, or reset its password.',
    ],
    small: ['If it was not you, nothing has changed and there is nothing to do.'],
  },
  de: {
    subject: 'Sie haben bereits ein Konto',
    lines: [
      'Jemand, vermutlich Sie selbst, wollte sich mit dieser E-Mail-Adresse bei Doorward registrieren.',
      'Es gibt bereits ein Konto: Melden Sie sich damit an oder setzen Sie das Passwort zurück.',
    ],
    small: ['Wenn Sie es nicht waren: Es hat sich nichts geändert, Sie müssen nichts tun.'],
  },
  es: {
    subject: 'Ya tiene una cuenta',
    lines: [
      'Alguien, probablemente usted, ha intentado registrarse en Doorward con esta dirección de correo.',
      'Ya existe una cuenta: inicie sesión con ella o restablezca su contraseña.',
    ],
    small: ['Si no ha sido usted, nada ha cambiado y no tiene que hacer nada.'],
  },
  fr: {
    subject: 'Vous avez déjà un compte',
    lines: [
      "Quelqu'un, sans doute vous, a voulu s'inscrire chez Doorward avec cette adresse e-mail.",
      'Un compte existe déjà : connectez-vous ou réinitialisez son mot de passe.',
    ],
    small: ["Si ce n'était pas vous, rien n'a changé et vous n'avez rien à faire."],
  },
};

const owned: typeof taken = {
  en: {
    subject: 'Your e-mail address was entered elsewhere',
    lines: [
      'Another user of Doorward entered this e-mail address as a way to sign in. It belongs to your account.',
    ],
    small: ['Nothing has changed, and there is nothing to do.'],
  },
  de: {
    subject: 'Ihre E-Mail-Adresse wurde anderswo eingetragen',
    lines: [
      'Jemand anderes hat diese E-Mail-Adresse bei Doorward als Anmeldeweg eingetragen. Sie gehört zu Ihrem Konto.',
    ],
    small: ['Es hat sich nichts geändert, Sie müssen nichts tun.'],
  },
  es: {
    subject: 'Su dirección de correo se ha indicado en otra cuenta',
    lines: [
      'Otra persona ha indicado esta dirección de correo en Doorward para iniciar sesión. Pertenece a su cuenta.',
    ],
    small: ['Nada ha cambiado y no tiene que hacer nada.'],
  },
  fr: {
    subject: 'Votre adresse e-mail a été saisie ailleurs',
    lines: [
      "Quelqu'un d'autre a saisi cette adresse e-mail chez Doorward pour se connecter. Elle appartient à votre compte.",
    ],
    small: ["Rien n'a changé et vous n'avez rien à faire."],
  },
};

/** Where the link of a mail leads: to the frontend, or to our own page when there is none. */
export const verificationLink = ({ appUrl, security }: Config, token: string): string =>
  security.frontendUrl === undefined
    ? `${appUrl}/hosted/verify-email?token=${token}`
    : `${security.frontendUrl}/auth/verify-email?token=${token}`;

/** The link with which an address is verified. `addedBy`: the verified address of the user to whom it is added. */
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
    action: { label: button, url: verificationLink(config, token) },
    footnotes: small,
  });
}

/** Tells the owner of an address that somebody tried to register with it; whoever tried is told nothing. */
export function addressTakenMail(to: string, language: Language): Mail {
  const { subject, lines, small } = taken[language];
  return composeMail({ to, language, subject, paragraphs: lines, footnotes: small });
}

/** Tells the owner of an address that another user tried to add it; that user is told nothing. */
export function addressOwnedMail(to: string, language: Language): Mail {
  const { subject, lines, small } = owned[language];
  return composeMail({ to, language, subject, paragraphs: lines, footnotes: small });
}
