import type { Config } from '../../config/config.ts';
import { composeMail } from '../../events/mail/mail-layout.ts';
import type { Mail } from '../../kernel/ports.ts';
import type { Language } from '../../languages.ts';

interface Texts {
  readonly subject: string;
  readonly line: string;
  readonly button: string;
  readonly small: readonly string[];
}

const texts: Record<Language, (minutes: number) => Texts> = {
  en: (minutes) => ({
    subject: 'Reset your password',
    line: 'We received a request to reset the password of your Doorward account.',
    button: 'Choose a new password',
    small: [
      `The link works once and expires in ${minutes} minutes. When you change the password, you are signed out on all devices.`,
      'If you did not request this, ignore this e-mail: your password stays the same.',
    ],
  }),
  de: (minutes) => ({
    subject: 'Setzen Sie Ihr Passwort zurück',
    line: 'Wir haben eine Anfrage erhalten, das Passwort Ihres Doorward-Kontos zurückzusetzen.',
    button: 'Neues Passwort wählen',
    small: [
      `Der Link gilt einmal und ${minutes} Minuten lang. Wenn Sie das Passwort ändern, werden Sie auf allen Geräten abgemeldet.`,
      'Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail: Ihr Passwort bleibt unverändert.',
    ],
  }),
  es: (minutes) => ({
    subject: 'Restablezca su contraseña',
    line: 'Hemos recibido una solicitud para restablecer la contraseña de su cuenta de Doorward.',
    button: 'Elegir una contraseña nueva',
    small: [
      `El enlace sirve una sola vez y caduca en ${minutes} minutos. Al cambiar la contraseña se cerrará la sesión en todos sus dispositivos.`,
      'Si no lo ha solicitado usted, ignore este mensaje: su contraseña no cambiará.',
    ],
  }),
  fr: (minutes) => ({
    subject: 'Réinitialisez votre mot de passe',
    line: 'Nous avons reçu une demande de réinitialisation du mot de passe de votre compte Doorward.',
    button: 'Choisir un nouveau mot de passe',
    small: [
      `Le lien fonctionne une seule fois et expire dans ${minutes} minutes. Si vous modifiez le mot de passe, vous serez déconnecté de tous vos appareils.`,
      'Si vous n’êtes pas à l’origine de cette demande, ignorez cet e-mail : votre mot de passe ne changera pas.',
    ],
  }),
};

/** The link opens the frontend, or without a frontend the hosted page of this service. */
const resetLink = ({ appUrl, security }: Config, token: string): string =>
  security.frontendUrl === undefined
    ? `${appUrl}/hosted/reset-password?token=${token}`
    : `${security.frontendUrl}/auth/reset-password?token=${token}`;

/** The mail with the link to reset a password. It goes to a stored address and contains no text that a user chose. */
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
