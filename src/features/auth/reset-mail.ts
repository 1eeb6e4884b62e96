import type { Config } from '../../config.ts';
import { composeMail } from '../../events/mail-layout.ts';
import type { Mail } from '../../kernel/ports.ts';

type Language = 'en' | 'de' | 'es' | 'fr';

interface Texts {
  readonly subject: string;
  readonly line: string;
  readonly button: string;
  readonly small: readonly string[];
}

const texts: Record<Language, (minutes: number) => Texts> = {
  en: (minutes) => ({
    subject: 'Reset your password',
    line: 'Someone, probably you, asked to reset the password of your Doorward account.',
    button: 'Choose a new password',
    small: [
      `The link works once and for ${minutes} minutes. All devices have to sign in again afterwards.`,
      'If you did not ask for this, ignore this mail: your password stays as it is.',
    ],
  }),
  de: (minutes) => ({
    subject: 'Setzen Sie Ihr Passwort zurück',
    line: 'Jemand, vermutlich Sie selbst, möchte das Passwort Ihres Kontos bei Doorward zurücksetzen.',
    button: 'Neues Passwort wählen',
    small: [
      `Der Link gilt einmal und ${minutes} Minuten lang. Danach müssen sich alle Geräte neu anmelden.`,
      'Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail: Ihr Passwort bleibt, wie es ist.',
    ],
  }),
  es: (minutes) => ({
    subject: 'Restablezca su contraseña',
    line: 'Alguien, probablemente usted, ha pedido restablecer la contraseña de su cuenta de Doorward.',
    button: 'Elegir una contraseña nueva',
    small: [
      `El enlace sirve una sola vez y durante ${minutes} minutos. Después, todos los dispositivos deben iniciar sesión de nuevo.`,
      'Si no lo ha solicitado, ignore este mensaje: su contraseña no cambia.',
    ],
  }),
  fr: (minutes) => ({
    subject: 'Réinitialisez votre mot de passe',
    line: "Quelqu'un, sans doute vous, a demandé à réinitialiser le mot de passe de votre compte Doorward.",
    button: 'Choisir un nouveau mot de passe',
    small: [
      `Le lien fonctionne une seule fois, pendant ${minutes} minutes. Ensuite, tous les appareils devront se reconnecter.`,
      "Si vous n'avez rien demandé, ignorez ce message : votre mot de passe ne change pas.",
    ],
  }),
};

/** Where the link leads: to the frontend, or to our own page when there is none. */
const resetLink = ({ appUrl, security }: Config, token: string): string =>
  security.frontendUrl === undefined
    ? `${appUrl}/hosted/reset-password?token=${token}`
    : `${security.frontendUrl}/auth/reset-password?token=${token}`;

/** The link with which a forgotten password is replaced. It goes to a stored address and carries no text of anybody. */
export function resetMail(config: Config, to: string, language: Language, token: string): Mail {
  const { subject, line, button, small } = texts[language](config.auth.resetTokenMinutes);
  return composeMail({
    to,
    language,
    subject,
    paragraphs: [line],
    action: { label: button, url: resetLink(config, token) },
    footnotes: small,
  });
}
