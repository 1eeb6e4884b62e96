import { composeMail, withoutLinks } from '../../events/mail/mail-layout.ts';
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
    line: `We received a request to sign in to ${app} with this e-mail address.`,
    button: `Continue to ${app}`,
    small: [
      'The link works once, for 10 minutes, and only in the browser in which you requested it.',
      'If you did not request this, ignore this e-mail: no one else can sign in with this link.',
    ],
  }),
  de: (app) => ({
    subject: `Anmelden bei ${app}`,
    line: `Wir haben eine Anfrage erhalten, sich mit dieser E-Mail-Adresse bei ${app} anzumelden.`,
    button: `Weiter zu ${app}`,
    small: [
      'Der Link gilt einmal, 10 Minuten lang, und nur in dem Browser, in dem Sie ihn angefordert haben.',
      'Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail: Niemand sonst kann sich mit diesem Link anmelden.',
    ],
  }),
  es: (app) => ({
    subject: `Iniciar sesión en ${app}`,
    line: `Hemos recibido una solicitud para iniciar sesión en ${app} con esta dirección de correo.`,
    button: `Continuar a ${app}`,
    small: [
      'El enlace sirve una sola vez, durante 10 minutos y solo en el navegador en el que lo solicitó.',
      'Si no lo ha solicitado usted, ignore este mensaje: nadie más puede iniciar sesión con este enlace.',
    ],
  }),
  fr: (app) => ({
    subject: `Se connecter à ${app}`,
    line: `Nous avons reçu une demande de connexion à ${app} avec cette adresse e-mail.`,
    button: `Continuer vers ${app}`,
    small: [
      'Le lien fonctionne une seule fois, pendant 10 minutes, et uniquement dans le navigateur où vous l’avez demandé.',
      'Si vous n’êtes pas à l’origine de cette demande, ignorez cet e-mail : personne d’autre ne peut se connecter avec ce lien.',
    ],
  }),
};

/** An app name in a mail is cut to so many characters: enough to recognize the app, too few to carry a message. */
const MAX_NAME = 60;

function nameInMail(name: string): string {
  const characters = [...name];
  const short = characters.length > MAX_NAME ? `${characters.slice(0, MAX_NAME - 1).join('')}…` : name;
  return withoutLinks(short);
}

/** The mail with the link to sign in to an app. The app's makers choose its name, so it must not become a link. */
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
