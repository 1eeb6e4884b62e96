import { composeMail, withoutLinks } from '../../events/mail-layout.ts';
import type { Mail } from '../../kernel/ports.ts';

type Language = 'en' | 'de' | 'es' | 'fr';

interface Texts {
  readonly subject: string;
  readonly line: string;
  readonly button: string;
  readonly small: readonly string[];
}

const texts: Record<Language, (app: string) => Texts> = {
  en: (app) => ({
    subject: `Sign in to ${app}`,
    line: `Someone, probably you, wants to sign in to ${app} with this address.`,
    button: `Continue to ${app}`,
    small: [
      'The link works once, for 10 minutes, and only in the browser in which you asked for it.',
      'If you did not ask for this, ignore this mail: nobody can sign in with it but you.',
    ],
  }),
  de: (app) => ({
    subject: `Anmelden bei ${app}`,
    line: `Jemand, vermutlich Sie selbst, möchte sich mit dieser Adresse bei ${app} anmelden.`,
    button: `Weiter zu ${app}`,
    small: [
      'Der Link gilt einmal, 10 Minuten lang, und nur in dem Browser, in dem Sie ihn angefordert haben.',
      'Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Niemand außer Ihnen kann sich damit anmelden.',
    ],
  }),
  es: (app) => ({
    subject: `Iniciar sesión en ${app}`,
    line: `Alguien, probablemente usted, quiere iniciar sesión en ${app} con esta dirección.`,
    button: `Continuar a ${app}`,
    small: [
      'El enlace sirve una sola vez, durante 10 minutos y solo en el navegador en el que lo pidió.',
      'Si no lo ha pedido, ignore este mensaje: nadie más que usted puede iniciar sesión con él.',
    ],
  }),
  fr: (app) => ({
    subject: `Se connecter à ${app}`,
    line: `Quelqu'un, sans doute vous, veut se connecter à ${app} avec cette adresse.`,
    button: `Continuer vers ${app}`,
    small: [
      "Le lien fonctionne une seule fois, pendant 10 minutes, et uniquement dans le navigateur où vous l'avez demandé.",
      "Si vous n'avez rien demandé, ignorez ce message : personne d'autre que vous ne peut se connecter avec.",
    ],
  }),
};

/**
 * The most characters of the name of an app in a mail: enough to recognise the app, too few for a message of its maker.
 */
const MAX_NAME = 60;

function nameInMail(name: string): string {
  const characters = [...name];
  const short = characters.length > MAX_NAME ? `${characters.slice(0, MAX_NAME - 1).join('')}…` : name;
  return withoutLinks(short);
}

/** The link with which somebody signs in to an app. The app's name is its maker's choice: text, and never a link. */
export function signInMail(
  appUrl: string,
  { name }: { readonly name: string },
  mail: { readonly to: string; readonly language: Language; readonly token: string },
): Mail {
  const { subject, line, button, small } = texts[mail.language](nameInMail(name));
  return composeMail({
    to: mail.to,
    language: mail.language,
    subject,
    paragraphs: [line],
    action: { label: button, url: `${appUrl}/api/auth/project/email?token=${mail.token}` },
    footnotes: small,
  });
}
